package ring

import (
	"fmt"
	"slices"
	"strings"
)

// Action is what one GPU does in one step: chunks by number from 0, None where there
// is nothing to do. What arrives in a step is computed on, and handed on, in the next.
type Action struct {
	Compute int // the chunk computed on
	Host    int // the chunk that arrives from host memory
	Next    int // the chunk that arrives from the GPU before
	Drop    int // the chunk that no GPU needs once this one has computed
}

// None in an Action says that nothing of that kind happens.
const None = -1

// Arrives is the chunk that comes to the GPU, from wherever, or None.
func (a *Action) Arrives() int { return max(a.Host, a.Next) }

// Step is what all GPUs do at the same time, by GPU.
type Step []Action

// Steps is the schedule of forward mode (NGra, section 4.2, Figure 8) for chunks
// numbered in the order in which they enter: in every round of len(Order) chunks each
// loader takes the next of its share from host memory, one a step; every GPU computes
// on a chunk in the step after it came and hands it on in the same step; the last GPU
// that needs it drops it. Nobody waits when chunks is a multiple of len(Order): the next
// chunks may then enter len(Order) steps before the last of these are dropped. With
// others, the last round has places that stay empty.
//
// uses says which GPU computes on which chunk, nil that all do. A chunk goes no
// farther than the last GPU, seen from its loader, that uses it, and GPUs on the way
// that do not use it hand it on. A chunk that nobody uses is not loaded.
//
// The places for chunks in a ring of k GPUs are k, moving by one GPU a step: the one
// that passes GPU x in step s is s-x mod k. A chunk fills its place for k steps and
// leaves it where it entered, so a place belongs to one loader, and loaders that have
// as many places as GPUs lie before them (Takes) all start in the first step.
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

// Text writes a step as the paper's figure has it, GPUs by number and chunks from 1:
// "G0 c1 h2" computes on chunk 1 while chunk 2 comes from the host (n: from the GPU
// before); "drops 1" says that no other GPU needs it.
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
