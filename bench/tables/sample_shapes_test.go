package tables

import (
	"slices"
	"testing"
)

// TestPowerGraph: the graph of a size is always the same, and is what the formula says.
func TestPowerGraph(t *testing.T) {
	g := powerGraph(1000, 20000, true)
	if got := graphSum(g); got != "6d9af324be3ec699" {
		t.Errorf("sha256 %s", got)
	}
	if g.Edges() != 20000 || !slices.Contains(g.Far[g.Offsets[0]:g.Offsets[1]], g.Far[0]) {
		t.Errorf("%d edges", g.Edges())
	}
	for v := range uint32(1000) {
		if !slices.IsSorted(g.Far[g.Offsets[v]:g.Offsets[v+1]]) {
			t.Errorf("row %d is not sorted", v)
		}
		for _, u := range g.Far[g.Offsets[v]:g.Offsets[v+1]] {
			if _, ok := slices.BinarySearch(g.Far[g.Offsets[u]:g.Offsets[u+1]], v); !ok {
				t.Fatalf("there is an edge from %d to %d, and none back", v, u)
			}
		}
	}
}
