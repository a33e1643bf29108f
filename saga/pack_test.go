package saga_test

import (
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestPack: packed cells are smaller, and the losses keep their bits.
func TestPack(t *testing.T) {
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 3000, Edges: 60_000, Features: 16, Classes: 4, Seed: 3, Skew: 0.8})
	if err != nil {
		t.Fatal(err)
	}
	m, err := layers.New("resgated", layers.Options{Features: 16, Hidden: 16, Classes: 4, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	run := func(c saga.Config) (cells int64, losses [2]float64) {
		c.Chunks, c.Stream, c.Save, c.Slices = 3, true, saga.SaveAll, 1
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
	packed, got := run(saga.Config{Machine: "h200", Packing: saga.PackingOn})
	// Of 32 bits an edge 10 are left; rows' starts stay.
	if least, most := plain-4*60_000, plain-60_000*20/8; packed < least || packed > most {
		t.Errorf("cells take %d bytes packed, %d else", packed, plain)
	}
	if got != want {
		t.Errorf("losses %v packed, %v else", got, want)
	}
}
