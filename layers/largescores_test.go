package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga"
)

// TestLargeScores: shares of a softmax over edges add up to 1 however large scores are. So a graph whose every edge is there three times gives the rows
// of the graph itself.
func TestLargeScores(t *testing.T) {
	const v, in = 40, 5
	r := rand.New(rand.NewPCG(1, 2))
	once, thrice := &chunk.Edges{V: v}, &chunk.Edges{V: v}
	for u := range uint32(v) {
		for k := range u % 4 {
			src := (u*7 + k*11) % v
			once.Src, once.Dst = append(once.Src, src), append(once.Dst, u)
			thrice.Src, thrice.Dst = append(thrice.Src, src, src, src), append(thrice.Dst, u, u, u)
		}
	}
	x := make([]float32, v*in)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	for _, name := range []string{"gat", "gatv2", "transformer"} {
		for _, size := range []float32{1, 1e3, 1e6} {
			for _, chunks := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s scores=%g chunks=%d", name, size, chunks), func(t *testing.T) {
					m, err := New(name, Options{Features: in, Hidden: 4, Classes: 3, Layers: 1, Heads: 2})
					if err != nil {
						t.Fatal(err)
					}
					m.SelfLoops = false
					var got [2][]float32
					for k, edges := range []*chunk.Edges{once, thrice} {
						d := &dataset.Data{Name: "large", Edges: edges, FeatureCols: in, Classes: 3, Labels: make([]int32, v), Train: []uint32{0}, Val: []uint32{1}, Test: []uint32{2}}
						for _, y := range x {
							d.Features = append(d.Features, y*size)
						}
						got[k], _, err = saga.PredictWith(m, d, saga.Config{Chunks: chunks, Seed: 3}, func(params []saga.Param) (map[string][]float32, error) {
							r, all := rand.New(rand.NewPCG(3, 4)), map[string][]float32{}
							for _, p := range params {
								for range p.Rows * p.Cols {
									all[p.Name] = append(all[p.Name], float32(r.NormFloat64()))
								}
							}
							return all, nil
						})
						if err != nil {
							t.Fatal(err)
						}
					}
					most := 0.0
					for _, y := range got[0] {
						most = max(most, math.Abs(float64(y)))
					}
					for i, want := range got[0] {
						if y := got[1][i]; !(math.Abs(float64(y)-float64(want)) <= 2e-6*most) {
							t.Fatalf("row %d column %d: %v, without repeated edges %v", i/3, i%3, y, want)
						}
					}
				})
			}
		}
	}
}
