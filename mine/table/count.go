package table

import (
	"context"
	"sync"
	"sync/atomic"

	"sagann/mine/pattern"
	"sagann/mine/run"
)

// first is the code of an edge between vertices of two classes.
func (c *classes) first(from, to, kind uint32) *code {
	return &code{pattern: pattern.New(0).Add(c.labels[from]).Add(c.labels[to]).WithEdgeLabel(0, 1, c.kinds[kind]), next: map[uint32]*code{}}
}

// Part is a part of the rows: of those whose first vertex is From or comes after it.
type Part struct {
	From int
	// Enough, unless nil, is asked before vertices are dealt, by several workers. True ends the part.
	Enough func() bool
}

// deal has workers take the vertices of a part in turn; start gives each worker its work. The part ends before vertex end.
func (g *Graph) deal(ctx context.Context, workers int, part Part, stop *atomic.Bool, start func() func(u uint32)) (end int, err error) {
	const grain = 16
	var next atomic.Int64
	next.Store(int64(part.From))
	quiet := context.AfterFunc(ctx, func() { stop.Store(true) })
	defer quiet()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			work := start()
			for !stop.Load() && (part.Enough == nil || !part.Enough()) {
				from := int(next.Add(grain)) - grain
				if from >= g.Rows.V() {
					return
				}
				for u := from; u < min(from+grain, g.Rows.V()) && !stop.Load(); u++ {
					work(uint32(u))
				}
			}
		})
	}
	wg.Wait()
	return min(int(next.Load()), g.Rows.V()), ctx.Err()
}

// CountEdges adds the connected sets of k edges of a part to their counts by canonical pattern. Patterns have no more than most vertices. The part ends
// before vertex end.
func (g *Graph) CountEdges(ctx context.Context, k, workers int, part Part, counts map[pattern.Pattern]run.Total) (end int, err error) {
	c := classify(g)
	var stop atomic.Bool
	var mu sync.Mutex
	var walks []*walk
	out := &totals{of: counts, meter: g.Meter, stop: &stop}
	end, err = g.deal(ctx, workers, part, &stop, func() func(uint32) {
		w := newWalk(g, c, k, out)
		mu.Lock()
		defer mu.Unlock()
		walks = append(walks, w)
		return w.from
	})
	for _, w := range walks {
		for _, q := range w.root {
			if err == nil {
				c.gather(q, k, out)
			}
		}
		w.give()
	}
	return end, out.err(err)
}

// gather adds the counters of a code, and of those that go on from it, to the patterns' counts.
func (c *classes) gather(q *code, k int, out *totals) {
	if q.single > 0 {
		out.add(q.pattern, run.Total{Lo: q.single})
	}
	q.each(func(slot uint32, n uint64) {
		if p, ok := c.grown(q, slot); ok {
			out.add(p, run.Total{Lo: n})
		}
	})
	if q.pattern.Edges()+1 < k {
		for _, next := range q.next {
			if next != nil {
				c.gather(next, k, out)
			}
		}
	}
}
