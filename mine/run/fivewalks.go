package run

import (
	"context"

	"sagann/mine/plan"
	"sagann/mine/rows"
)

// FiveWalks is a tenth of the closed walks of five edges: walks that differ in where they
// begin, or in direction, count once. Each walk is found where it begins at its highest vertex,
// so that rows are read up to there only: what the other vertices have above is most of them.
// A walk that is at its highest vertex twice is found twice; it goes round a triangle, and to a
// neighbour of the highest vertex and back.
func (r *Run) FiveWalks(ctx context.Context) (Total, error) {
	ws := make([]fiveWalker, r.Workers)
	err := r.each(ctx, newPool(r.Rows, uncut), func(w int) func(task) {
		ws[w] = newFiveWalker(r.Rows)
		return func(t task) { ws[w].root(t.root) }
	})
	var sum, twice Total
	for i := range ws {
		sum.AddTotal(ws[i].sum)
		twice.AddTotal(ws[i].twice)
	}
	return sum.Minus(twice.Half()), err
}

// fiveWalker is one worker that counts walks of five edges.
type fiveWalker struct {
	rows       *rows.Rows
	two        []uint32 // by vertex: walks of two edges from the root
	ends       []uint32 // where they end
	sum, twice Total    // twice: those that were found twice, in both directions
	work       plan.MapsWork
	_          [64]byte
}

// fiveNeed is the memory of each worker.
func fiveNeed(r *rows.Rows) int64 { return 8 * int64(r.V()) }

func newFiveWalker(r *rows.Rows) fiveWalker {
	return fiveWalker{rows: r, two: make([]uint32, r.V()), ends: make([]uint32, 0, r.V())}
}

// root adds the walks from a over vertices up to a: two edges from each end, and one between
// the ends, which is looked for among what its lower end has above: there is less of that up to
// a than below, and what is read for it are numbers of vertices of many neighbours, which stay
// near.
func (w *fiveWalker) root(a uint32) {
	g := w.rows
	below := g.Below(a)
	if len(below) == 0 {
		return
	}
	ends, pushed, pulled := w.ends[:cap(w.ends)], 0, 0
	k := 0
	for _, v := range below {
		for _, u := range g.Of(v) {
			if u > a {
				break
			}
			if w.two[u] == 0 {
				ends[k] = u
				k++
			}
			w.two[u]++
			pushed++
		}
	}
	ends = ends[:k]
	round := uint64(0) // twice the triangles whose highest vertex is a
	for _, v := range below {
		round += uint64(w.two[v])
	}
	w.twice.AddProduct(round, uint64(len(below)))
	for _, u := range ends {
		n := uint64(0) // no more than all walks of two edges from a, which are fewer than edges
		for _, v := range g.Above(u) {
			if v > a {
				break
			}
			n += uint64(w.two[v])
			pulled++
		}
		w.sum.AddProduct(n, uint64(w.two[u]))
	}
	for _, u := range ends {
		w.two[u] = 0
	}
	w.work.Add(plan.MapsWork{Visits: float64(k), Pushed: float64(pushed), Pulled: float64(pulled)})
}

// fiveRoots is from how many roots FiveWork finds the work of all: about a hundredth of it.
const fiveRoots = 32

// FiveWork is about the work of FiveWalks. Roots are drawn evenly by their squared degrees,
// which their work goes with.
func FiveWork(r *rows.Rows) (all plan.MapsWork) {
	whole := int64(0)
	for v := range r.V() {
		whole += cost(r.Degree(uint32(v)))
	}
	w := newFiveWalker(r)
	before, next := int64(0), 0
	for v := range uint32(r.V()) {
		c := cost(r.Degree(v))
		before += c
		hits := 0
		for next < fiveRoots && whole*int64(2*next+1)/(2*fiveRoots) < before {
			hits, next = hits+1, next+1
		}
		if hits == 0 {
			continue
		}
		w.work = plan.MapsWork{}
		w.root(v)
		times := float64(hits) * float64(whole) / float64(fiveRoots*c)
		all.Add(plan.MapsWork{Visits: times * w.work.Visits, Pushed: times * w.work.Pushed, Pulled: times * w.work.Pulled})
	}
	return all
}
