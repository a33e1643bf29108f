package saga_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// BenchmarkSome is what one vertex and 1,000 vertices cost of a pass over all, in processor time: a graph of 1 M vertices and 20 M edges from an
// open store, two layers, the checkpoint's reading and all planning included. Medians of five rounds:
//
//	go test ./saga -run '^$' -bench Some/gcn -benchtime 1x
func BenchmarkSome(b *testing.B) {
	const v, e = 1_000_000, 20_000_000
	var store string
	dir := b.TempDir()
	for _, name := range []string{"sage", "gcn", "gat"} {
		b.Run(name, func(b *testing.B) {
			if store == "" {
				d, err := dataset.Synthetic(dataset.Spec{Kind: dataset.Communities, Vertices: v, Edges: e, Features: 64, Classes: 16, Seed: 1, Copies: 1})
				if err != nil {
					b.Fatal(err)
				}
				path := filepath.Join(dir, "g.saga")
				if err := dataset.WriteStore(path, d, 1); err != nil {
					b.Fatal(err)
				}
				store = path
			}
			d, err := dataset.Load(store, dataset.Options{})
			if err != nil {
				b.Fatal(err)
			}
			m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Classes: d.Classes, Hidden: 32, Layers: 2})
			if err != nil {
				b.Fatal(err)
			}
			run := filepath.Join(b.TempDir(), "c.safetensors")
			small, err := dataset.Synthetic(dataset.Spec{Kind: dataset.Communities, Vertices: 100, Edges: 1000, Features: 64, Classes: 16, Seed: 1, Copies: 1})
			if err != nil {
				b.Fatal(err)
			}
			p, err := saga.Compile(m, small, saga.Config{Seed: 1, Optimizer: saga.Optimizer{LR: 0.01}})
			if err != nil {
				b.Fatal(err)
			}
			if err := p.Save(run, ""); err != nil {
				b.Fatal(err)
			}
			if err := p.Close(); err != nil {
				b.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			many := make([]uint32, 1000)
			for i := range many {
				many[i] = uint32(r.IntN(v))
			}
			for b.Loop() {
				report(b, m, d, run, []uint32{77}, many)
			}
		})
	}
}

// report runs five rounds and reports their medians.
func report(b *testing.B, m saga.Model, d *dataset.Data, run string, lists ...[]uint32) {
	var spent [3][]float64
	for range 5 {
		for i := range 3 {
			start := processorSeconds(b)
			if i == 0 {
				if _, _, err := saga.Predict(m, d, saga.Config{}, run); err != nil {
					b.Fatal(err)
				}
			} else {
				s, err := saga.OpenSome(m, d, saga.Config{}, run)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := s.Work(lists[i-1]); err != nil {
					b.Fatal(err)
				}
				if _, _, err := s.Rows(lists[i-1]); err != nil {
					b.Fatal(err)
				}
			}
			spent[i] = append(spent[i], processorSeconds(b)-start)
		}
	}
	for i := range spent {
		slices.Sort(spent[i])
	}
	all := spent[0][2]
	b.ReportMetric(all, "s-all")
	for i, list := range lists {
		b.ReportMetric(100*spent[i+1][2]/all, fmt.Sprintf("%%-of-all-for-%d", len(list)))
	}
}

// processorSeconds is the processor time of this process so far.
func processorSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
