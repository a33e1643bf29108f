package saga_test

import (
	"bytes"
	"math"
	"testing"
	"time"

	"sagann/dataset"
	"sagann/internal/draw"
	"sagann/layers"
	"sagann/saga"
)

// TestPlanFromStatistics: planning the shape of ogbn-papers100M takes seconds and no
// memory to speak of.
func TestPlanFromStatistics(t *testing.T) {
	m, err := layers.New("ggcn", layers.Options{Features: 128, Hidden: 128, Classes: 172, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	p, err := saga.Plan(m, saga.Shape{Vertices: 111e6, Edges: 1.6e9, Features: 128, Classes: 172, Skew: 0.5}, saga.Config{Mem: 32 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); draw.Soak() && d > 5*time.Second {
		t.Errorf("planning took %v", d)
	}
	var b bytes.Buffer
	if err := p.Explain(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Step(); err == nil {
		t.Error("a program without data stepped")
	}
}

// TestStatisticsAgree: expected sizes are close to those of a generated graph.
func TestStatisticsAgree(t *testing.T) {
	for _, skew := range []float64{0, 0.6} {
		spec := dataset.DefaultSpec()
		spec.Skew, spec.Edges = skew, 100000
		d, err := dataset.Synthetic(spec)
		if err != nil {
			t.Fatal(err)
		}
		m, err := layers.New("ggcn", layers.Options{Features: 64, Hidden: 16, Classes: 8, Layers: 2})
		if err != nil {
			t.Fatal(err)
		}
		c := saga.Config{Chunks: 8, Stream: true}
		real, err := saga.Compile(m, d, c)
		if err != nil {
			t.Fatal(err)
		}
		shape, err := saga.Plan(m, saga.Shape{Vertices: 20000, Edges: 100000, Features: 64, Classes: 8, Skew: skew}, c)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := real.Moves()
		b, _ := shape.Moves()
		if math.Abs(float64(a)/float64(b)-1) > 0.05 {
			t.Errorf("skew %v: %d bytes of the graph, %d from statistics", skew, a, b)
		}
	}
}
