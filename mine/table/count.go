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

// deal has workers take the vertices of the graph in turn, from the last on; start gives each worker its work.
func (g *Graph) deal(ctx context.Context, workers int, stop *atomic.Bool, start func() func(u uint32)) error {
	const grain = 16
	var next atomic.Int64
	quiet := context.AfterFunc(ctx, func() { stop.Store(true) })
	defer quiet()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			work := start()
			for !stop.Load() {
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
	return ctx.Err()
}

// CountEdges counts the connected sets of k edges by canonical pattern. Patterns have no more than most vertices.
func (g *Graph) CountEdges(ctx context.Context, k, workers int) (map[pattern.Pattern]run.Total, error) {
	c := classify(g)
	var stop atomic.Bool
	var mu sync.Mutex
	var walks []*walk
	out := newTotals(g.Meter, &stop)
	err := g.deal(ctx, workers, &stop, func() func(uint32) {
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
	return out.result(err)
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
