package chunk

import (
	"hash/crc32"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// EachEdges gives the edges of ReadEdges in its order, and CellStat what Stats counts.
func TestEachEdges(t *testing.T) {
	for _, keep := range []bool{true, false} {
		for _, base := range []int{1, 3, 18} { // of 18 the sequence has two bytes an edge
			c := full()
			c.EdgeLabels, c.EdgeTargets, c.EdgeSets, c.Of = nil, nil, nil, [2][3][]uint32{}
			c.Meta.KeepOrder, c.Meta.Base, c.Meta.Order = keep, base, Balance(c.Edges, base)
			path := filepath.Join(t.TempDir(), "graph.saga")
			if err := c.write(path, 64); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			want, err := s.ReadEdges()
			if err != nil {
				t.Fatal(err)
			}
			got := s.newEdges(0)
			if err := s.EachEdges(func(e *Edges) error {
				got.Src, got.Dst = append(got.Src, e.Src...), append(got.Dst, e.Dst...)
				got.Weight, got.Type, got.Data = append(got.Weight, e.Weight...), append(got.Type, e.Type...), append(got.Data, e.Data...)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("base %d, order kept %v: -ReadEdges +EachEdges\n%s", base, keep, d)
			}
			stats := Stats(want, c.Meta.Order, base)
			for i, x := range stats.Cells {
				if got, err := s.CellStat(c.Meta.Order, i/base, i%base); err != nil || got != x {
					t.Errorf("base %d, cell %d: %+v, want %+v: %v", base, i, got, x, err)
				}
			}
		}
	}
}

func TestJoinCRC(t *testing.T) {
	text := make([]byte, 5000)
	for i := range text {
		text[i] = byte(i * i)
	}
	for _, at := range []int{0, 1, 17, 4096, 5000} {
		a, b := crc32.Checksum(text[:at], castagnoli), crc32.Checksum(text[at:], castagnoli)
		if got, want := JoinCRC(a, b, int64(len(text)-at)), crc32.Checksum(text, castagnoli); got != want {
			t.Errorf("cut at %d: %08x, want %08x", at, got, want)
		}
	}
}
