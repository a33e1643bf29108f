package layers_test

import (
	"math"
	"runtime"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestSameBits: equal seeds give equal losses and weights, bit for bit, over runs and
// over the number of processors; with dropout, streamed and on several devices.
func TestSameBits(t *testing.T) {
	spec := dataset.DefaultSpec()
	spec.Vertices, spec.Edges, spec.Features = 3000, 40000, 24
	d, err := dataset.Synthetic(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gcn", "ggcn", "gat", "mpgcn", "edgemlp"} {
		m, err := layers.New(name, layers.Options{Features: 24, Hidden: 16, Classes: d.Classes, Layers: 2, Heads: 2, Dropout: 0.3})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []saga.Config{{Seed: 9}, {Seed: 9, Chunks: 4, Stream: true}, {Seed: 9, Chunks: 4, Stream: true, Device: "cpu:2"}} {
			var want []uint32
			for _, procs := range []int{1, 2, 1, 3} {
				got := bits(t, m, d, c, procs)
				if want == nil {
					want = got
				}
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("%s %q P=%d: with %d processors number %d differs", name, c.Device, c.Chunks, procs, i)
					}
				}
			}
		}
	}
}

func bits(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config, procs int) []uint32 {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var out []uint32
	for range 3 {
		l, err := p.Step()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, math.Float32bits(float32(l)))
	}
	for _, q := range p.Params() {
		w, err := p.Param(q.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range w {
			out = append(out, math.Float32bits(x))
		}
	}
	return out
}
