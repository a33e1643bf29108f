package dataset

import (
	"testing"

	"sagann/chunk"
)

// TestLookAtEdges: a path and back has reverses, a path has none, whatever loops and repeated edges there are; of few edges all are counted.
func TestLookAtEdges(t *testing.T) {
	const n = 20_000
	path := &chunk.Edges{V: n}
	for v := range uint32(n - 1) {
		path.Src, path.Dst = append(path.Src, v), append(path.Dst, v+1)
	}
	looked := n / (n / lookedAt)
	for name, c := range map[string]struct {
		e    *chunk.Edges
		want EdgeLook
	}{
		"path": {path, EdgeLook{looked, 0, 0}}, "none": {&chunk.Edges{V: 3}, EdgeLook{}},
		"few":          {&chunk.Edges{V: 4, Src: []uint32{0, 1, 2, 2}, Dst: []uint32{1, 2, 3, 2}}, EdgeLook{3, 0, 0}},
		"loops":        {&chunk.Edges{V: 3, Src: []uint32{1, 2}, Dst: []uint32{1, 2}}, EdgeLook{}},
		"one reverse":  {&chunk.Edges{V: 4, Src: []uint32{0, 1, 2, 3}, Dst: []uint32{1, 2, 3, 2}}, EdgeLook{4, 2, 0}},
		"repeated":     {&chunk.Edges{V: 2, Src: []uint32{0, 0}, Dst: []uint32{1, 1}}, EdgeLook{1, 0, 1}},
		"all and more": {&chunk.Edges{V: 3, Src: []uint32{0, 1, 0, 1, 2}, Dst: []uint32{1, 0, 1, 2, 1}}, EdgeLook{4, 4, 1}},
	} {
		if got := LookAtEdges(c.e); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	both := LookAtEdges(path.Symmetric())
	if both.Reversed != both.Looked || both.Looked < lookedAt || both.OneWay() || !LookAtEdges(path).OneWay() {
		t.Errorf("both ways: %+v", both)
	}
}
