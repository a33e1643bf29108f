package ring

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Ring is the order in which GPUs pass chunks on, and the GPUs that load them.
type Ring struct {
	Tree *Tree
	// Order lists the GPUs: each copies from the one before it, the first from the last.
	Order []int
	// Loaders are the GPUs that read host memory, in the order of Order.
	Loaders []int
	// Takes says for each loader how many of every len(Order) chunks it reads: as many as
	// there are GPUs in the ring after the loader before it, up to itself.
	Takes []int
	// Slowest is the rate (B/s) of the slowest copy, in both kinds of steps: all GPUs copy from the
	// GPU before them, or loaders copy from the host instead. It is +Inf when no link is a limit.
	Slowest float64
	// Why has a sentence for each decision.
	Why []string
}

// New finds the loaders of t and the ring whose slowest link is fastest. Among equally fast rings
// it prefers fewer copies through host memory, then loaders that share the loads
// evenly, then the order in which the tree lists the GPUs. Up to 9 GPUs it tries all
// orders; with more, it improves the tree's order by exchanging two GPUs as long as
// that helps. A tree that is not valid is an error.
func New(t *Tree) (*Ring, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	loaders, why := t.Loaders()
	best := t.judge(t.inTree(), loaders)
	if n := len(t.GPUs); n < maxSearch {
		permute(t.all(), 1, func(order []int) {
			if s := t.judge(order, loaders); s.compare(best) < 0 {
				best = s
			}
		})
	} else {
		for better := true; better; {
			better = false
			for i := 1; i < n; i++ {
				for j := i + 1; j < n; j++ {
					try := slices.Clone(best.order)
					try[i], try[j] = try[j], try[i]
					if s := t.judge(try, loaders); s.compare(best) < 0 {
						best, better = s, true
					}
				}
			}
		}
	}
	r := &Ring{Tree: t, Order: best.order, Slowest: best.slowest, Why: why}
	r.Loaders, r.Takes = takes(best.order, loaders)
	r.explain(best)
	return r, nil
}

// Only is the ring of n GPUs of an unknown machine: every GPU is a loader and passes chunks on to the
// next GPU.
func Only(n int) *Ring {
	r := &Ring{Tree: Flat(max(1, n), 0), Slowest: math.Inf(1), Why: []string{"nothing is known of the machine: all GPUs load"}}
	r.Order = r.Tree.all()
	r.Loaders, r.Takes = takes(r.Order, r.Order)
	return r
}

// Shared reports whether a GPU's loads from host memory and the copies that come to it around
// the ring use a common link. Then the two should take turns, as in Figure 8, where a loader
// does only one of them in a step.
func (r *Ring) Shared(gpu int) bool {
	i := slices.Index(r.Order, gpu)
	if i < 0 || len(r.Order) == 1 {
		return false
	}
	c := []Copy{{Host, gpu}, {r.Order[(i+len(r.Order)-1)%len(r.Order)], gpu}}
	both := r.Tree.Rates(c)
	for k := range c {
		if alone := r.Tree.Rates(c[k : k+1])[0]; about(both[k], alone) != 0 {
			return true
		}
	}
	return false
}

// score is how good an order is. Earlier fields are more important.
type score struct {
	order   []int
	slowest float64 // rate of the slowest copy in both kinds of steps
	passing float64 // rate of the slowest copy when all GPUs copy from the one before
	staged  int     // number of copies through host memory
	most    int     // most chunks of a round that one loader takes
}

func (s *score) compare(o *score) int {
	return cmp.Or(about(o.slowest, s.slowest), about(o.passing, s.passing), cmp.Compare(s.staged, o.staged),
		cmp.Compare(s.most, o.most), slices.Compare(s.order, o.order))
}

// about compares rates; those that differ only by rounding are equal.
func about(a, b float64) int {
	if a == b || max(a, b)-min(a, b) <= 1e-9*max(a, b) {
		return 0
	}
	return cmp.Compare(a, b)
}

// judge scores an order. There are two kinds of steps (Figure 8). In one, the loaders
// read host memory and all others copy from the GPU before them. In the other, all GPUs copy from the
// GPU before them.
func (t *Tree) judge(order, loaders []int) *score {
	s := &score{order: slices.Clone(order)}
	var pass, load []Copy
	for i, g := range order {
		from := order[(i+len(order)-1)%len(order)]
		if from == g {
			continue
		}
		pass = append(pass, Copy{from, g})
		if t.peer(from, g).Kind == Staged {
			s.staged++
		}
		if !slices.Contains(loaders, g) {
			load = append(load, Copy{from, g})
		}
	}
	for _, g := range loaders {
		load = append(load, Copy{Host, g})
	}
	s.slowest = slices.Min(t.Rates(load))
	s.passing = s.slowest
	if len(pass) > 0 {
		s.passing = slices.Min(t.Rates(pass))
		s.slowest = min(s.slowest, s.passing)
	}
	_, n := takes(order, loaders)
	s.most = slices.Max(n)
	return s
}

// inTree lists the GPUs in the order of the tree, so that neighbours in the tree are
// neighbours in the ring.
func (t *Tree) inTree() []int {
	order := t.all()
	slices.SortStableFunc(order, func(a, b int) int {
		return slices.Compare(t.chain(t.GPUs[a].Link), t.chain(t.GPUs[b].Link))
	})
	at := slices.Index(order, 0)
	return append(slices.Clone(order[at:]), order[:at]...)
}

// takes sorts loaders as they come in the order, and computes Ring.Takes. If a loader takes that
// many chunks of every round, it never waits: a place in the ring that a chunk leaves is filled at
// once (see Steps).
func takes(order, loaders []int) (sorted, n []int) {
	var at []int
	for i, g := range order {
		if slices.Contains(loaders, g) {
			sorted, at = append(sorted, g), append(at, i)
		}
	}
	for i, x := range at {
		before := at[(i+len(at)-1)%len(at)]
		d := (x - before + len(order)) % len(order)
		if d == 0 {
			d = len(order)
		}
		n = append(n, d)
	}
	return sorted, n
}

func permute(x []int, k int, f func([]int)) {
	if k >= len(x) {
		f(x)
		return
	}
	for i := k; i < len(x); i++ {
		x[k], x[i] = x[i], x[k]
		permute(x, k+1, f)
		x[k], x[i] = x[i], x[k]
	}
}

// explain adds the reasons for the order to Why.
func (r *Ring) explain(s *score) {
	t := r.Tree
	if len(r.Order) == 1 {
		r.Why = append(r.Why, fmt.Sprintf("%s is alone: no ring", t.GPUs[0].Name))
		return
	}
	r.Why = append(r.Why, fmt.Sprintf("in this order the slowest copy runs at %s while the loaders load, and at %s while chunks are handed on; no other order does better",
		rateText(s.slowest), rateText(s.passing)))
	for i, g := range r.Order {
		from := r.Order[(i+len(r.Order)-1)%len(r.Order)]
		if t.peer(from, g).Kind == Staged {
			why := "no peer access"
			if t.root(from) != t.root(g) {
				why = "another socket"
			}
			r.Why = append(r.Why, fmt.Sprintf("%s to %s goes through host memory: %s", t.GPUs[from].Name, t.GPUs[g].Name, why))
		}
	}
}
