package dataset

import (
	"testing"

	"sagann/chunk"
)

// Across finds the first edge that joins two graphs.
func TestAcross(t *testing.T) {
	d := &Data{Edges: &chunk.Edges{V: 5, Src: []uint32{0, 3, 1, 4}, Dst: []uint32{1, 4, 3, 0}}}
	if i := Across(d); i != -1 {
		t.Errorf("without graphs: edge %d", i)
	}
	d.GraphOf = []uint32{0, 0, 0, 1, 1}
	if i := Across(d); i != 2 {
		t.Errorf("edge %d, want 2", i)
	}
	d.Edges.Dst[2], d.Edges.Dst[3] = 2, 3
	if i := Across(d); i != -1 {
		t.Errorf("of whole graphs: edge %d", i)
	}
}
