package saga_test

import (
	"math"
	"testing"

	"sagann/layers"
	"sagann/saga"
)

// TestSourceReads counts how often sources are read: P times when nothing stays and every
// visit goes the same way, never when everything stays.
func TestSourceReads(t *testing.T) {
	m, err := layers.New("gcn", layers.Options{Features: 64, Hidden: 64, Classes: 8, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	s := saga.Shape{Vertices: 8000, Edges: 400000, Features: 64, Classes: 8}
	c := saga.Config{Chunks: 8, Prefetch: 1, Save: "some", Without: []string{"invariant", "residency", "serpentine", "row-gather"}}
	for _, x := range []struct {
		without []string
		want    float64
	}{{c.Without, 8}, {[]string{"invariant"}, 0}} {
		c.Without = x.without
		p, err := saga.Plan(m, s, c)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.TrainPlan().SourceReads(); math.Abs(got-x.want) > 0.01 {
			t.Errorf("without %v sources are read %.3f times, want %.3f", x.without, got, x.want)
		}
		graph, inputs, stored := p.HostBytes()
		if graph <= 0 || inputs < 8000*64*4 || (stored > 0) != (x.want > 0) {
			t.Errorf("without %v: host memory %d, %d, %d", x.without, graph, inputs, stored)
		}
	}
}
