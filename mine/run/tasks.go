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
	Kinds   *rows.Kinds        // labels of edges, for plans whose conditions read them
	Workers int                // from 1 on
	Report  func(done float64) // nil, or is told the share of the work that is done, from several goroutines
}

// task is a root, or the neighbours lo to hi of one that has many.
type task struct {
	root   uint32
	lo, hi int32 // hi 0: all
}

// A piece is at most grain roots, and fewer if they make up about 1/fine of the whole work. So many
// threads end at about the same time. A root with more work than that is cut into slices of its
// neighbours. Each slice repeats some preparation, so slices have a least length.
const (
	grain       = 64
	fine        = 1 << 12
	uncut       = 0    // roots are not cut
	loopSlice   = 32   // every slice marks the root's row
	cliqueSlice = 1024 // every slice makes the root's matrix
)

// pool hands out tasks: first the slices of roots that were cut, then the other roots in pieces. It
// begins with the last vertices: in order of degree they have the most work.
type pool struct {
	rows  *rows.Rows
	heavy []task
	cut   int      // roots with more neighbours are cut: their slices are in heavy
	from  []uint32 // piece i is the roots from from[i+1] up to from[i], which descend
	next  atomic.Int64
	stop  atomic.Bool
	done  atomic.Int64 // cost of the finished pieces
	whole int64        // cost of all roots
}

// newPool makes the tasks of all roots. slice is the least length of slices, or uncut.
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

// cost estimates the time that a root takes, in no unit.
func cost(degree int) int64 { return 1 + int64(degree)*int64(degree) }

// each does all tasks of the pool on r.Workers goroutines, and returns when they or ctx are done.
// Each goroutine calls start once with its number, from 0. start takes the worker's memory and
// returns the function that does a task.
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
		part := int64(p.rows.Degree(t.root)) * int64(t.hi-t.lo) // the slices of a root add up to its cost, with the 1 below
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
