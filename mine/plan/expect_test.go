package plan

import (
	"math"
	"testing"

	"sagann/mine/pattern"
)

// TestRates: an H200 is expected to take what it took on R-MAT graphs, within a fifth.
func TestRates(t *testing.T) {
	w := Work{Vertices: 1 << 20, Edges: 15702323, Reads: 4.424e9, Wedges: 5.651e9,
		Cliques: []float64{0, 1 << 20, 15702323, 424254972, 17056683136, 627901945789}}
	motifs := pattern.Formula{}
	for _, q := range []pattern.Quantity{pattern.Triangles, pattern.EdgePaths, pattern.Tails, pattern.EdgePairs, pattern.FourCycles, pattern.FourCliques} {
		motifs = append(motifs, pattern.Term{Times: 1, Of: q})
	}
	host := w
	host.Host = 8.898e9
	for _, c := range []struct {
		what         string
		expected, ms float64
	}{
		{"triangles", H200.Clique(w, 3), 8.9},
		{"4-cliques", H200.Clique(w, 4), 17.2},
		{"5-cliques", H200.Clique(w, 5), 240},
		{"6-cliques", H200.Clique(w, 6), 9969},
		{"4-cliques from the host", H200.Clique(host, 4), 176},
		{"5-cliques from the host", H200.Clique(host, 5), 291},
		{"diamonds", H200.Formula(pattern.Formula{{Times: 1, Of: pattern.EdgePairs}}, w), 11.3},
		{"4-cycles", H200.Formula(pattern.Formula{{Times: 1, Of: pattern.FourCycles}}, w), 89},
		{"4-motifs", H200.Formula(motifs, w), 116},
		{"houses", H200.Loops(Estimate{Nodes: []float64{3.4e4, 8.9e5, 1.6e8, 2.9e10, 4.8e12}, Loops: 3, Work: 1.178e11}, Work{}), 674},
	} {
		if got := 1e3 * c.expected; math.Abs(got/c.ms-1) > 0.2 {
			t.Errorf("%s: %.1f ms expected, %.1f taken", c.what, got, c.ms)
		}
	}
}
