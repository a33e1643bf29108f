package saga_test

import (
	"math"
	"testing"

	"sagann/dataset"
	"sagann/device"
	"sagann/device/cudatest"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// TestTriplesEmulated: batches of links of all relations have, on an emulated GPU, the losses of the CPU and, with all in-edges, of the full graph.
func TestTriplesEmulated(t *testing.T) {
	if testing.Short() {
		t.Skip("emulation is slow")
	}
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 60, Edges: 300, Features: 5, Classes: 3, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	e := d.Edges
	e.Types, e.Type = 3, make([]uint32, e.E())
	for k := range e.Type {
		e.Type[k] = (e.Src[k] + 2*e.Dst[k]) % 3
	}
	if d, err = dataset.SplitTriples(d, dataset.LinkShares{Val: 0.1, Test: 0.1}, 3); err != nil {
		t.Fatal(err)
	}
	m, err := layers.New("rgcn", layers.Options{Features: 5, Hidden: 6, Classes: 4, Layers: 1, Task: saga.LinkTask, LinkHead: saga.LinkDistMult})
	if err != nil {
		t.Fatal(err)
	}
	steps := func(p *saga.Program, err error) (list []float64) {
		t.Helper()
		for range 3 {
			x := 0.0
			if err == nil {
				x, err = p.Step()
			}
			if list = append(list, x); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		return list
	}
	want := steps(saga.Compile(m, d, saga.Config{Seed: 2}))
	for _, on := range []string{"cpu", "cuda"} {
		p, err := saga.CompileSampled(m, d, saga.Config{Seed: 2, Device: on, Without: []string{"invariant"}}, saga.Sampling{Sampler: sample.Neighbours(99), Batch: 10000})
		if err == nil && on == "cuda" {
			err = p.OpenOn([]device.Device{cudatest.Steps(cudatest.Open(t, 0, p.DeviceBytes()+1<<20))})
		}
		for i, x := range steps(p, err) {
			if math.Abs(x-want[i]) > 1e-5 {
				t.Errorf("%s: loss %d is %v, of the full graph %v", on, i, x, want[i])
			}
		}
	}
}
