package run

import (
	"context"
	"math"
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

// Roots come in pieces of at most grain, or of fewer where they take about 1/fine of the
// whole work, so that many threads end at about the same time. A root that alone takes more
// is cut into slices of its neighbours, of which each does again what all of them need, so
// that there is a least length.
const (
	grain       = 64
	fine        = 1 << 12
	uncut       = 0
	loopSlice   = 32   // the root's row is marked for each
	cliqueSlice = 1024 // the root's matrix is made for each
)

// pool hands out tasks: first the slices of roots with many neighbours, then the others
// in pieces, from the last vertex on, whose work is most in order of degree.
type pool struct {
	rows  *rows.Rows
	heavy []task
	cut   int      // roots of more neighbours are in heavy
	from  []uint32 // the pieces of whole roots, descending: from[i+1] up to from[i]
	next  atomic.Int64
	stop  atomic.Bool
	done  atomic.Int64 // cost of finished pieces
	whole int64        // cost of all
}

// newPool cuts the roots, into slices of at least so many neighbours unless that is uncut.
func newPool(r *rows.Rows, slice int) *pool {
	p := &pool{rows: r, cut: r.MaxDegree, from: []uint32{uint32(r.V())}}
	for v := range r.V() {
		p.whole += cost(r.Degree(uint32(v)))
	}
	if slice != uncut {
		p.cut = max(slice, int(math.Sqrt(float64(p.whole)/fine)))
	}
	sum := int64(0) // of the piece so far
	for v := uint32(r.V()); v > 0; {
		v--
		d := r.Degree(v)
		if d > p.cut {
			size := max(slice, int(p.whole/fine)/d)
			for lo := 0; lo < d; lo += size {
				p.heavy = append(p.heavy, task{v, int32(lo), int32(min(lo+size, d))})
			}
		} else {
			sum += cost(d)
		}
		if last := p.from[len(p.from)-1]; v == 0 || last-v == grain || sum >= p.whole/fine {
			p.from, sum = append(p.from, v), 0
		}
	}
	return p
}

// again is a pool of the same tasks.
func (p *pool) again() *pool {
	return &pool{rows: p.rows, heavy: p.heavy, cut: p.cut, from: p.from, whole: p.whole}
}

// cost stands for the time that a root takes.
func cost(degree int) int64 { return 1 + int64(degree)*int64(degree) }

// each has as many goroutines as there are workers, numbered from 0, do all tasks of all
// pieces, and returns when they are done or ctx is. start is called once by each goroutine,
// takes what memory the worker needs, and returns what does a task.
func (r *Run) each(ctx context.Context, p *pool, start func(worker int) func(t task)) error {
	var wg sync.WaitGroup
	quiet := context.AfterFunc(ctx, func() { p.stop.Store(true) })
	defer quiet()
	for w := range r.Workers {
		wg.Go(func() {
			work := start(w)
			for !p.stop.Load() {
				i := int(p.next.Add(1)) - 1
				if i >= len(p.heavy)+len(p.from)-1 {
					return
				}
				p.piece(i, work)
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
		part := int64(p.rows.Degree(t.root)) * int64(t.hi-t.lo) // all of them are cost, but for 1
		if t.lo == 0 {
			part++
		}
		p.done.Add(part)
		return
	}
	i -= len(p.heavy)
	sum := int64(0)
	for v := p.from[i]; v > p.from[i+1] && !p.stop.Load(); {
		v--
		if d := p.rows.Degree(v); d <= p.cut {
			work(task{root: v})
			sum += cost(d)
		}
	}
	p.done.Add(sum)
}
