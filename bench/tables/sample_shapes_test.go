package tables

import (
	"slices"
	"testing"

	"sagann/bench/measure"
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

// TestPowerRank: ranks are the same with a table and without.
func TestPowerRank(t *testing.T) {
	with := newPower(5000, usual)
	without := &power{v: 5000, root: usual}
	for i := range uint64(100_000) {
		r := measure.Mixed(i)
		if i < 5000 { // where a rank begins, and right before
			r = uint64(with.from[i]*(1<<53))<<11 - (i&1)<<11
		}
		if a, b := with.vertex(r), without.vertex(r); a != b {
			t.Fatalf("number %x is vertex %d by the table, %d without", r, a, b)
		}
	}
}
