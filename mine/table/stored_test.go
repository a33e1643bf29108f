package table

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"sagann/chunk"
	"sagann/internal/draw"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// TestStoredParts: a reader that begins at any mark reads the rows from there on, in memory and from a file.
func TestStoredParts(t *testing.T) {
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	e := &chunk.Edges{V: 300}
	for range 1200 {
		if a, b := uint32(d.IntN(300)), uint32(d.IntN(300)); a != b {
			e.Src, e.Dst = append(e.Src, a, b), append(e.Dst, b, a)
		}
	}
	r, _, err := rows.FromEdges(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Spec{{Rows: r, Size: 1}, {Rows: r, Size: 3}, {Rows: r, Size: 3, Vertices: true}} {
		for _, room := range []int64{0, 1} {
			stored, err := s.Store(context.Background(), run.NewMeter(room), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			var want [][]uint32
			if err := s.Each(context.Background(), func(r *Row) bool { want = append(want, slices.Clone(r.All())); return true }); err != nil {
				t.Fatal(err)
			}
			if n := len(stored.marks); s.Size == 3 && !s.Vertices && (n < mostMarks/2 || n > mostMarks || stored.every == 1<<8) || room > 0 && s.Size == 3 && !s.Vertices && stored.Spilled() == 0 {
				t.Errorf("%d marks, one each %d rows, %d bytes in a file", n, stored.every, stored.Spilled())
			}
			for i := 0; i <= len(stored.marks); i += 1 + len(stored.marks)/9 {
				var taken atomic.Int64
				taken.Store(int64(i))
				from := len(want)
				if i < len(stored.marks) {
					from = int(stored.marks[i].row)
				}
				var got [][]uint32
				err := stored.share(&taken, func(row []uint32) bool { got = append(got, slices.Clone(row)); return true })
				if err != nil || !slices.EqualFunc(got, want[from:], slices.Equal) {
					t.Fatalf("from mark %d: %d rows, want %d, %v", i, len(got), len(want)-from, err)
				}
			}
			if err := stored.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
