package ring

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// FatTree returns the GPUs of the maximal bandwidth fat tree (NGra, section 4.2). It removes, one by
// one, GPUs that share an uplink with another, until every GPU left reads host memory as fast as if it
// were alone. It begins with the link farthest from the host, and removes the last of the GPUs
// under that link. why has a sentence for each GPU that was removed.
func (t *Tree) FatTree() (gpus []int, why []string) {
	gpus = t.all()
	for {
		l, under := t.narrow(gpus)
		if l < 0 {
			return gpus, why
		}
		out := under[len(under)-1]
		why = append(why, fmt.Sprintf("%s leaves the fat tree: %s carries %s, not enough for %s together",
			t.GPUs[out].Name, t.Links[l].Name, rateText(t.Links[l].Down), t.names(under)))
		gpus = slices.DeleteFunc(slices.Clone(gpus), func(g int) bool { return g == out })
	}
}

// narrow finds the deepest link whose rate is below the sum of what the GPUs under it read alone, and
// those GPUs; link is -1 if there is none.
func (t *Tree) narrow(gpus []int) (link int, under []int) {
	link, deepest := -1, 0
	for l := range t.Links {
		b := t.below(l, gpus)
		if len(b) < 2 || t.Links[l].Down <= 0 {
			continue
		}
		sum := 0.0
		for _, g := range b {
			sum += t.alone(Host, g)
		}
		if depth := len(t.chain(l)); sum > t.Links[l].Down*(1+1e-9) && depth > deepest {
			link, deepest, under = l, depth, b
		}
	}
	return link, under
}

// maxSearch is the number of GPUs up to which every set of loaders is tried. Every ring is tried with
// one GPU fewer, as rings start at a fixed GPU.
const maxSearch = 10

// Loaders returns the GPUs that read chunks from host memory: those of the fat tree or, if another
// set of GPUs brings more bytes a second to the ring, that set. Another set is better if the fat tree
// does not use up shared uplinks, as on a host whose root is narrower than the links of its GPUs
// together. why has a sentence for each decision.
func (t *Tree) Loaders() (gpus []int, why []string) {
	fat, why := t.FatTree()
	best, most := fat, t.supply(fat)
	if n := len(t.GPUs); n <= maxSearch {
		for set := 1; set < 1<<n; set++ {
			var try []int
			for g := range n {
				if set>>g&1 == 1 {
					try = append(try, g)
				}
			}
			x := t.supply(try)
			same := math.Abs(x-most) <= 1e-9*most || x == most
			if !same && x > most || same && !slices.Equal(best, fat) && bits.OnesCount(uint(set)) < len(best) {
				best, most = try, x
			}
		}
	} else if x := t.supply(t.all()); x > most*(1+1e-9) {
		best, most = t.all(), x
	}
	if !slices.Equal(best, fat) {
		why = append(why, fmt.Sprintf("%s %s instead, which brings %s to the ring; the fat tree (%s) brings %s",
			t.names(best), plural(len(best), "loads", "load"), rateText(most), t.names(fat), rateText(t.supply(fat))))
	} else {
		why = append(why, fmt.Sprintf("%s %s, which brings %s to the ring; no other set brings more", t.names(best), plural(len(best), "loads", "load"), rateText(most)))
	}
	return best, why
}

// supply is the rate (B/s) at which the loaders bring chunks to the ring. A round has as many chunks as
// there are GPUs. Each loader loads a whole number of them, chosen so that the round ends as early as
// possible.
func (t *Tree) supply(loaders []int) float64 {
	rates := t.loads(loaders)
	n := make([]int, len(loaders))
	slowest := 0.0
	for range t.GPUs {
		next, soonest := 0, math.Inf(1)
		for i, r := range rates {
			if end := float64(n[i]+1) / r; end < soonest {
				next, soonest = i, end
			}
		}
		n[next]++
		slowest = max(slowest, soonest)
	}
	return float64(len(t.GPUs)) / slowest // +Inf when no link is a limit
}

// names lists GPUs by name.
func (t *Tree) names(gpus []int) string {
	var list []string
	for _, g := range gpus {
		list = append(list, t.GPUs[g].Name)
	}
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}

func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// rateText writes a rate for people.
func rateText(r float64) string {
	if r <= 0 || math.IsInf(r, 1) {
		return "any rate"
	}
	return fmt.Sprintf("%.4g GB/s", r/1e9)
}
