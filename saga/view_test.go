package saga

import (
	"slices"
	"strings"
	"testing"

	"sagann/dataflow"
	"sagann/dataset"
	"sagann/ops"
)

// viewModel is one layer: the sum over the in-edges of products with a weight.
func viewModel(in, out int) Model {
	return Model{Name: "m", Layers: []Layer{{
		Name:      "linear",
		ApplyEdge: func(e Edge, p Params) Tensor { return ops.MatMul(e.Src, p.Weight("W", in, out)) },
		Gather:    Sum,
	}}}
}

func TestDumpEveryPass(t *testing.T) {
	p, err := Plan(viewModel(6, 3), Shape{Vertices: 50, Edges: 200, Features: 6, Classes: 3}, Config{Chunks: 2})
	if err != nil {
		t.Fatal(err)
	}
	derived := slices.Index(dataflow.Steps(), "autodiff")
	for i, pass := range dataflow.Steps() {
		var b strings.Builder
		if err := p.Dump(&b, pass); err != nil {
			t.Fatal(err)
		}
		grads := strings.Contains(b.String(), "-> grad:layer1.W")
		if b.Len() == 0 || !strings.Contains(b.String(), "-> loss") || grads != (i >= derived) {
			t.Errorf("after %s:\n%s", pass, &b)
		}
	}
	if err := p.Dump(&strings.Builder{}, "nosuch"); err == nil || !strings.Contains(err.Error(), "there are merge, hoist") {
		t.Errorf("an unknown pass: %v", err)
	}
}

// A program can be shown whether it was planned from data or from statistics, with a
// machine or without.
func TestViews(t *testing.T) {
	spec := dataset.DefaultSpec()
	spec.Vertices, spec.Edges, spec.Features, spec.Classes = 60, 240, 6, 3
	d, err := dataset.Synthetic(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, machine := range []string{"", "p100x8"} {
		c := Config{Chunks: 2, Machine: machine, Without: []string{"residency"}}
		a, err := Compile(viewModel(6, 3), d, c)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Plan(viewModel(6, 3), Shape{Vertices: 60, Edges: 240, Features: 6, Classes: 3}, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*Program{a, b} {
			if v, e := p.Totals(); v != 60 || e != 240 {
				t.Errorf("%d vertices, %d edges", v, e)
			}
			line := p.Simulated(nil)
			if (line != nil) != (machine != "") {
				t.Errorf("machine %q, timeline %v", machine, line)
			}
			var page strings.Builder
			if err := p.WriteHTML(&page, line); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"grid      2×2", "view_test.go:"} {
				if !strings.Contains(page.String(), want) {
					t.Errorf("machine %q: the page lacks %q", machine, want)
				}
			}
			if p.PlannedPeak() < p.TrainPlan().Peak {
				t.Error("the peak is below that of training")
			}
		}
	}
}
