package saga_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/saga"
)

// TestEmbedOf: the rows of a type that enter the last layer are what the layers before it give the vertices of this type, in any plan.
func TestEmbedOf(t *testing.T) {
	_, d := typedData(t)
	for _, m := range typedModels()[:3] {
		p, err := saga.Compile(m, d, saga.Config{Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "checkpoint.safetensors")
		if _, err = p.Step(); err == nil {
			err = p.Save(path, "")
		}
		if err != nil {
			t.Fatal(err)
		}
		values := map[string][]float32{}
		for _, q := range p.Params() {
			if values[q.Name], err = p.Param(q.Name); err != nil {
				t.Fatal(err)
			}
		}
		p.Close()
		k := d.Vertices.Kinds
		first := m
		first.Layers = m.Layers[:len(m.Layers)-1]
		seen := 0
		for n, x := range k.Graph.Types {
			got, cols, err := saga.EmbedOf(m, d, saga.Config{}, path, x.Name)
			if err != nil {
				if !strings.Contains(err.Error(), "gives no rows of vertices") {
					t.Errorf("%s, %s: %v", m.Name, x.Name, err)
				}
				continue
			}
			if x.Name == "venue" { // one relation leads there, whose parameters have no name of it in a model for venues
				continue
			}
			seen++
			want, width, err := saga.PredictWith(first, k.Graph.At(n), saga.Config{Chunks: 9}, func([]saga.Param) (map[string][]float32, error) { return values, nil })
			if err != nil || cols != width || !slices.Equal(got, want) {
				t.Errorf("%s, %s: %d columns %v, want %d columns %v: %v", m.Name, x.Name, cols, got, width, want, err)
			}
			if n == k.Type {
				if own, _, err := saga.Embed(m, d, saga.Config{}, path); err != nil || !slices.Equal(own, got) {
					t.Errorf("%s: Embed gives %v, %v; EmbedOf %v", m.Name, own, err, got)
				}
			}
		}
		if seen < 2 {
			t.Errorf("%s: rows of %d types", m.Name, seen)
		}
		if _, _, err := saga.EmbedOf(m, d, saga.Config{}, path, "nothing"); err == nil || !strings.Contains(err.Error(), "there are rows of") {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}
