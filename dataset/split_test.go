package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sagann/chunk"
)

// TestEdgesTogether divides edges of which some have their reverse, or a twin, and looks where these went.
func TestEdgesTogether(t *testing.T) {
	type pair struct{ u, v uint32 }
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := &Data{Name: "pairs", Edges: &chunk.Edges{V: 40}}
		add := func(u, v uint32, label int32) {
			d.Edges.Src, d.Edges.Dst = append(d.Edges.Src, u), append(d.Edges.Dst, v)
			d.EdgeLabels = append(d.EdgeLabels, label)
		}
		for range 150 {
			u, v, c := uint32(r.IntN(40)), uint32(r.IntN(40)), int32(r.IntN(4))-1
			add(u, v, c)
			if twin := r.IntN(3); twin == 1 {
				add(v, u, c)
			} else if twin == 2 {
				add(u, v, c)
			}
		}
		if err := RandomSplitOf(d, EdgeLabels, 0.6, 0.2, seed); err != nil {
			t.Fatal(err)
		}
		if err := ValidateLabels(d, EdgeLabels); err != nil {
			t.Fatal(err)
		}
		part, twins, all := map[pair]int{}, 0, 0
		sizes := d.Splits(EdgeLabels)
		for i, ids := range sizes {
			for _, e := range ids {
				u, v := d.Edges.Src[e], d.Edges.Dst[e]
				p := pair{min(u, v), max(u, v)}
				if was := part[p]; was != 0 && was != i+1 {
					t.Fatalf("seed %d: edges between %d and %d are in parts %d and %d", seed, p.u, p.v, was, i+1)
				} else if was != 0 {
					twins++
				}
				part[p] = i + 1
				all++
			}
		}
		if want := countLabelled(d, EdgeLabels); all != want {
			t.Errorf("seed %d: %d of %d edges are divided", seed, all, want)
		}
		for i, share := range []float64{0.6, 0.2, 0.2} {
			if n := float64(len(sizes[i])); n < share*float64(all)-15 || n > share*float64(all)+15 {
				t.Errorf("seed %d: part %d has %v of %d edges", seed, i, n, all)
			}
		}
		said := fmt.Sprintf("%d edges between two vertices that another edge joins", twins)
		if !slices.ContainsFunc(d.Report.Changes, func(c string) bool { return len(c) > len(said) && c[:len(said)] == said }) || len(d.Report.Changes) != 1 {
			t.Errorf("seed %d: %q, want %q", seed, d.Report.Changes, said)
		}
		if n := EdgesApart(d); n != 0 {
			t.Errorf("seed %d: %d edges apart", seed, n)
		}
		// Another split takes the words of the first one back.
		if err := RandomSplitOf(d, EdgeLabels, 0.5, 0.2, seed); err != nil || len(d.Report.Changes) != 1 {
			t.Errorf("seed %d: %v, %q", seed, err, d.Report.Changes)
		}
	}
	d := &Data{Edges: &chunk.Edges{V: 4, Src: []uint32{0, 1, 1, 2, 3, 0}, Dst: []uint32{1, 0, 2, 3, 2, 1}},
		EdgeSplit: Split{Train: []uint32{0, 2}, Val: []uint32{1, 3}, Test: []uint32{4, 5}}}
	if n := EdgesApart(d); n != 3 {
		t.Errorf("%d edges apart, want 1, 4 and 5", n)
	}
}
