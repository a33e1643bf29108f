package cuda

import (
	"fmt"
	"slices"
	"testing"

	"sagann/layers"
	"sagann/saga"
)

// TestEqualDigests: on a GPU, too, programs with one digest train to the same bits, whatever else
// differs: where chunks lie, how far they are loaded ahead, whether rows are gathered and how
// cells hold the far ends of edges. The digest does not tell these apart.
func TestEqualDigests(t *testing.T) {
	needGPU(t)
	d := graph(t)
	for _, name := range []string{"gcn", "ggcn", "ggnn", "mpgcn", "gat", "edgemlp"} {
		t.Run(name, func(t *testing.T) {
			m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Hidden: 64, Classes: d.Classes, Layers: 2, Heads: 4,
				Dropout: 0.3, EdgeData: d.Edges.DataCols, EdgeTypes: d.Edges.Types})
			if err != nil {
				t.Fatal(err)
			}
			digest, want := "", []float64(nil)
			for _, c := range []saga.Config{{}, {Outcome: saga.Outcome{Packing: saga.PackingOn}}, {Stream: true}, {Stream: true, Outcome: saga.Outcome{Packing: saga.PackingOn}},
				{Stream: true, Prefetch: 1, Without: []string{"row-gather"}}, {Without: []string{"stream"}}} {
				c.Device, c.Seed, c.Chunks, c.Save = "cuda", 1, 4, "some"
				c.Without = append(c.Without, "invariant")
				what := fmt.Sprintf("packing %q, stream %v, without %v", c.Outcome.Packing, c.Stream, c.Without)
				p, err := saga.Compile(m, d, c)
				if err != nil {
					t.Fatal(err)
				}
				got := p.Digest()
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				lost := steps(t, m, d, c)
				if want == nil {
					digest, want = got, lost
				}
				if got != digest {
					t.Errorf("%s: digest %s, want %s", what, got, digest)
				}
				if !slices.Equal(lost, want) {
					t.Errorf("%s: losses %v, want %v", what, lost, want)
				}
			}
		})
	}
}
