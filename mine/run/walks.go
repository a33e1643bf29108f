package run

import (
	"context"
	"slices"

	"sagann/mine/plan"
	"sagann/mine/rows"
)

// FiveWalks is a tenth of the closed walks of five edges: walks that differ only in their start or
// direction count once. Each walk is found from its highest vertex. So rows are
// read only up to that vertex, which is the smaller part of most rows. A walk that visits its highest
// vertex twice is found twice, and that is corrected. Such a walk consists of a triangle and an edge
// from the highest vertex to a neighbour and back.
func (r *Run) FiveWalks(ctx context.Context) (Total, error) {
	sum, twice, err := r.walk(ctx, (*walkCounter).five)
	return sum.Minus(twice.Half()), err
}

// fourCycles counts each cycle of four vertices from its highest vertex, as two walks of two edges
// from there with the same end.
func (r *Run) fourCycles(ctx context.Context) (Total, error) {
	sum, _, err := r.walk(ctx, (*walkCounter).four)
	return sum, err
}

// walk calls f for every root, and adds up the workers' sums.
func (r *Run) walk(ctx context.Context, f func(w *walkCounter, a uint32)) (sum, twice Total, err error) {
	ws := make([]walkCounter, r.Workers)
	err = r.each(ctx, newPool(r.Rows, uncut), func(w int) func(task) {
		ws[w] = newWalkCounter(r.Rows)
		return func(t task) { f(&ws[w], t.root) }
	})
	for i := range ws {
		sum.AddTotal(ws[i].sum)
		twice.AddTotal(ws[i].twice)
	}
	return sum, twice, err
}

// walkCounter is one worker that counts walks over the vertices up to a root.
type walkCounter struct {
	rows       *rows.Rows
	two        []uint32 // by vertex: walks of two edges from the root that end there; all 0 between roots
	ends       []uint32 // the vertices where walks end, unless crowded
	sum, twice Total    // twice counts the walks that were found twice, once for each direction
	_          [64]byte
}

// walkNeed is the memory of each worker.
func walkNeed(r *rows.Rows) int64 { return 4 * int64(r.V()+r.V()/2) }

func newWalkCounter(r *rows.Rows) walkCounter {
	return walkCounter{rows: r, two: make([]uint32, r.V()), ends: make([]uint32, r.V()/2)}
}

// five adds the closed walks of five edges whose highest vertex is a: two walks of two edges from a,
// and an edge between their ends. That edge is looked up from its lower end, among the neighbours
// above that. There are fewer of these up to a than there are neighbours below, and their counters stay in
// the cache, as they belong to vertices of high degree. If there are many ends, their rows are read in
// the order in which they lie in memory.
func (w *walkCounter) five(a uint32) {
	below := w.rows.Below(a)
	if len(below) == 0 {
		return
	}
	ends, many := w.push(a, below)
	round := uint64(0) // twice the triangles whose highest vertex is a
	for _, v := range below {
		round += uint64(w.two[v])
	}
	w.twice.AddProduct(round, uint64(len(below)))
	if many {
		for u, n := range w.two[:a+1] {
			if n > 0 {
				w.pull(a, uint32(u), n)
			}
		}
		clear(w.two[:a+1])
		return
	}
	for _, u := range ends {
		w.pull(a, u, w.two[u])
	}
	for _, u := range ends {
		w.two[u] = 0
	}
}

// four adds the cycles of four vertices of which a is the highest.
func (w *walkCounter) four(a uint32) {
	below := w.rows.Below(a)
	if len(below) < 2 {
		return
	}
	ends, many := w.push(a, below)
	w.two[a] = 0     // walks back to a are not part of a cycle
	sum := uint64(0) // less than wedges times degree / 2, which is less than 2^64
	pairs := func(n uint32) { sum += uint64(n) * (uint64(n) - 1) / 2 }
	if many {
		for _, n := range w.two[:a] {
			pairs(n)
		}
		clear(w.two[:a])
	}
	for _, u := range ends {
		pairs(w.two[u])
		w.two[u] = 0
	}
	w.sum.Add(sum)
}

// push counts the walks of two edges from a over the vertices below it, by their end. It lists the
// ends unless there are many: then it is faster to look at all vertices up to a.
func (w *walkCounter) push(a uint32, below []uint32) (ends []uint32, many bool) {
	k := 0
	if crowded(walksFrom(w.rows, below), a) {
		for _, v := range below {
			for _, u := range w.rows.Of(v) {
				if u > a {
					break
				}
				w.two[u]++
			}
		}
		return nil, true
	}
	for _, v := range below {
		for _, u := range w.rows.Of(v) {
			if u > a {
				break
			}
			if w.two[u] == 0 {
				w.ends[k] = u
				k++
			}
			w.two[u]++
		}
	}
	return w.ends[:k], false
}

// walksFrom is the number of walks of two edges whose middle vertex is in over.
func walksFrom(r *rows.Rows, over []uint32) (most int) {
	for _, v := range over {
		most += r.Degree(v)
	}
	return most
}

// crowded reports whether the walks from a are so many that their ends are not listed. Any bound from
// an eighth to half of a takes about the same time.
func crowded(walks int, a uint32) bool { return 2*walks > int(a) }

// pull adds the walks whose third edge begins at u, where x walks of two edges end.
func (w *walkCounter) pull(a, u, x uint32) {
	n := uint64(0) // no more than all walks of two edges from a, which are fewer than edges
	for _, v := range w.rows.Above(u) {
		if v > a {
			break
		}
		n += uint64(w.two[v])
	}
	w.sum.AddProduct(n, uint64(x))
}

// FiveWork looks at fiveRoots roots, and for each at about fiveLooks vertices and neighbours. This
// takes less than 0.1 s for graphs of any size.
const (
	fiveRoots = 32
	fiveLooks = 1 << 13
)

// FiveWork estimates the work of FiveWalks. It looks at roots in proportion to their squared
// degrees, as their work is about proportional to these, and for each root at evenly spread vertices.
func FiveWork(r *rows.Rows) (all plan.MapsWork) {
	whole := int64(0)
	for v := range r.V() {
		whole += cost(r.Degree(uint32(v)))
	}
	near := make([]bool, r.V())
	before, next := int64(0), 0
	for v := range uint32(r.V()) {
		c := cost(r.Degree(v))
		before += c
		hits := 0
		for next < fiveRoots && whole*int64(2*next+1)/(2*fiveRoots) < before {
			hits, next = hits+1, next+1
		}
		if hits > 0 {
			w := workFrom(r, v, near)
			times := float64(hits) * float64(whole) / float64(fiveRoots*c)
			all.Add(plan.MapsWork{Visits: times * w.Visits, Pushed: times * w.Pushed, Pulled: times * w.Pulled})
		}
	}
	return all
}

// Listed estimates how many walks of two edges begin at roots that are not crowded, so that their
// ends are listed. It looks at evenly spread vertices.
func Listed(r *rows.Rows) (walks float64) {
	const looks = 1 << 14
	step := 1 + r.V()/looks
	for a := 0; a < r.V(); a += step {
		if most := walksFrom(r, r.Below(uint32(a))); !crowded(most, uint32(a)) {
			walks += float64(step * most)
		}
	}
	return walks
}

// workFrom estimates the work of the root a. All of near is false before and after.
func workFrom(r *rows.Rows, a uint32, near []bool) (w plan.MapsWork) {
	upTo := func(row []uint32) float64 {
		n, _ := slices.BinarySearch(row, a+1)
		return float64(n)
	}
	below := r.Below(a)
	step := 1 + len(below)/fiveLooks
	for i := 0; i < len(below); i += step {
		w.Pushed += float64(step) * upTo(r.Of(below[i]))
	}
	for _, v := range below {
		near[v] = true
	}
	step = 1 + int(a)/fiveLooks
	for u := 0; u <= int(a); u += step {
		if slices.ContainsFunc(r.Of(uint32(u)), func(v uint32) bool { return near[v] }) { // an end
			w.Visits += float64(step)
			w.Pulled += float64(step) * upTo(r.Above(uint32(u)))
		}
	}
	for _, v := range below {
		near[v] = false
	}
	return w
}
