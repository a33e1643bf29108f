package mine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"sagann/bench/measure"
	"sagann/device"
	"sagann/mine/cuda"
	"sagann/mine/pattern"
	"sagann/mine/run"
	rowtable "sagann/mine/table"
)

// counts is counts of rows by pattern.
type counts map[pattern.Pattern]run.Total

// rows is how many rows there are.
func (n counts) rows() (sum run.Total) {
	for _, x := range n {
		sum.AddTotal(x)
	}
	return sum
}

// tables prints how long GPUs take to count all connected sets of edges by labels.
func (t *table) tables() error {
	c := t.c
	r, err := c.rows()
	if err != nil {
		return err
	}
	of := &rowtable.Graph{Rows: r}
	fmt.Printf("%d vertices, %d edges, rows of %d edges, %d threads\n", r.V(), r.Edges(), c.Find.Edges, c.Threads)
	var want counts
	if c.CPU {
		want = counts{}
		start, cpu := time.Now(), measure.CPUSeconds()
		if _, err := of.Count(context.Background(), c.Find.Edges, c.Threads, false, rowtable.Part{}, want); err != nil {
			return err
		}
		fmt.Printf("CPU      %s rows, %d patterns; %.3f s, %.3f processor s\n", want.rows(), len(want), time.Since(start).Seconds(), measure.CPUSeconds()-cpu)
	}
	for i := range max(1, c.Repeat) + 1 {
		if err := t.countRows(of, want, i == max(1, c.Repeat)); err != nil {
			return err
		}
	}
	return nil
}

// countRows counts once, and compares the counts if any are wanted. Traces of kernels cost wall time.
func (t *table) countRows(of *rowtable.Graph, want counts, kernels bool) (err error) {
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
	least, room := cuda.TablesNeed(of.Rows, t.c.Find.Edges, false, cuda.ChipOf(t.gpus[0]))
	if t.c.Find.Least {
		room = least
	}
	start := time.Now()
	g, err := cuda.Upload(t.gpus, of.Rows, cuda.Layout{Part: cuda.Whole, Hot: -1})
	if err != nil {
		return err
	}
	uploaded, before := time.Since(start), t.gpus[0].Counters()
	start = time.Now()
	got, sums := counts{}, rowtable.NewCounts()
	_, err = cuda.CountRows(context.Background(), g, of, t.c.Find.Edges, rowtable.Part{}, sums, t.c.Threads, room)
	added := time.Since(start)
	list := sums.Sums(run.Total{}, t.c.Threads)
	wall, after := time.Since(start), t.gpus[0].Counters()
	if err = errors.Join(err, g.Free()); err != nil {
		return err
	}
	for _, s := range list {
		got[s.Pattern] = s.Rows
	}
	if want != nil && !maps.Equal(got, want) {
		return fmt.Errorf("%d patterns and %s rows: not those of the CPU", len(got), got.rows())
	}
	fmt.Printf("GPUs     %s rows, %d patterns; wall %.3f s, %.3f of it in a list of patterns, upload before %.3f s, %.0f MB down, %d launches", got.rows(), len(got), wall.Seconds(), (wall - added).Seconds(), uploaded.Seconds(),
		float64(after.D2H-before.D2H)/1e6, after.Launches-before.Launches)
	for i := range spans {
		if kernels {
			fmt.Printf("; GPU %d: kernels %.4f s", i, busy(spans[i]).Seconds())
		}
	}
	fmt.Println()
	return nil
}
