package chunk_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/chunk"
	"sagann/internal/draw"
)

// The rows that a cell needs are the different ends of its edges, on both sides and in
// the statistics alike.
func TestNeeds(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		v := rapid.IntRange(1, 200).Draw(t, "vertices")
		id := rapid.Custom(func(t *rapid.T) uint32 { return uint32(rapid.IntRange(0, v-1).Draw(t, "vertex")) })
		n := rapid.IntRange(0, 300).Draw(t, "edges")
		e := &chunk.Edges{V: v, Src: rapid.SliceOfN(id, n, n).Draw(t, "src"), Dst: rapid.SliceOfN(id, n, n).Draw(t, "dst")}
		p := rapid.IntRange(1, 7).Draw(t, "P")
		w := chunk.Want{CSC: true, CSR: true, Pack: rapid.Bool().Draw(t, "pack")}
		g, err := chunk.Build(e, nil, p, w)
		if err != nil {
			t.Fatal(err)
		}
		st := chunk.Stats(e, nil, p)
		for k, s := range []*chunk.Side{g.CSC, g.CSR} {
			for i := range s.Cells {
				view := s.View(i)
				ids, _ := view.Far(nil, 0, int(s.Cells[i].NNZ))
				want := slices.Clone(ids)
				slices.Sort(want)
				want = slices.Compact(want)
				got := s.OtherRows(i, g.Rows(i%s.P))
				if !slices.Equal(got, want) || s.Cells[i].Needs != len(want) {
					t.Fatalf("side %d cell %d: rows %v, %d counted, want %v", k, i, got, s.Cells[i].Needs, want)
				}
				of := st.CSC(i/s.P, i%s.P, w)
				if k == 1 {
					of = st.CSR(i/s.P, i%s.P, w)
				}
				if of.Bytes != s.Cells[i].Bytes {
					t.Fatalf("side %d cell %d: statistics say %d bytes, want %d", k, i, of.Bytes, s.Cells[i].Bytes)
				}
				if of.Needs != len(want) {
					t.Fatalf("side %d cell %d: statistics say %d rows, want %d", k, i, of.Needs, len(want))
				}
			}
		}
	})
}
