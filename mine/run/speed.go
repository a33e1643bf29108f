package run

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"sagann/chunk"
	"sagann/mine/plan"
	"sagann/mine/rows"
)

// Speed is the time that a thread of this machine takes for a few small counts, divided by the time
// that plan.Core predicts. Machines differ by a factor of three, also with their load. It is
// measured once, in a few tens of milliseconds. Each count is timed several times and the least
// time is taken, as other programs only make it longer.
var Speed = sync.OnceValue(func() float64 {
	r, err := small()
	if err != nil {
		return 1
	}
	c := &Run{Rows: r, Workers: 1}
	w := r.Work()
	w.Cliques = make([]float64, 6)
	taken, expected := 0.0, 0.0
	for k := 3; k <= 5; k++ {
		least := math.Inf(1)
		for range 8 {
			start := time.Now()
			n, err := c.Cliques(context.Background(), k)
			if err != nil {
				return 1
			}
			least = min(least, time.Since(start).Seconds())
			w.Cliques[k], _ = n.Big().Float64()
		}
		taken, expected = taken+least, expected+plan.Core.Clique(w, k)
	}
	return taken / expected
})

// small is a graph that fits into caches: 2^11 vertices, of which some have many neighbours.
func small() (*rows.Rows, error) {
	const n, edges = 1 << 11, 1 << 15
	random := rand.New(rand.NewPCG(1, 1))
	e := &chunk.Edges{V: n}
	end := func() uint32 { return uint32(n * math.Pow(random.Float64(), 3)) }
	for range edges {
		u, v := end(), end()
		e.Src, e.Dst = append(e.Src, u, v), append(e.Dst, v, u)
	}
	r, _, err := rows.FromEdges(e)
	if err != nil {
		return nil, err
	}
	return r.ByDegree(), nil
}
