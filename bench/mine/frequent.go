package mine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"sagann/bench/measure"
	"sagann/dataset"
	"sagann/device"
	"sagann/mine/cuda"
	"sagann/mine/domain"
	"sagann/mine/rows"
)

// tally is what a search found.
type tally struct {
	patterns int
	sum      int64 // of the supports
}

// search finds frequent patterns.
func search(g *domain.Graph, q domain.Question) (t tally, seconds float64, err error) {
	start := time.Now()
	err = g.Mine(context.Background(), q, func(level []domain.Found) error {
		t.patterns += len(level)
		for _, f := range level {
			t.sum += f.Support
		}
		return nil
	})
	return t, time.Since(start).Seconds(), err
}

// rows are the rows of the job's graph, with labels.
func (c *Command) rows() (*rows.Rows, error) {
	d, err := dataset.Open(c.Data, dataset.Options{Undirected: true})
	if err != nil {
		return nil, err
	}
	r, _, err := rows.FromEdges(d.Edges.Symmetric())
	if err != nil {
		return nil, err
	}
	r.Label = d.Labels
	return r, nil
}

// frequent prints how long GPUs and the threads that make their candidates take to find frequent patterns.
func (t *table) frequent() error {
	c := t.c
	r, err := c.rows()
	if err != nil {
		return err
	}
	start := time.Now()
	g, err := domain.New(context.Background(), r, nil, c.Find.Support, c.Threads, 0)
	if err != nil {
		return err
	}
	fmt.Printf("%d vertices, %d edges, support %d, at most %d edges, %d threads; graph by labels in %.3f s\n", r.V(), r.Edges(), c.Find.Support, c.Find.Edges, c.Threads, time.Since(start).Seconds())
	q := domain.Question{Least: c.Find.Support, Edges: c.Find.Edges, Vertices: c.Find.Edges + 1, Workers: c.Threads}
	if c.CPU {
		cpu := measure.CPUSeconds()
		found, seconds, err := search(g, q)
		if err != nil {
			return err
		}
		fmt.Printf("CPU      %d patterns, supports sum to %d; %.3f s, %.3f processor s\n", found.patterns, found.sum, seconds, measure.CPUSeconds()-cpu)
	}
	for range max(1, c.Repeat) {
		if err := t.once(g, q, false); err != nil {
			return err
		}
	}
	return t.once(g, q, true)
}

// once uploads the graph and finds the patterns. It prints the wall time or, with kernels, the time in which a GPU ran any. Traces of kernels
// cost wall time.
func (t *table) once(g *domain.Graph, q domain.Question, kernels bool) (err error) {
	spans := make([][]device.Span, len(t.gpus))
	var mu sync.Mutex
	for i, gpu := range t.gpus {
		gpu.SetTrace(nil)
		if kernels {
			gpu.SetTrace(func(s device.Span) {
				mu.Lock()
				defer mu.Unlock()
				if s.Op == device.OpLaunch {
					spans[i] = append(spans[i], s)
				}
			})
		}
	}
	start := time.Now()
	_, room := cuda.DomainsNeed(g, nil, q.Vertices)
	dom, err := cuda.NewDomains(t.gpus, g, nil, q.Least, cuda.ArcLayout{Hot: -1, Dense: true}, room)
	if err != nil {
		return err
	}
	uploaded := time.Since(start)
	before := t.gpus[0].Counters()
	q.Cards = dom.Cards()
	found, seconds, err := search(g, q)
	after := t.gpus[0].Counters()
	if err = errors.Join(err, dom.Free()); err != nil { // after which the spans are known
		return err
	}
	if !kernels {
		fmt.Printf("GPUs     %d patterns, supports sum to %d; wall %.3f s, upload before %.3f s\n", found.patterns, found.sum, seconds, uploaded.Seconds())
		return nil
	}
	for i := range t.gpus {
		fmt.Printf("GPU %d    kernels %.4f s", i, busy(spans[i]).Seconds())
		if i == 0 {
			fmt.Printf("; %.0f MB up, %.0f MB down in %d launches", float64(after.H2D-before.H2D)/1e6, float64(after.D2H-before.D2H)/1e6, after.Launches-before.Launches)
		}
		fmt.Println()
	}
	return nil
}

// busy is the time in which any of the spans ran.
func busy(spans []device.Span) (sum time.Duration) {
	slices.SortFunc(spans, func(a, b device.Span) int { return cmp.Compare(a.Start, b.Start) })
	end := time.Duration(math.MinInt64)
	for _, s := range spans {
		if s.End > end {
			sum += s.End - max(s.Start, end)
			end = s.End
		}
	}
	return sum
}
