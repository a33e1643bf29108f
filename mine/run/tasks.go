package run

import (
	"context"
	"sync"
	"sync/atomic"

	"sagann/mine/rows"
)

// Run is what all engines are given.
type Run struct {
	Rows    *rows.Rows
	Workers int                // from 1 on
	Report  func(done float64) // nil, or is told the share of the work that is done, from several goroutines
}

// task is a root, or the neighbours lo to hi of one that has many.
type task struct {
	root   uint32
	lo, hi int32 // hi 0: all
}

// Roots come in pieces of at most grain; a root of more neighbours than slice is cut.
const (
	grain = 64
	slice = 1024
)

// pool hands out tasks: first the slices of roots with many neighbours, then the others
// in pieces, from the last vertex on, whose work is most in order of degree.
type pool struct {
	rows   *rows.Rows
	heavy  []task
	cut    int // roots of more neighbours are in heavy
	next   atomic.Int64
	stop   atomic.Bool
	done   atomic.Int64 // cost of finished pieces
	whole  int64        // cost of all
	pieces int          // the slices, and the pieces of whole roots
}

// newPool cuts the roots. slices says whether roots may be cut.
func newPool(r *rows.Rows, slices bool) *pool {
	p := &pool{rows: r, cut: r.MaxDegree}
	if slices {
		p.cut = slice
	}
	for v := r.V() - 1; v >= 0; v-- {
		d := r.Degree(uint32(v))
		p.whole += cost(d)
		for lo := 0; d > p.cut && lo < d; lo += slice {
			p.heavy = append(p.heavy, task{uint32(v), int32(lo), int32(min(lo+slice, d))})
		}
	}
	p.pieces = len(p.heavy) + (r.V()+grain-1)/grain
	return p
}

// cost stands for the time that a root takes.
func cost(degree int) int64 { return 1 + int64(degree)*int64(degree) }

// each calls work for all tasks of all pieces, from as many goroutines as there are
// workers, numbered from 0, and returns when all are done or ctx is.
func (r *Run) each(ctx context.Context, p *pool, work func(worker int, t task)) error {
	var wg sync.WaitGroup
	quiet := context.AfterFunc(ctx, func() { p.stop.Store(true) })
	defer quiet()
	for w := range r.Workers {
		wg.Go(func() {
			for !p.stop.Load() {
				i := int(p.next.Add(1)) - 1
				if i >= p.pieces {
					return
				}
				p.piece(i, func(t task) { work(w, t) })
				if r.Report != nil && !p.stop.Load() {
					r.Report(float64(p.done.Load()) / float64(max(p.whole, 1)))
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// piece does the tasks of a piece.
func (p *pool) piece(i int, work func(t task)) {
	if i < len(p.heavy) {
		t := p.heavy[i]
		work(t)
		d := p.rows.Degree(t.root)
		p.done.Add(cost(d) * int64(t.hi-t.lo) / int64(d))
		return
	}
	i -= len(p.heavy)
	hi := p.rows.V() - i*grain
	sum := int64(0)
	for v := hi - 1; v >= max(0, hi-grain) && !p.stop.Load(); v-- {
		if d := p.rows.Degree(uint32(v)); d <= p.cut {
			work(task{root: uint32(v)})
			sum += cost(d)
		}
	}
	p.done.Add(sum)
}
