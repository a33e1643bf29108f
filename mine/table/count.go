package table

import (
	"context"
	"sync"
	"sync/atomic"

	"sagann/mine/pattern"
	"sagann/mine/run"
)

// Part is a part of the rows: of those whose first vertex is From or comes after it.
type Part struct {
	From int
	// Enough, unless nil, is asked before vertices are dealt, by several workers. True ends the part.
	Enough func() bool
}

// worker makes rows and counts them by quick code.
type worker interface {
	from(u uint32)                            // makes the rows that begin with u
	each(f func(p pattern.Pattern, n uint64)) // gives the counters up: patterns come in any numbering, and more than once
	take(bytes int64) bool
	give()
}

// Count adds the connected sets of k edges of a part to their counts by canonical pattern, or with induced the sets of k vertices, from 2 on, to their counts
// by the canonical pattern that they induce. Patterns have no more than most vertices. The part ends before vertex end.
func (g *Graph) Count(ctx context.Context, k, workers int, induced bool, part Part, counts map[pattern.Pattern]run.Total) (end int, err error) {
	const grain = 16
	c := classify(g)
	var stop atomic.Bool
	out := &totals{of: counts, meter: g.Meter, stop: &stop}
	var next atomic.Int64
	next.Store(int64(part.From))
	quiet := context.AfterFunc(ctx, func() { stop.Store(true) })
	defer quiet()
	list := make([]worker, workers)
	for i := range list {
		if induced {
			list[i] = newVisit(g, c, k, out)
		} else {
			list[i] = newWalk(g, c, k, out)
		}
		defer list[i].give()
	}
	together(list, func(w worker) {
		for !stop.Load() && (part.Enough == nil || !part.Enough()) {
			from := int(next.Add(grain)) - grain
			if from >= g.Rows.V() {
				break
			}
			for u := from; u < min(from+grain, g.Rows.V()) && !stop.Load(); u++ {
				w.from(uint32(u))
			}
		}
	})
	if !stop.Load() {
		out.gatherAll(list)
	}
	return min(int(next.Load()), g.Rows.V()), out.err(ctx.Err())
}

// together calls f for all workers at the same time.
func together(list []worker, f func(w worker)) {
	var wg sync.WaitGroup
	for _, w := range list {
		wg.Go(func() { f(w) })
	}
	wg.Wait()
}
