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
		for id, of := range p.TrainPlan().Host.Of {
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

// TestHostMemLate: features that are made late go into a file, and values that share a
// place share it there; the losses have the same bits, and what is held is what was planned.
func TestHostMemLate(t *testing.T) {
	dir := needsFiles(t)
	s, err := dataset.ParseSpec("vertices=900,edges=7000,features=10,classes=4")
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.SyntheticLate(s)
	if err != nil {
		t.Fatal(err)
	}
	m, err := layers.New("ggnn", layers.Options{Features: d.FeatureCols, Hidden: 8, Classes: d.Classes, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	c := saga.Config{Chunks: 3, Stream: true, Epochs: 3, Save: saga.SaveAll, Without: []string{"invariant"}, Seed: 1, Scratch: dir}
	run := func() (*saga.Program, *saga.Result) {
		p, err := saga.Compile(m, d, c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		return p, train(t, p, saga.TrainOptions{})
	}
	free, want := run()
	all, least := free.Summary().Host, leastHost(t, m, d, c)
	for _, c.HostMem = range []int64{least, (least + all) / 2, all - 1, all} {
		p, r := run()
		if r.Loss != want.Loss || r.Final != want.Final {
			t.Errorf("%d bytes: loss %v and scores %+v, without a bound %v and %+v", c.HostMem, r.Loss, r.Final, want.Loss, want.Final)
		}
		memory, disk := p.HostHeld()
		if u := p.Summary(); memory != u.Host || disk != u.Disk || u.Host > c.HostMem {
			t.Errorf("%d bytes: %d in memory and %d in files, planned %d and %d", c.HostMem, memory, disk, u.Host, u.Disk)
		}
		pl, shared := p.TrainPlan(), 0
		for id, of := range pl.Host.Of {
			if pl.OnDisk(id) != pl.OnDisk(of) {
				t.Errorf("%d bytes: value %d shares the place of %d, but only one lies in a file", c.HostMem, id, of)
			}
			if id != of && pl.OnDisk(id) {
				shared++
			}
		}
		if c.HostMem == least && (shared == 0 || !p.InputOnDisk("features")) {
			t.Errorf("%d values share files; features in a file: %v", shared, p.InputOnDisk("features"))
		}
	}
	if d.Features != nil {
		t.Error("the features are held")
	}
}
