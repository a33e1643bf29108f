package dataset

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/internal/draw"

	"pgregory.net/rapid"
)

// TestLinksOfPast divides random graphs with times. Every edge that is no self loop is a pair of its part once, both directions of one time
// together; pairs ascend by time. A pair without an edge is none before its time, and its ends have been seen before or are the pair's own.
// Nothing from a time on changes a pair, or what is drawn for it, before this time.
func TestLinksOfPast(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		n, r := rapid.IntRange(8, 16).Draw(t, "vertices"), rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		e := &chunk.Edges{V: n}
		both := rapid.Bool().Draw(t, "both directions")
		for range rapid.IntRange(12, 40).Draw(t, "edges") {
			u, v, at := uint32(r.IntN(n)), uint32(r.IntN(n)), float64(r.IntN(8))
			e.Src, e.Dst, e.Time = append(e.Src, u), append(e.Dst, v), append(e.Time, at)
			if both {
				e.Src, e.Dst, e.Time = append(e.Src, v), append(e.Dst, u), append(e.Time, at)
			}
		}
		cut := TimeCut{float64(1 + r.IntN(3)), float64(4 + r.IntN(3))}
		d, err := LinksOfPast(&Data{Name: "g", Edges: e}, cut, 3)
		if err != nil {
			if !strings.Contains(err.Error(), "there is nothing for") {
				t.Fatal(err)
			}
			return
		}
		l := d.Targets.Links
		type pair struct {
			u, v uint32
			t    float64
		}
		want := map[pair]bool{}
		for k, u := range e.Src {
			if v := e.Dst[k]; u != v {
				want[pair{u, v, e.Time[k]}] = true
			}
		}
		for i, p := range []*Pairs{&l.Train, &l.Val, &l.Test} {
			if !slices.IsSorted(p.Time) {
				t.Fatalf("times %v", p.Time)
			}
			for k, u := range p.Src {
				x, back := pair{u, p.Dst[k], p.Time[k]}, pair{p.Dst[k], u, p.Time[k]}
				if !want[x] || cut.part(x.t) != i {
					t.Fatalf("part %d has %v, of edges %v", i, x, want)
				}
				delete(want, x)
				delete(want, back)
			}
		}
		if len(want) > 0 {
			t.Fatalf("%v in no part", want)
		}
		not := Pairs{Time: l.Train.Time}
		random := func(k int) func(int) uint64 {
			return func(try int) uint64 { return uint64(k*977+try+1) * 0x9e3779b97f4a7c15 }
		}
		for k := range l.Train.Src {
			not.add(l.past.Draw(&l.Train, k, random(k)))
		}
		checkNotYet(t, e, &l.Train, &not)
		checkNotYet(t, e, &l.Val, &l.NotVal)
		checkNotYet(t, e, &l.Test, &l.NotTest)

		other := *e // edges from a time on are others
		from := cut.Val + float64(r.IntN(4))
		other.Src = slices.Clone(e.Src)
		for k, at := range e.Time {
			if at >= from {
				other.Src[k] = uint32(r.IntN(n))
			}
		}
		x, err := LinksOfPast(&Data{Name: "g", Edges: &other}, cut, 3)
		if err != nil {
			return // a part is empty now
		}
		now := x.Targets.Links
		for i, p := range [][2]*Pairs{{&l.Train, &now.Train}, {&l.Val, &now.Val}, {&l.Test, &now.Test}, {&l.NotVal, &now.NotVal}, {&l.NotTest, &now.NotTest}} {
			until, _ := slices.BinarySearch(p[0].Time, from)
			if p[1].Len() < until || !slices.Equal(p[0].Src[:until], p[1].Src[:until]) || !slices.Equal(p[0].Dst[:until], p[1].Dst[:until]) {
				t.Fatalf("list %d: with other edges from %v on pairs before it are %v, and were %v", i, from, p[1], p[0])
			}
		}
		for k := range l.Train.Src {
			if u, v := now.past.Draw(&l.Train, k, random(k)); u != not.Src[k] || v != not.Dst[k] {
				t.Fatalf("with other edges from %v on %d %d is drawn for pair %d, and was %d %d", from, u, v, k, not.Src[k], not.Dst[k])
			}
		}
	})
}

// checkNotYet checks pairs without an edge that were drawn for pairs of e.
func checkNotYet(t *rapid.T, e *chunk.Edges, has, not *Pairs) {
	if !slices.Equal(has.Time, not.Time) {
		t.Fatalf("times %v of pairs without an edge, and %v of those with one", not.Time, has.Time)
	}
	any := 0 // drawn of any two vertices
	for k, u := range not.Src {
		v, at := not.Dst[k], not.Time[k]
		if u == v || u == has.Src[k] && v == has.Dst[k] {
			t.Fatalf("for pair %d (%d, %d) a pair %d %d was drawn", k, has.Src[k], has.Dst[k], u, v)
		}
		source, target, joined := u == has.Src[k], v == has.Dst[k], false
		for i, x := range e.Time {
			if x < at && e.Src[i] != e.Dst[i] {
				source, target = source || e.Src[i] == u, target || e.Dst[i] == v
				joined = joined || e.Src[i] == u && e.Dst[i] == v || e.Src[i] == v && e.Dst[i] == u
			}
		}
		if !source || !target || joined {
			any++
		}
	}
	if any > 0 && 2*any > len(has.Src)+8 { // there is often no such pair among so few vertices
		t.Fatalf("%d of %d pairs without an edge are of any two vertices", any, len(has.Src))
	}
}

// TestLinksOfPastSides: where users buy items, edges in one direction or in both, no pair is of two users or two items.
func TestLinksOfPastSides(t *testing.T) {
	for _, both := range []bool{false, true} {
		e, r := &chunk.Edges{V: 60}, rand.New(rand.NewPCG(2, 3))
		for k := range 400 {
			u, v := uint32(r.IntN(20)), uint32(20+r.IntN(40))
			e.Src, e.Dst, e.Time = append(e.Src, u), append(e.Dst, v), append(e.Time, float64(k))
			if both {
				e.Src, e.Dst, e.Time = append(e.Src, v), append(e.Dst, u), append(e.Time, float64(k))
			}
		}
		d, err := LinksOfPast(&Data{Name: "g", Edges: e}, TimeCut{250, 300}, 1)
		if err != nil {
			t.Fatal(err)
		}
		l, wrong, repeats := d.Targets.Links, 0, map[[2]uint32]bool{}
		for k := range l.Test.Src {
			if u, v := l.NotTest.Src[k], l.NotTest.Dst[k]; (u < 20) == (v < 20) {
				wrong++
			}
			repeats[[2]uint32{l.NotTest.Src[k], l.NotTest.Dst[k]}] = true
		}
		if l.Test.Len() != 100 || wrong > 0 || len(repeats) < 80 {
			t.Errorf("both %v: %d pairs, %d of the others of one side, %d differ", both, l.Test.Len(), wrong, len(repeats))
		}
	}
}

// TestSplitByTime divides labelled vertices and edges, links of a graph that is seen whole, and shares with ties.
func TestSplitByTime(t *testing.T) {
	e := &chunk.Edges{V: 6, Src: []uint32{0, 1, 1, 2, 3, 4, 0}, Dst: []uint32{1, 0, 2, 3, 4, 5, 0}, Time: []float64{1, 5, 2, 3, 4, 4, 9}}
	d := &Data{Name: "g", Edges: e, Labels: []int32{0, 1, -1, 0, 1, 0}, Classes: 2, EdgeLabels: []int32{0, 0, 1, 1, 0, 0, 1}}
	d.Vertices.Time = []float64{3, 1, 0, 2, 2, 9}
	cut := TimeCut{2, 3}
	for k, want := range map[LabelKind][3][]uint32{VertexLabels: {{1}, {3, 4}, {0, 5}}, EdgeLabels: {{0}, {2}, {1, 3, 4, 5, 6}}} {
		if err := SplitByTime(d, k, cut); err != nil {
			t.Fatal(err)
		}
		for i, ids := range d.Splits(k) {
			if !slices.Equal(ids, want[i]) {
				t.Errorf("%s: %v, want %v", k, d.Splits(k), want)
			}
		}
	}
	out, err := SplitLinksByTime(d, TimeCut{2, 4}, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := out.Targets.Links
	if l.Train.Len() != 1 || l.Val.Len() != 2 || l.Test.Len() != 2 || out.Edges.E() != 3 { // 0-1 in both directions, and the loop
		t.Errorf("links %v %v %v, %d edges pass messages", l.Train, l.Val, l.Test, out.Edges.E())
	}
	for want, f := range map[string]func() error{
		"there is nothing for testing":  func() error { return SplitByTime(d, VertexLabels, TimeCut{2, 10}) },
		"there is nothing for training": func() error { return SplitByTime(d, VertexLabels, TimeCut{0, 2}) },
		"not later than the second":     func() error { return SplitByTime(d, EdgeLabels, TimeCut{4, 2}) },
		"have no times (vertex_time)": func() error {
			none := *d
			none.Vertices.Time = nil
			return SplitByTime(&none, VertexLabels, cut)
		},
		"graphs have no times": func() error { return SplitByTime(d, GraphLabels, cut) },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	for _, c := range []struct {
		times []float64
		want  TimeCut
	}{{[]float64{9, 1, 2, 3, 4, 5, 6, 7, 8, 0}, TimeCut{8, 9}}, {[]float64{1, 1, 1, 1, 1, 1, 1, 2, 2, 3}, TimeCut{2, 3}}} {
		if got, err := CutByShares(c.times, 0.8, 0.1); err != nil || got != c.want {
			t.Errorf("%v: %v, want %v, error %v", c.times, got, c.want, err)
		}
	}
}

// TestValidateForNames: names of the columns of features are those of all vertices where some are looked at.
func TestValidateForNames(t *testing.T) {
	d := &Data{Name: "g", Edges: &chunk.Edges{V: 2}, Features: []float32{1, 2, 3, 4}, FeatureCols: 2}
	d.Schema.Features.Columns = []Column{{Name: "a"}, {Name: "b"}}
	if err := ValidateFor(d, []uint32{1}); err != nil {
		t.Error(err)
	}
	d.Schema.Features.Columns = []Column{{Name: "a"}}
	if err := ValidateFor(d, []uint32{1}); err == nil || !strings.Contains(err.Error(), "1 names for 2 columns of features") {
		t.Errorf("error %v", err)
	}
}
