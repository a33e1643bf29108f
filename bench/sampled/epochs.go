package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"sagann/chunk"
	"sagann/dataset"
)

// epochs times whole epochs of GraphSAGE with dropout and Adam on a graph of the shape of ogbn-products.
type epochs struct {
	n, vertices, edges, train, hidden, batch int
	features, classes                        int
	device, model, fanouts, eval             string
	mem                                      int64
	tf32, profile, alone                     bool
	cache                                    float64
	out, then                                string
	accumulate                               int
}

// run times the run of the flags, and then further ones on the same graph.
func (e *epochs) run() error {
	start := time.Now()
	d := e.graph()
	fmt.Printf("graph: %d vertices, %d edges in %.1f s\n", e.vertices, d.Edges.E(), time.Since(start).Seconds())
	if e.out != "" {
		if err := writeGraph(d, e.out); err != nil {
			return err
		}
	}
	err := e.on(d)
	if e.then == "" || err != nil {
		return err
	}
	first := *e
	for text := range strings.SplitSeq(first.then, ";") {
		*e = first
		for _, set := range strings.Fields(text) {
			name, value, _ := strings.Cut(set, "=")
			if err := flag.Set(name, value); err != nil {
				return err
			}
		}
		fmt.Printf("\n%s\n", text)
		if err := e.on(d); err != nil {
			return err
		}
		fresh()
	}
	return nil
}

// on times epochs over d.
func (e *epochs) on(d *dataset.Data) error {
	start := time.Now()
	p, err := e.program(d)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Overview(os.Stdout); err != nil {
		return err
	}
	s := p.SampledPlan()
	fmt.Printf("compiled in %.1f s; device memory %d bytes, tables %d bytes, next batch comes ahead: %t, drawn there: %t\n", time.Since(start).Seconds(), s.Device, s.Tables, s.Ahead, s.Drawn)
	fmt.Printf("predicted: %.3f s an epoch\n", p.PredictedEpoch().Seconds())
	for n := range e.n + 1 {
		start, before := time.Now(), p.SampledPlan()
		var loss float64
		bits := fnv.New64a() // of all losses
		if err := epoch(p, func(x float64) {
			loss += x / float64(s.Batches)
			fmt.Fprint(bits, x, " ")
		}); err != nil {
			return err
		}
		wall, now := time.Since(start), p.SampledPlan()
		fmt.Printf("epoch %d: %.3f s, %.3f ms an update, loss %.5f (%x); host: %.1f ms a batch drawn on %d processors, steps waited %.3f s; overflows %d\n", n, wall.Seconds(),
			1e3*wall.Seconds()/float64(s.Batches), loss, bits.Sum64(), 1e3*(now.Drawing-before.Drawing).Seconds()/float64(s.Batches), runtime.GOMAXPROCS(0),
			(now.Waiting - before.Waiting).Seconds(), now.Overflows)
		if rows := now.FarRows; rows != before.FarRows {
			far, row := float64(rows[0]-before.FarRows[0]), float64(4*d.FeatureCols)
			fmt.Printf("  %.1f GB over the link, %.1f GB/s; rows %.0f from the host, %d hot, %d of the batch before\n", far*row/1e9, far*row/1e9/wall.Seconds(), far, rows[1]-before.FarRows[1], rows[2]-before.FarRows[2])
		}
	}
	fmt.Printf("measured peak of device memory: %d bytes\n", p.DevicePeak())
	if !e.profile {
		return nil
	}
	list, err := p.KernelTimes()
	if err != nil {
		return err
	}
	var sum time.Duration
	for _, k := range list {
		sum += k.Time
		expected := ""
		if k.Predicted > 0 {
			expected = fmt.Sprintf("%8.1f", 1e6*k.Predicted.Seconds())
		}
		fmt.Printf("%8.1f us %8s  %-28s %s\n", 1e6*k.Time.Seconds(), expected, k.Kernel, k.Task)
	}
	fmt.Println("beside them what all commands of a task are predicted to take, in its first line")
	fmt.Printf("%d commands, %.3f ms\n", len(list), 1e3*sum.Seconds())
	return nil
}

// skew is the power by which ends of edges are drawn: low numbers have most.
const skew = 1.6

// graph draws edges by a power law, each in both directions, with ends scattered over the ids.
func (e *epochs) graph() *dataset.Data {
	v, half := e.vertices, e.edges/2
	g := &chunk.Edges{V: v, Src: make([]uint32, 2*half), Dst: make([]uint32, 2*half)}
	end := func(r uint64) uint32 {
		x := min(uint64(float64(v)*math.Pow(float64(r>>11)/(1<<53), skew)), uint64(v-1))
		return uint32(x * 2654435761 % uint64(v))
	}
	chunk.Ranges(half, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			a, b := end(mixed(uint64(2*i))), end(mixed(uint64(2*i+1)))
			g.Src[i], g.Dst[i], g.Src[half+i], g.Dst[half+i] = a, b, b, a
		}
	})
	d := &dataset.Data{Name: "products' shape", Edges: g, FeatureCols: e.features, Classes: e.classes, Features: make([]float32, v*e.features), Labels: make([]int32, v)}
	chunk.Ranges(v, func(lo, hi int) {
		for i := lo * e.features; i < hi*e.features; i++ {
			d.Features[i] = float32(mixed(uint64(i)|1<<60)>>40)/(1<<23) - 1
		}
		for i := lo; i < hi; i++ {
			d.Labels[i] = int32(mixed(uint64(i)|1<<61) % uint64(e.classes))
		}
	})
	for k := range e.train { // scattered; of what lies between some is not trained on
		at, next := uint32(uint64(k)*uint64(v)/uint64(e.train)), uint32(uint64(k+1)*uint64(v)/uint64(e.train))
		if d.Train = append(d.Train, at); k%4 == 0 && next-at > 2 {
			d.Val, d.Test = append(d.Val, at+1), append(d.Test, at+2)
		}
	}
	return d
}

// mixed is splitmix64.
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
