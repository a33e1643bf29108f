package ring

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// FatTree removes, one by one, GPUs that share an uplink with another until every GPU
// left reads host memory as fast as if it were alone: the GPUs of the maximal
// bandwidth fat tree (NGra, section 4.2). The link farthest from the host is looked at
// first, and of the GPUs under it the last goes. why has a sentence a GPU that went.
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

// narrow finds the deepest link that cannot carry at once what the GPUs under it read
// alone, and those GPUs; -1 when there is none.
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

// maxSearch is the number of GPUs up to which every set of loaders, and one less every
// ring, is tried.
const maxSearch = 10

// Loaders are the GPUs that read chunks from host memory: those of the fat tree, or,
// when another set brings more bytes a second to the ring together, that set. Then the
// uplinks are shared and still not used up without it, as on a host whose root is
// narrower than its GPUs' links together. why has a sentence a decision.
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

// supply is the rate (B/s) at which the loaders bring chunks to the ring: of as many
// chunks as there are GPUs each loads a whole number, as even in time as they go.
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
