package dataset

import (
	"testing"

	"sagann/chunk"
)

// TestOneWay: a path and back has reverses, a path has none, whatever loops and repeated edges there are, and one reverse
// among few edges is found.
func TestOneWay(t *testing.T) {
	const n = 20_000
	path := &chunk.Edges{V: n}
	for v := range uint32(n - 1) {
		path.Src, path.Dst = append(path.Src, v), append(path.Dst, v+1)
	}
	few := &chunk.Edges{V: 4, Src: []uint32{0, 1, 2, 2}, Dst: []uint32{1, 2, 3, 2}}
	for name, c := range map[string]struct {
		e    *chunk.Edges
		want bool
	}{
		"path": {path, true}, "both ways": {path.Symmetric(), false}, "few": {few, true}, "none": {&chunk.Edges{V: 3}, false},
		"loops":       {&chunk.Edges{V: 3, Src: []uint32{1, 2}, Dst: []uint32{1, 2}}, false},
		"one reverse": {&chunk.Edges{V: 4, Src: []uint32{0, 1, 2, 3}, Dst: []uint32{1, 2, 3, 2}}, false},
		"repeated":    {&chunk.Edges{V: 2, Src: []uint32{0, 0}, Dst: []uint32{1, 1}}, true},
	} {
		if looked, got := OneWay(c.e); got != c.want || got && looked == 0 {
			t.Errorf("%s: %d edges, one way %v", name, looked, got)
		}
	}
}
