package saga_test

import (
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestLateFeatures trains on features that are made where they are laid out, and on the
// same features held: equal bits, also in a vertex order of several intervals, and with
// stored values that share host memory.
func TestLateFeatures(t *testing.T) {
	s, err := dataset.ParseSpec("vertices=500,edges=4000,features=10,classes=4")
	if err != nil {
		t.Fatal(err)
	}
	losses := func(make func(dataset.Spec) (*dataset.Data, error), stream bool) (out [3]float64) {
		d, err := make(s)
		if err != nil {
			t.Fatal(err)
		}
		m, err := layers.New("ggnn", layers.Options{Features: d.FeatureCols, Hidden: 8, Classes: d.Classes, Layers: 2})
		if err != nil {
			t.Fatal(err)
		}
		p, err := saga.Compile(m, d, saga.Config{Chunks: 3, Stream: stream, Save: saga.SaveAll, Without: []string{"invariant"}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for i := range out {
			if out[i], err = p.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.Evaluate(); err != nil {
			t.Fatal(err)
		}
		shared := 0
		for id, of := range p.TrainPlan().HostOf {
			if of != id {
				shared++
			}
		}
		if stream && shared == 0 {
			t.Error("no stored values share host memory")
		}
		if st := p.Stages(); st.Grid <= 0 || st.Layout <= 0 || st.Open <= 0 {
			t.Errorf("stages %+v", st)
		}
		return out
	}
	held, late := losses(dataset.Synthetic, true), losses(dataset.SyntheticLate, true)
	if held != late {
		t.Errorf("losses %v with features held, %v with features made late", held, late)
	}
	if all := losses(dataset.Synthetic, false); all != held {
		t.Errorf("losses %v when everything stays, %v when everything streams", all, held)
	}
}
