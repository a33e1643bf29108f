package saga_test

import (
	"errors"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/internal/draw"
	"sagann/layers"
	"sagann/saga"
)

// twoLayers is a model of two layers.
func twoLayers(t *testing.T, name string, features, hidden, classes int) saga.Model {
	t.Helper()
	m, err := layers.New(name, layers.Options{Features: features, Hidden: hidden, Classes: classes, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPackingIsChosen: cells are packed where that makes the epoch shorter, which it does
// not where nothing moves or on a CPU, and as Config says.
func TestPackingIsChosen(t *testing.T) {
	m := twoLayers(t, "gcn", 300, 128, 50)
	for _, tc := range []struct {
		name string
		c    saga.Config
		want bool
	}{
		{"fits", saga.Config{Machine: "h200"}, false},
		{"streams", saga.Config{Machine: "h200", Mem: 900 << 20}, true},
		{"streams, off", saga.Config{Machine: "h200", Mem: 900 << 20, Outcome: saga.Outcome{Packing: saga.PackingOff}}, false},
		{"streams, without", saga.Config{Machine: "h200", Mem: 900 << 20, Without: []string{"pack"}}, false},
		{"fits, on", saga.Config{Machine: "h200", Outcome: saga.Outcome{Packing: saga.PackingOn}}, true},
		{"CPU", saga.Config{Machine: "cpu", Mem: 200 << 20}, false},
		{"no machine", saga.Config{Mem: 200 << 20}, false},
	} {
		tc.c.Without = append(tc.c.Without, "invariant")
		if !draw.Soak() {
			tc.c.Save, tc.c.Outcome.Slices = saga.SaveNone, 1 // less to choose
		}
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
	s.Vertices, s.Edges, s.Features, s.Classes = 100_000, 200_000, 64, 8
	d, err := dataset.Synthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ggnn", "resgated"} {
		m := twoLayers(t, name, 64, 128, 8)
		smallest := func(dev string) int64 {
			_, err := saga.Compile(m, d, saga.Config{Device: dev, Mem: 1, Machine: "h200", Save: saga.SaveNone, Outcome: saga.Outcome{Slices: 1}, Without: []string{"invariant"}})
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

// TestNamedBudgetOfGPU: the budget that an error names does, and no smaller one: cells are
// packed where words do not fit, and the kernels' share of it is counted.
func TestNamedBudgetOfGPU(t *testing.T) {
	s := dataset.DefaultSpec()
	s.Vertices, s.Edges, s.Features, s.Classes = 20_000, 400_000, 64, 8
	d, err := dataset.Synthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gcn", "resgated", "ggcn"} {
		m := twoLayers(t, name, 64, 128, 8)
		least := map[string]int64{}
		for _, packing := range []string{"", saga.PackingOn, saga.PackingOff} {
			c := saga.Config{Device: "cuda", Mem: 1, Machine: "h200", Chunks: 2, Save: saga.SaveNone, Outcome: saga.Outcome{Slices: 1, Packing: packing}, Without: []string{"invariant"}}
			_, err := saga.Compile(m, d, c)
			var small *plan.BudgetError
			if !errors.As(err, &small) {
				t.Fatalf("%s %s with a byte: %v", name, packing, err)
			}
			least[packing] = small.Smallest
			c.Mem = small.Smallest
			if p, err := saga.Compile(m, d, c); err != nil {
				t.Errorf("%s %s: %v", name, packing, err)
			} else if p.Packed() != (packing != saga.PackingOff) {
				t.Errorf("%s %s: packed %v", name, packing, p.Packed())
			}
			if c.Mem--; packing == "" {
				if _, err = saga.Compile(m, d, c); !errors.As(err, &small) || small.Smallest != c.Mem+1 {
					t.Errorf("%s with a byte less: %v", name, err)
				}
			}
		}
		if least[""] != least[saga.PackingOn] || least[""] >= least[saga.PackingOff] {
			t.Errorf("%s: smallest budgets %v", name, least)
		}
	}
}

// TestPackedForHostMemory: cells are packed where host memory does not hold words, though
// nothing moves.
func TestPackedForHostMemory(t *testing.T) {
	m := twoLayers(t, "gcn", 300, 128, 50)
	s := saga.Shape{Vertices: 200_000, Edges: 52e6, Features: 300, Classes: 50}
	c := saga.Config{Machine: "h200", HostMem: 350 << 20, Without: []string{"invariant"}}
	p, err := saga.Plan(m, s, c)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Packed() {
		t.Error("not packed")
	}
	var least []int64
	for _, c.Outcome.Packing = range []string{"", saga.PackingOn} {
		c.HostMem = 1 << 20
		_, err = saga.Plan(m, s, c)
		var small *plan.HostError
		if !errors.As(err, &small) {
			t.Fatalf("packing %q in 1 MiB of host memory: %v", c.Outcome.Packing, err)
		}
		least = append(least, small.Smallest)
	}
	if least[0] != least[1] {
		t.Errorf("smallest host memory %d, packed %d", least[0], least[1])
	}
}

// TestPredictPacked: a session whose budget holds packed cells only predicts within it.
func TestPredictPacked(t *testing.T) {
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 16, Edges: 500_000, Features: 1, Classes: 2, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	m := twoLayers(t, "gcn", 1, 1, 2)
	c := saga.Config{Mem: 1, Outcome: saga.Outcome{Packing: saga.PackingOn}, Without: []string{"invariant"}}
	_, err = saga.Compile(m, d, c)
	var small *plan.BudgetError
	if !errors.As(err, &small) {
		t.Fatal(err)
	}
	c.Mem = small.Smallest
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, _, err := p.Predict(); err != nil {
		t.Error(err)
	}
}

// TestPackingFromStatistics: a graph's statistics choose as the graph does, on one device and on two.
func TestPackingFromStatistics(t *testing.T) {
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 20_000, Edges: 2_000_000, Features: 64, Classes: 8, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	m := twoLayers(t, "gcn", 64, 32, 8)
	for _, tc := range []struct {
		device string
		mem    int64 // beside what the machine keeps
		want   bool
	}{{"cpu", 10 << 20, true}, {"cpu:2", 40 << 20, false}, {"cpu:2", 6 << 20, true}} {
		c := saga.Config{Device: tc.device, Machine: "h200x4", Schedule: plan.Auto, Mem: 658<<20 + tc.mem, Outcome: saga.Outcome{Slices: 1}, Without: []string{"invariant"}}
		real, err := saga.Compile(m, d, c)
		if err != nil {
			t.Fatal(err)
		}
		likely, err := saga.Plan(m, saga.Shape{Vertices: 20_000, Edges: 2_000_000, Features: 64, Classes: 8}, c)
		if err != nil {
			t.Fatal(err)
		}
		if real.Packed() != tc.want || likely.Packed() != tc.want {
			t.Errorf("%s, %d MiB: packed %v, from statistics %v, want %v", tc.device, tc.mem>>20, real.Packed(), likely.Packed(), tc.want)
		}
	}
}

// TestPack: packed cells are smaller, and the losses keep their bits.
func TestPack(t *testing.T) {
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 3000, Edges: 60_000, Features: 16, Classes: 4, Seed: 3, Skew: 0.8})
	if err != nil {
		t.Fatal(err)
	}
	m := twoLayers(t, "resgated", 16, 16, 4)
	run := func(c saga.Config) (cells int64, losses [2]float64) {
		c.Chunks, c.Stream, c.Save, c.Outcome.Slices = 3, true, saga.SaveAll, 1
		p, err := saga.Compile(m, d, c)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}()
		for _, n := range p.TrainPlan().Cells.Bytes[0] {
			cells += n
		}
		for i := range losses {
			if losses[i], err = p.Step(); err != nil {
				t.Fatal(err)
			}
		}
		return cells, losses
	}
	plain, want := run(saga.Config{Machine: "h200", Without: []string{"pack"}})
	packed, got := run(saga.Config{Machine: "h200", Outcome: saga.Outcome{Packing: saga.PackingOn}})
	// Of 32 bits an edge 10 are left; rows' starts stay.
	if least, most := plain-4*60_000, plain-60_000*20/8; packed < least || packed > most {
		t.Errorf("cells take %d bytes packed, %d else", packed, plain)
	}
	if got != want {
		t.Errorf("losses %v packed, %v else", got, want)
	}
}

// TestNamedBudgetOfSmallGraphs: the budget that an error names does where expected cells of
// words would fit into it and the real ones do not: cells are packed after all.
func TestNamedBudgetOfSmallGraphs(t *testing.T) {
	after := 0
	for _, edges := range []int{40, 200, 600, 2000} {
		s := dataset.DefaultSpec()
		s.Vertices, s.Edges, s.Features, s.Classes = 150, edges, 5, 3
		d, err := dataset.Synthetic(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"gcn", "gin", "ggcn"} {
			m := twoLayers(t, name, 5, 8, 3)
			for _, host := range []bool{false, true} {
				c := saga.Config{Machine: "h200", Chunks: 1, Save: saga.SaveAll}
				var mem *plan.BudgetError
				var small *plan.HostError
				if host {
					c.HostMem = 1
				} else {
					c.Mem = 1
				}
				switch _, err := saga.Compile(m, d, c); {
				case errors.As(err, &mem):
					c.Mem = mem.Smallest
				case errors.As(err, &small):
					c.HostMem = small.Smallest
				default:
					t.Fatalf("%s, %d edges: with a byte: %v", name, edges, err)
				}
				p, err := saga.Compile(m, d, c)
				if err != nil {
					t.Errorf("%s, %d edges: %v", name, edges, err)
				} else if p.Packed() {
					after++
				}
			}
		}
	}
	if after == 0 {
		t.Error("no cells were packed")
	}
}
