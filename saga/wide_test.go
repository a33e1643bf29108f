package saga_test

import (
	"math"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// Wide cells give the losses of divided ones, but for the order of sums, where everything streams and where everything stays, packed and not.
func TestWideLosses(t *testing.T) {
	s := dataset.DefaultSpec()
	s.Vertices, s.Edges, s.Features, s.Classes = 1100, 14_000, 20, 5
	d, err := dataset.Synthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	typed := threeTypes(t)
	for _, name := range []string{"gcn", "gat", "sage", "ggcn", "resgated", "mpgcn", "ggnn"} {
		wideLosses(t, name, twoLayers(t, name, s.Features, 12, s.Classes), d)
	}
	for _, name := range []string{"gat", "sage", "rgcn", "hgt"} {
		m, err := layers.New(name, layers.Options{Hidden: 12, Classes: 3, Layers: 2, Heads: 2, Features: 6})
		if err != nil {
			t.Fatal(err)
		}
		wideLosses(t, "typed "+name, m, typed)
	}
}

func wideLosses(t *testing.T, name string, m saga.Model, d *dataset.Data) {
	t.Helper()
	want := lossesOf(t, m, d, saga.Config{Chunks: 3})
	for _, c := range []saga.Config{
		{Chunks: 4}, {Chunks: 9, Stream: true}, {Chunks: 7, Stream: true, Schedule: "stage"}, {Chunks: 5, Stream: true, Save: saga.SaveAll, Outcome: saga.Outcome{Packing: saga.PackingOn}},
	} {
		for _, c.Outcome.Wide = range []int{2, saga.AllFar} {
			got := lossesOf(t, m, d, c)
			for i := range want {
				if !(math.Abs(got[i]-want[i]) <= 2e-5*want[i]) {
					t.Errorf("%s, %d intervals, over %d, %s: losses %v, want %v", name, c.Chunks, c.Outcome.Wide, c.Schedule, got, want)
					break
				}
			}
		}
	}
}

func lossesOf(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config) (losses []float64) {
	t.Helper()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if c.Outcome.Wide != p.TrainPlan().Cells.Wide {
		t.Fatal("cells are not as asked")
	}
	for range 3 {
		x, err := p.Step()
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, float64(x))
	}
	scores, err := p.Evaluate()
	if err != nil {
		t.Fatal(err)
	}
	return append(losses, scores.Val.Loss)
}
