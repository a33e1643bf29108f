package layers_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestSome: the rows of some vertices are those of all, for every model that trains on sampled blocks, also in little memory, with
// learned rows and with a vertex that is asked for twice. Of the larger graph the vertices reach a small part, and degrees of the rest count.
func TestSome(t *testing.T) {
	sparse, err := dataset.Open("synthetic:vertices=3000,edges=9e3,features=8,classes=4", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // some self loops stand in the data
		sparse.Edges.Src, sparse.Edges.Dst = append(sparse.Edges.Src, 7, 21), append(sparse.Edges.Dst, 7, 21)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	sparse.Edges.Weight = nil
	for range sparse.Edges.E() {
		sparse.Edges.Weight = append(sparse.Edges.Weight, rng.Float32())
	}
	someRows(t, dataset.Karate(), []uint32{33, 0, 7, 20, 7})
	someRows(t, sparse, []uint32{2999, 0, 7, 20, 7})
}

func someRows(t *testing.T, d *dataset.Data, list []uint32) {
	for _, name := range layers.Names() {
		for _, embedding := range []int{0, 6} {
			features := d.FeatureCols
			if embedding > 0 {
				features = embedding
			}
			m, err := layers.New(name, layers.Options{Features: features, Hidden: 8, Classes: d.Classes, Layers: 2, Heads: 2, Own: layers.Own{Delta: 1.5}})
			if err != nil {
				continue // it needs types or numbers of edges
			}
			m.Embedding = embedding
			p, err := saga.Compile(m, d, saga.Config{Epochs: 2})
			if err != nil {
				continue
			}
			path := filepath.Join(t.TempDir(), "c.safetensors")
			for range 2 {
				if _, err := p.Step(); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Save(path, ""); err != nil {
				t.Fatal(err)
			}
			p.Close()
			for what, run := range map[string]func(c saga.Config) (all, some []float32, cols int, err error){
				"logits": func(c saga.Config) (all, some []float32, cols int, err error) {
					if all, _, err = saga.Predict(m, d, saga.Config{}, path); err == nil {
						some, cols, err = saga.PredictSome(m, d, c, path, list)
					}
					return all, some, cols, err
				},
				"hidden": func(c saga.Config) (all, some []float32, cols int, err error) {
					if all, _, err = saga.Embed(m, d, saga.Config{}, path); err == nil {
						some, cols, err = saga.EmbedSome(m, d, c, path, list)
					}
					return all, some, cols, err
				},
			} {
				for _, c := range []saga.Config{{}, {Mem: 200 << 10}} {
					all, some, cols, err := run(c)
					if name == "mlp" { // it reads no edges
						if err == nil || !strings.Contains(err.Error(), "no layer of the model gathers") {
							t.Errorf("%s: %v", name, err)
						}
						continue
					}
					if err != nil {
						t.Errorf("%s, %s, embedding %d, memory %d: %v", name, what, embedding, c.Mem, err)
						continue
					}
					for i, v := range list {
						want, got := all[int(v)*cols:int(v+1)*cols], some[i*cols:(i+1)*cols]
						if !slices.EqualFunc(want, got, func(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-6*(1+math.Abs(float64(a))) }) {
							t.Errorf("%s, %s, embedding %d, memory %d, vertex %d: %v, want %v", name, what, embedding, c.Mem, v, got, want)
						}
					}
				}
			}
		}
	}
}

// TestAddedModels: vertices that are added to the graph of a run have the bits of the rows that they have in a graph which had them, for every model that trains
// on sampled blocks. Learned rows of a run that has not begun are those with which a run over all vertices begins.
func TestAddedModels(t *testing.T) {
	whole, n := dataset.Karate(), 30
	whole.Train, whole.Val, whole.Test = []uint32{0, 29}, nil, nil
	old, rest := *whole, &chunk.Edges{V: whole.Edges.V}
	old.Edges, old.Labels, old.Features = &chunk.Edges{V: n}, whole.Labels[:n], whole.Features[:n*whole.FeatureCols]
	for k, u := range whole.Edges.Src {
		to := rest
		if v := whole.Edges.Dst[k]; int(u) < n && int(v) < n {
			to = old.Edges
		}
		to.Src, to.Dst = append(to.Src, u), append(to.Dst, whole.Edges.Dst[k])
	}
	whole.Edges = &chunk.Edges{V: whole.Edges.V, Src: slices.Concat(old.Edges.Src, rest.Src), Dst: slices.Concat(old.Edges.Dst, rest.Dst)}
	added := &dataset.Added{Count: whole.Edges.V - n, Edges: rest}
	for _, name := range layers.Names() {
		for _, embedding := range []int{0, 6} {
			o := layers.Options{Features: whole.FeatureCols, Hidden: 8, Classes: whole.Classes, Layers: 2, Heads: 2, Own: layers.Own{Delta: 1.5}}
			added.Features = whole.Features[n*whole.FeatureCols:]
			of, all := old, *whole
			if embedding > 0 {
				o.Features, added.Features = embedding, nil
				dataset.DropFeatures(&of)
				dataset.DropFeatures(&all)
			}
			m, err := layers.New(name, o)
			if err != nil || name == "mlp" {
				continue // it needs types or numbers of edges, or reads no edges
			}
			m.Embedding = embedding
			save := func(d *dataset.Data, steps int) string {
				p, err := saga.Compile(m, d, saga.Config{Epochs: 2, Seed: 3})
				if err != nil {
					return ""
				}
				defer p.Close()
				path := filepath.Join(t.TempDir(), "c.safetensors")
				for range steps {
					if _, err := p.Step(); err != nil {
						t.Fatal(err)
					}
				}
				if err := errors.Join(p.Open(), p.Save(path, "")); err != nil {
					t.Fatal(err)
				}
				return path
			}
			steps := 2
			if embedding > 0 {
				steps = 0
			}
			path := save(&of, steps)
			if path == "" {
				continue
			}
			other := path
			if embedding > 0 {
				other = save(&all, 0)
			}
			got, cols, err := saga.PredictAdded(m, &of, saga.Config{}, path, added, dataset.Options{})
			if err != nil {
				t.Errorf("%s, embedding %d: %v", name, embedding, err)
				continue
			}
			want, _, err := saga.PredictSome(m, &all, saga.Config{}, other, []uint32{30, 31, 32, 33})
			if err != nil || len(got) != 4*cols || !slices.Equal(got, want) {
				t.Errorf("%s, embedding %d: %v, want %v, %v", name, embedding, got, want, err)
			}
		}
	}
}
