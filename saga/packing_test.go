package saga_test

import (
	"errors"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestPackingIsChosen: cells are packed where that makes the epoch shorter, which it does
// not where nothing moves or on a CPU, and as Config says.
func TestPackingIsChosen(t *testing.T) {
	m, err := layers.New("gcn", layers.Options{Features: 300, Hidden: 128, Classes: 50, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		c    saga.Config
		want bool
	}{
		{"fits", saga.Config{Machine: "h200"}, false},
		{"streams", saga.Config{Machine: "h200", Mem: 900 << 20}, true},
		{"streams, off", saga.Config{Machine: "h200", Mem: 900 << 20, Packing: saga.PackingOff}, false},
		{"streams, without", saga.Config{Machine: "h200", Mem: 900 << 20, Without: []string{"pack"}}, false},
		{"fits, on", saga.Config{Machine: "h200", Packing: saga.PackingOn}, true},
		{"CPU", saga.Config{Machine: "cpu", Mem: 200 << 20}, false},
		{"no machine", saga.Config{Mem: 200 << 20}, false},
	} {
		tc.c.Without = append(tc.c.Without, "invariant")
		p, err := saga.Plan(m, saga.Shape{Vertices: 200_000, Edges: 52e6, Features: 300, Classes: 50}, tc.c)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		} else if p.Packed() != tc.want {
			t.Errorf("%s: packed %v, want %v", tc.name, p.Packed(), tc.want)
		}
	}
}

// TestSmallestBudgetOfGPU: kernels that have next to nothing take little scratch memory, so
// the smallest budget is not far above the CPU's.
func TestSmallestBudgetOfGPU(t *testing.T) {
	s := dataset.DefaultSpec()
	s.Vertices, s.Edges, s.Features, s.Classes = 300_000, 600_000, 64, 8
	d, err := dataset.Synthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ggnn", "resgated"} {
		m, err := layers.New(name, layers.Options{Features: 64, Hidden: 128, Classes: 8, Layers: 2})
		if err != nil {
			t.Fatal(err)
		}
		smallest := func(dev string) int64 {
			_, err := saga.Compile(m, d, saga.Config{Device: dev, Mem: 1, Machine: "h200", Save: saga.SaveNone, Slices: 1, Without: []string{"invariant"}})
			var small *plan.BudgetError
			if !errors.As(err, &small) {
				t.Fatalf("%s on %s with a byte: %v", name, dev, err)
			}
			return small.Smallest
		}
		cpu, gpu := smallest("cpu"), smallest("cuda")
		if gpu > cpu+128<<20 {
			t.Errorf("%s: %d MiB on a GPU, %d on the CPU", name, gpu>>20, cpu>>20)
		}
	}
}
