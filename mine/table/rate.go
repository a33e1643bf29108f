package table

import (
	"context"
	"math"
	"math/rand/v2"
	"sort"
	"sync/atomic"
	"time"

	"sagann/mine/pattern"
	"sagann/mine/run"
)

// The sample of Rate: first vertices, the time in which they are worked on, and how often.
const (
	rateRoots  = 1 << 10
	rateTime   = 15 * time.Millisecond
	ratePasses = 16
)

// Rate is the seconds that Count takes on one thread of this machine for a set of k edges or, with induced, vertices, made from its first ones on: measured with those that begin
// at the lower ends of random edges. 0: there are none. The sets are walked again and again, as codes are made only once in a long
// count, and of each first vertex the least time counts: what is more was spent waiting for a processor.
func Rate(ctx context.Context, g *Graph, k int, induced bool, seed uint64) (seconds float64, err error) {
	r := g.Rows
	if r.Edges() == 0 {
		return 0, nil
	}
	var stop atomic.Bool
	out := &totals{of: map[pattern.Pattern]run.Total{}, meter: g.Meter, stop: &stop}
	var w worker
	if c := classify(g); induced {
		w = newVisit(g, c, k, out)
	} else {
		w = newWalk(g, c, k, out)
	}
	defer w.give()
	d := rand.New(rand.NewPCG(seed, uint64(k)))
	var roots []uint32
	var least []time.Duration // that each took
	begun := time.Now()
	late := time.AfterFunc(ratePasses*rateTime, func() { stop.Store(true) })
	for len(roots) == 0 || len(roots) < rateRoots && time.Since(begun) < rateTime { // one at least, however late this thread gets a processor
		at := d.Int64N(int64(len(r.Col)))
		u := uint32(sort.Search(r.V(), func(v int) bool { return r.Off[v+1] > at }))
		roots, least = append(roots, min(u, r.Col[at])), append(least, math.MaxInt64)
		w.from(roots[len(roots)-1])
	}
	late.Stop()
	made := func() (rows uint64) {
		w.each(func(_ pattern.Pattern, n uint64) { rows += n })
		return max(rows, 1)
	}
	made()
	if stop.Load() { // one vertex is more than enough
		seconds = math.Inf(1)
		for range ratePasses / 2 {
			stop.Store(false)
			begun = time.Now()
			late = time.AfterFunc(2*rateTime, func() { stop.Store(true) })
			w.from(roots[len(roots)-1])
			late.Stop()
			taken := time.Since(begun).Seconds()
			seconds = min(seconds, taken/float64(made()))
		}
		return seconds, ctx.Err()
	}
	passes := 0
	for begun = time.Now(); passes < ratePasses && (passes == 0 || time.Since(begun) < ratePasses*rateTime) && ctx.Err() == nil; passes++ {
		for i, u := range roots {
			from := time.Now()
			w.from(u)
			least[i] = min(least[i], time.Since(from))
		}
	}
	taken := time.Duration(0)
	for _, t := range least {
		taken += t
	}
	return taken.Seconds() * float64(passes) / float64(made()), ctx.Err()
}
