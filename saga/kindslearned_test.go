package saga_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/saga"
	"sagann/sample"
)

// TestTypedEmbedding: learned rows of types without features are rows of features that training changes: the loss is that of a graph with these
// features, gradients are the slopes of that loss, and all plans and batches of all in-edges give the same steps.
func TestTypedEmbedding(t *testing.T) {
	_, full := typedData(t)
	h := *full.Vertices.Kinds.Graph
	h.Types = slices.Clone(h.Types)
	without := []string{"author", "venue"}
	for i, x := range h.Types {
		if slices.Contains(without, x.Name) {
			rows := *x.Rows
			dataset.DropFeatures(&rows)
			h.Types[i].Rows = &rows
		}
	}
	d := h.At(full.Vertices.Kinds.Type)
	m := typedModels()[1]
	m.Embedding = 4
	const rate = 0.5
	p, err := saga.Compile(m, d, saga.Config{Seed: 2, Optimizer: saga.Optimizer{Kind: "sgd", LR: rate}})
	if err != nil {
		t.Fatal(err)
	}
	plain := m
	plain.Embedding = 0
	given := h
	given.Types = slices.Clone(h.Types)
	grads, loss := map[string][]float32{}, 0.0
	for i, x := range h.Types {
		if slices.Contains(without, x.Name) {
			rows := *x.Rows
			if rows.Features, err = p.Param("embedding." + x.Name); err != nil {
				t.Fatal(err)
			}
			rows.FeatureCols = 4
			given.Types[i].Rows = &rows
		}
	}
	if loss, err = p.Step(); err != nil {
		t.Fatal(err)
	}
	for _, x := range given.Types {
		if !slices.Contains(without, x.Name) {
			continue
		}
		after, err := p.Param("embedding." + x.Name)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range after {
			grads[x.Name] = append(grads[x.Name], (x.Rows.Features[k]-v)/rate)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	lossOf := func() float64 {
		x, _ := stepsOf(t, plain, given.At(full.Vertices.Kinds.Type), saga.Config{}, nil, 1, "", "")
		return x[0]
	}
	if x := lossOf(); x != loss {
		t.Errorf("the loss is %v, with the same features %v", loss, x)
	}
	for i, x := range given.Types {
		for k := 0; k < len(grads[x.Name]); k += 7 {
			const step = 1.0 / 64
			at, was := &given.Types[i].Rows.Features[k], given.Types[i].Rows.Features[k]
			*at = was + step
			up := lossOf()
			*at = was - step
			down := lossOf()
			*at = was
			if slope := (up - down) / (2 * step); math.Abs(slope-float64(grads[x.Name][k])) > 2e-3 {
				t.Errorf("row %d of %s: gradient %v, slope %v", k/4, x.Name, grads[x.Name][k], slope)
			}
		}
	}
	want, _ := stepsOf(t, m, d, saga.Config{}, nil, 3, "", "")
	small := smallestOf(t, m, d, saga.Config{})
	for k, c := range []saga.Config{{Chunks: 7, Stream: true}, {Chunks: 8, Device: "cpu:2"}, {Mem: small}, {}} {
		var s *saga.Sampling
		if k == 3 {
			s = &saga.Sampling{Sampler: sample.Neighbours(50, 50), Batch: 10000}
		}
		got, _ := stepsOf(t, m, d, c, s, 3, "", "")
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 1e-5*(1+want[i])) {
				t.Errorf("%s: %v, want %v", fmt.Sprintf("%+v", c), got, want)
			}
		}
	}
}
