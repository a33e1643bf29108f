package dataset

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestShardsLeaveEdgeLabels: labels of edges do not keep a graph from being written as shards for labels of vertices, and a graph with nothing
// else is refused by a text without a gap where a part has no name.
func TestShardsLeaveEdgeLabels(t *testing.T) {
	dir := t.TempDir()
	h := madeHetero(t)
	links := h.Relations[0].Links
	for k := range links.Edges.E() {
		links.EdgeLabels = append(links.EdgeLabels, int32(k%2))
	}
	links.EdgeSplit = Split{Train: []uint32{0}, Test: []uint32{1}}
	from := filepath.Join(dir, "g.saga")
	if err := WriteHeteroStore(from, h, 8); err != nil {
		t.Fatal(err)
	}
	c := Sharding{Conversion: Conversion{From: from, Out: filepath.Join(dir, "shards")}, Owners: 2, Chunks: 8}
	written, _, err := WriteTypedShards(c, TypedSharding{Target: "paper"})
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(written.Whole().Changes, "; "); !strings.Contains(said, h.FullName(0)+": labels and targets of edges are left out") {
		t.Errorf("said is %q", said)
	}
	if _, err := VerifyTypedShards(c.Out); err != nil {
		t.Error(err)
	}
	links.EdgeLabels, links.EdgeSplit, links.Edges.Time = nil, Split{}, make([]float64, links.Edges.E())
	c.From, c.Out = filepath.Join(dir, "timed.saga"), filepath.Join(dir, "none")
	if err := WriteHeteroStore(c.From, h, 8); err != nil {
		t.Fatal(err)
	}
	_, _, err = WriteTypedShards(c, TypedSharding{Target: "paper"})
	refused(t, "times", err, "shards do not keep times")
	if err != nil && strings.Contains(err.Error(), ": :") {
		t.Error(err)
	}
}
