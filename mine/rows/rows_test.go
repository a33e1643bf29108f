package rows

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"

	"sagann/chunk"
)

// TestRows compares rows in both orders with a matrix.
func TestRows(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "vertices")
		dense := rapid.IntRange(0, 100).Draw(t, "percent")
		e := &chunk.Edges{V: n}
		var adj [70][70]bool
		var loops, repeats int64
		times := rapid.IntRange(1, 2).Draw(t, "times")
		for i := range n {
			for j := range n {
				if i > j || (i*31+j*17)%100 >= dense {
					continue
				}
				for k := range times {
					e.Src, e.Dst = append(e.Src, uint32(i)), append(e.Dst, uint32(j))
					if i == j {
						loops++
						continue
					}
					e.Src, e.Dst = append(e.Src, uint32(j)), append(e.Dst, uint32(i))
					if k > 0 {
						repeats += 2
					}
				}
				adj[i][j], adj[j][i] = i != j, i != j
			}
		}
		r, d, err := FromEdges(e)
		if err != nil || d != (Dropped{loops, repeats}) {
			t.Fatalf("%+v, %v; want %d loops, %d repeats", d, err, loops, repeats)
		}
		r.Label = make([]int32, n)
		for i := range r.Label {
			r.Label[i] = int32(i)
		}
		s := r.ByDegree()
		if s.Bytes() != r.Bytes()+4*int64(n) {
			t.Fatalf("%d and %d bytes", r.Bytes(), s.Bytes())
		}
		for _, g := range []*Rows{r, s} {
			for v := range uint32(n) {
				row := g.Of(v)
				if !slices.IsSorted(row) || len(g.Below(v))+len(g.Above(v)) != len(row) || g.Label[v] != int32(g.User(v)) {
					t.Fatalf("row %d: %v", v, row)
				}
				for w := range uint32(n) {
					want := adj[g.User(v)][g.User(w)]
					hub := g.HubBits(v)
					if g.Has(v, w) != want || slices.Contains(row, w) != want || hub != nil && (hub[w>>6]>>(w&63)&1 == 1) != want {
						t.Fatalf("%d and %d adjacent: want %v", v, w, want)
					}
					if slices.Contains(g.Above(v), w) != (want && w > v) {
						t.Fatalf("%d above %d", w, v)
					}
				}
				if v > 0 && g == s && (s.Degree(v-1) > s.Degree(v) || s.Degree(v-1) == s.Degree(v) && s.User(v-1) > s.User(v)) {
					t.Fatalf("%d and %d are out of order", v-1, v)
				}
			}
		}
	})
}

func TestDirected(t *testing.T) {
	for _, c := range []struct {
		src, dst []uint32
		want     DirectedError
	}{
		{[]uint32{0}, []uint32{1}, DirectedError{0, 1}},
		{[]uint32{0, 1, 1, 2, 3}, []uint32{1, 0, 2, 1, 1}, DirectedError{3, 1}},
		{[]uint32{3, 0, 1, 2}, []uint32{2, 1, 0, 2}, DirectedError{3, 2}},
		{[]uint32{0, 1, 0, 0}, []uint32{1, 0, 2, 2}, DirectedError{0, 2}},
	} {
		_, _, err := FromEdges(&chunk.Edges{V: 4, Src: c.src, Dst: c.dst})
		var d *DirectedError
		if !errors.As(err, &d) || *d != c.want {
			t.Errorf("%v to %v: error %v, want %v", c.src, c.dst, err, &c.want)
		}
	}
}
