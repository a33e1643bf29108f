package ring

import (
	"fmt"
	"slices"
	"strings"
)

// Action is what one GPU does in one step: numbers of chunks, from 0, or None. The GPU computes on a
// chunk, and passes it on, in the step after it arrived.
type Action struct {
	Compute int // the chunk computed on
	Host    int // the chunk that arrives from host memory
	Next    int // the chunk that arrives from the GPU before this one
	Drop    int // the chunk that no GPU needs after this GPU has computed on it
}

// None in an Action says that no chunk does this.
const None = -1

// Arrives is the chunk that arrives, from the host or a GPU, or None.
func (a *Action) Arrives() int { return max(a.Host, a.Next) }

// Step is what all GPUs do at the same time, by GPU.
type Step []Action

// Steps is the schedule of forward mode (NGra, section 4.2, Figure 8). Chunks are
// numbered in the order in which they enter the ring. In every round of len(Order) chunks each
// loader reads its share from host memory, one chunk a step. Every GPU computes
// on a chunk in the step after it arrived and passes it on in the same step. The last GPU
// that needs the chunk drops it. If chunks is a multiple of len(Order) no GPU waits: the next
// chunks can enter len(Order) steps before the last of these are dropped. Otherwise
// some places of the last round stay empty.
//
// uses says which GPU computes on which chunk; nil: all GPUs compute on all chunks. A chunk goes
// from its loader up to the last GPU that uses it. GPUs on the way that do not use it pass it on.
// A chunk that no GPU uses is not loaded.
//
// How it works: a ring of k GPUs has k places for chunks. They move by one GPU a step: the place
// at GPU x in step s is (s-x) mod k. A chunk occupies its place for k steps and
// leaves it where it entered, so a place belongs to one loader. Every loader has as many places as Takes
// says, and all loaders start in the first step.
func (r *Ring) Steps(chunks int, uses func(chunk, gpu int) bool) []Step {
	k := len(r.Order)
	var steps []Step
	at := func(s, place int) *Action {
		for len(steps) <= s {
			step := make(Step, len(r.Tree.GPUs))
			for i := range step {
				step[i] = Action{None, None, None, None}
			}
			steps = append(steps, step)
		}
		return &steps[s][r.Order[place%k]]
	}
	for c := range chunks {
		loader, nth := 0, c%k
		for nth >= r.Takes[loader] {
			nth -= r.Takes[loader]
			loader++
		}
		enter, place := c/k*k+nth, slices.Index(r.Order, r.Loaders[loader])
		used := func(far int) bool { return uses == nil || uses(c, r.Order[(place+far)%k]) }
		last := k - 1
		for last >= 0 && !used(last) {
			last--
		}
		for far := 0; far <= last; far++ {
			a := at(enter+far, place+far)
			if far == 0 {
				a.Host = c
			} else {
				a.Next = c
			}
			if used(far) {
				at(enter+far+1, place+far).Compute = c
			}
		}
		if last >= 0 {
			at(enter+last+1, place+last).Drop = c
		}
	}
	return steps
}

// Text is a step as text, in the notation of the paper's figure, with chunks counted from 1. "G0 c1 h2":
// GPU 0 computes on chunk 1 while chunk 2 arrives from the host (n2: from the GPU
// before it). "drops 1" says that no other GPU needs chunk 1.
func (s Step) Text() string {
	var all []string
	for g, a := range s {
		var b strings.Builder
		for _, x := range []struct {
			what  string
			chunk int
		}{{" c", a.Compute}, {" h", a.Host}, {" n", a.Next}} {
			if x.chunk != None {
				fmt.Fprintf(&b, "%s%d", x.what, x.chunk+1)
			}
		}
		if a.Drop != None {
			fmt.Fprintf(&b, " drops %d", a.Drop+1)
		}
		if b.Len() > 0 {
			all = append(all, fmt.Sprintf("G%d%s", g, b.String()))
		}
	}
	return strings.Join(all, ", ")
}
