package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// sparseSpec is a graph whose features are mostly zero, and the settings of training.
type sparseSpec struct {
	vertices, edges, columns, filled int // filled: columns drawn for each row; repeated ones count once
	hidden, epochs                   int
}

// words makes the graph. Low columns occur in most rows, like frequent words: column c of n is
// drawn with probability √((c+1)/n) - √(c/n).
func (s sparseSpec) words() (*dataset.Data, error) {
	spec := dataset.DefaultSpec()
	spec.Vertices, spec.Edges, spec.Features, spec.Classes = s.vertices, s.edges, 1, 10
	d, err := dataset.Synthetic(spec)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(3, 4))
	rows := &dataset.SparseRows{Ptr: make([]int64, 1, s.vertices+1)}
	ids := make([]uint32, s.filled)
	for range s.vertices {
		for i := range ids {
			u := r.Float64()
			ids[i] = uint32(u * u * float64(s.columns))
		}
		slices.Sort(ids)
		distinct := slices.Compact(slices.Clone(ids))
		rows.Cols = append(rows.Cols, distinct...)
		for range distinct {
			rows.Vals = append(rows.Vals, (0.5+r.Float32())/float32(s.filled))
		}
		rows.Ptr = append(rows.Ptr, int64(len(rows.Cols)))
	}
	return d, d.SetSparse(rows, s.columns)
}

// against times epochs of a GCN on sparse features and then on the same features as dense rows, and compares the
// losses.
func (s sparseSpec) against(c saga.Config) error {
	d, err := s.words()
	if err != nil {
		return err
	}
	fmt.Printf("%d vertices, %d edges, %d columns, %d entries (%.2f %%)\n", d.Edges.V, d.Edges.E(), s.columns, len(d.Late.Sparse.Cols),
		100*float64(len(d.Late.Sparse.Cols))/float64(s.columns)/float64(d.Edges.V))
	var of [2][]float64
	var time [2]float64
	for i, name := range []string{"sparse", "dense"} {
		if i == 1 {
			d.HoldFeatures()
		}
		if of[i], time[i], err = s.run(name, d, c); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	far := 0.0
	for i, x := range of[0] {
		far = max(far, math.Abs(x-of[1][i])/math.Abs(of[1][i]))
	}
	fmt.Printf("dense / sparse: %.2f; losses of %d epochs differ by %.2g at most\n", time[1]/time[0], len(of[0]), far)
	return nil
}

// run trains and returns the losses and the median time of an epoch in ms.
func (s sparseSpec) run(name string, d *dataset.Data, c saga.Config) (losses []float64, median float64, err error) {
	m, err := layers.New("gcn", layers.Options{Features: s.columns, Hidden: s.hidden, Classes: d.Classes, Layers: 2})
	if err != nil {
		return nil, 0, err
	}
	begun := time.Now()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		return nil, 0, err
	}
	defer p.Close()
	var times []float64
	for i := range s.epochs + 3 {
		begun := time.Now()
		loss, err := p.Step()
		if err != nil {
			return nil, 0, err
		}
		losses = append(losses, loss)
		if i >= 3 {
			times = append(times, 1e3*time.Since(begun).Seconds())
		}
	}
	ready := time.Since(begun)
	slices.Sort(times)
	median = times[len(times)/2]
	fmt.Printf("%s: epoch %.3f ms (median of %d, best %.3f), last loss %.6f, %.1f s with all before, memory %.3f GiB\n",
		name, median, len(times), times[0], losses[len(losses)-1], ready.Seconds(), float64(p.DevicePeak())/(1<<30))
	return losses, median, where(p, median, 12)
}
