package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/dataset/npy"
)

// TestTimesByPart: time of a relation is of its edges and time of a type of its vertices, however many there are of both, and tells how many
// vertices a type has that has nothing else. A relation without edges has no weights to warn of.
func TestTimesByPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.npz")
	list := func(x ...int64) *npy.Array { return npy.New("", []int{len(x)}, x) }
	arrays := map[string]*npy.Array{
		"a.x":                  npy.New("", []int{2, 1}, []float32{1, 2}),
		"b.time":               list(5, 6, 7),
		"a__to__b.edge_index":  npy.New("", []int{2, 3}, []int64{0, 1, 1, 0, 0, 1}),
		"a__to__b.time":        list(1, 2, 3),
		"b__of__a.edge_index":  npy.New("", []int{2, 0}, []int64{}),
		"b__of__a.edge_weight": npy.New("", []int{0}, []float32{}),
	}
	if err := npy.WriteZip(path, arrays); err != nil {
		t.Fatal(err)
	}
	h, err := LoadHetero(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, to := h.Types[1].Rows, h.Relations[0].Links.Edges
	if !slices.Equal(b.Vertices.Time, []float64{5, 6, 7}) || b.Edges.V != 3 || !slices.Equal(to.Time, []float64{1, 2, 3}) {
		t.Errorf("%d vertices with times %v, edges with %v", b.Edges.V, b.Vertices.Time, to.Time)
	}
	if said := strings.Join(h.Whole().Warnings, "; "); said != "" {
		t.Errorf("said is %q", said)
	}
	arrays["a__to__b.time"] = list(1, 2) // as many as the vertices of a
	if err := npy.WriteZip(path, arrays); err != nil {
		t.Fatal(err)
	}
	_, err = LoadHetero(path, Options{})
	refused(t, "times of too few edges", err, "[2]")
}
