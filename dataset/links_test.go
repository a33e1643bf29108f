package dataset

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
)

// Every pair without an edge in either direction, from a source to a target and in a bipartite graph across its sides,
// has one place among the non-edges, and no other pair has.
func TestNonEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		v := 1 + r.IntN(9)
		var src, dst []uint32
		has := map[[2]uint32]bool{}
		source, target := map[uint32]bool{}, map[uint32]bool{}
		bipartite := r.IntN(2) == 0
		for range r.IntN(3 * v * v / 2) {
			a, b := uint32(r.IntN(v)), uint32(r.IntN(v))
			if bipartite && a%2 == b%2 {
				continue
			}
			src, dst = append(src, a), append(dst, b)
			if has[[2]uint32{a, b}] = true; a != b {
				source[a], target[b] = true, true
			}
		}
		x := indexEdges(v, src, dst)
		side := sidesBySearch(v, src, dst)
		if (side == nil) != (x.sides() == nil) {
			t.Fatalf("%d vertices, edges %v %v: sides %v, want %v", v, src, dst, x.sides(), side)
		}
		sides := x.sides()
		n := endsOf(x).complement(v, src, dst)
		at := uint64(0)
		for a := range uint32(v) {
			for b := range uint32(v) {
				if a == b || has[[2]uint32{a, b}] || has[[2]uint32{b, a}] || !source[a] || !target[b] || sides != nil && sides[a] == sides[b] {
					continue
				}
				if x, y := n.At(at); x != a || y != b {
					t.Fatalf("%d vertices, edges %v %v: pair %d is (%d, %d), want (%d, %d)", v, src, dst, at, x, y, a, b)
				}
				at++
			}
		}
		if n.Count() != at {
			t.Fatalf("%d pairs, want %d", n.Count(), at)
		}
	}
}

// sidesBySearch tries all divisions of the vertices into two sides; nil: none keeps all edges between them.
func sidesBySearch(v int, src, dst []uint32) []uint8 {
	side := make([]uint8, v)
	for bits := range 1 << v {
		good := true
		for k := range src {
			good = good && (src[k] == dst[k] || bits>>src[k]&1 != bits>>dst[k]&1)
		}
		if good {
			return side
		}
	}
	return nil
}

// TestSides: sources are on side 0, whatever their numbers.
func TestSides(t *testing.T) {
	x := indexEdges(7, []uint32{3, 3, 4, 6}, []uint32{0, 1, 1, 5})
	if got := x.sides(); !slices.Equal(got, []uint8{1, 1, 0, 0, 0, 1, 0}) {
		t.Error(got)
	}
}

// TestNoPairOfIsolated: a vertex without edges is in no pair.
func TestNoPairOfIsolated(t *testing.T) {
	d := &Data{Name: "gaps", Edges: &chunk.Edges{V: 40}}
	r := rand.New(rand.NewPCG(8, 8))
	for range 100 {
		d.Edges.Src, d.Edges.Dst = append(d.Edges.Src, uint32(2*r.IntN(20))), append(d.Edges.Dst, uint32(2*r.IntN(20)))
	}
	s, err := SplitLinks(d, LinkShares{0.1, 0.3, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := s.Targets.Links
	for k := range uint64(1000) {
		u, v := l.NotKnown().Draw(k << 54)
		l.NotTest.add(u, v)
	}
	for k := range l.NotTest.Src {
		if l.NotTest.Src[k]%2+l.NotTest.Dst[k]%2 != 0 {
			t.Fatalf("pair (%d, %d)", l.NotTest.Src[k], l.NotTest.Dst[k])
		}
	}
}

// A split leaks nothing: no edge that is predicted in validation or testing passes messages, in
// either direction, and what was drawn as no edge is none.
func TestSplitLinks(t *testing.T) {
	directed := &Data{Name: "directed", Edges: &chunk.Edges{V: 60}}
	r := rand.New(rand.NewPCG(6, 6))
	for k := range 500 {
		directed.Edges.Src, directed.Edges.Dst = append(directed.Edges.Src, uint32(r.IntN(60))), append(directed.Edges.Dst, uint32(r.IntN(60)))
		directed.Edges.Weight = append(directed.Edges.Weight, float32(k))
	}
	half := &Data{Name: "one edge lacks its reverse", Edges: Karate().Edges}
	half.Edges.Src, half.Edges.Dst = half.Edges.Src[1:], half.Edges.Dst[1:]
	for _, d := range []*Data{Karate(), half, directed} {
		for _, share := range []float64{0, 0.3} {
			l, err := SplitLinks(d, LinkShares{0.1, 0.2, share}, 7)
			if err != nil {
				t.Fatal(err)
			}
			again, err := SplitLinks(d, LinkShares{0.1, 0.2, share}, 7)
			if err != nil {
				t.Fatal(err)
			}
			if err := Validate(l); err != nil {
				t.Fatal(err)
			}
			k, all, message := l.Targets.Links, indexEdges(d.Edges.V, d.Edges.Src, d.Edges.Dst), indexEdges(l.Edges.V, l.Edges.Src, l.Edges.Dst)
			count, turned := 0, 0
			for _, s := range []struct {
				p             *Pairs
				edge, passing bool
			}{{&k.Train, true, share == 0}, {&k.Val, true, false}, {&k.Test, true, false}, {&k.NotVal, false, false}, {&k.NotTest, false, false}} {
				for i := range s.p.Src {
					u, v := s.p.Src[i], s.p.Dst[i]
					back := all.find(v, u) >= 0
					if (all.find(u, v) >= 0) != s.edge || (message.find(u, v) >= 0) != s.passing || back && (message.find(v, u) >= 0) != s.passing || back && !s.edge {
						t.Fatalf("%s, share %v: (%d, %d) stands in the wrong place", d.Name, share, u, v)
					}
				}
				if s.edge {
					count += s.p.Len()
					for i := range s.p.Src {
						if s.p.Src[i] > s.p.Dst[i] {
							turned++
						}
					}
				}
			}
			if k.Val.Len() != k.NotVal.Len() || k.Test.Len() != k.NotTest.Len() || again.Targets.Links.Test.Src[0] != k.Test.Src[0] {
				t.Errorf("%s: %d and %d pairs, %d and %d", d.Name, k.Val.Len(), k.NotVal.Len(), k.Test.Len(), k.NotTest.Len())
			}
			if want := 78; d != directed && share == 0 && (count != want || turned < 25 || turned > 53) {
				t.Errorf("%d of %d edges were dealt out, %d of them from the larger number to the smaller", count, want, turned)
			}
		}
	}
}

func TestBadLinks(t *testing.T) {
	complete := &Data{Name: "complete", Edges: &chunk.Edges{V: 8}}
	for u := range uint32(8) {
		for v := range uint32(8) {
			if u != v {
				complete.Edges.Src, complete.Edges.Dst = append(complete.Edges.Src, u), append(complete.Edges.Dst, v)
			}
		}
	}
	few := &Data{Name: "few", Edges: &chunk.Edges{V: 4, Src: []uint32{0, 1}, Dst: []uint32{1, 2}}}
	for _, c := range []struct {
		d    *Data
		s    LinkShares
		want string
	}{
		{complete, LinkShares{0.2, 0.2, 0}, "every pair of vertices has an edge that could have one"},
		{few, LinkShares{0.1, 0.1, 0}, "2 edges are too few"},
		{Karate(), LinkShares{0, 0.1, 0}, "each must be above 0"},
		{Karate(), LinkShares{0.6, 0.5, 0}, "together below 1"},
		{Karate(), LinkShares{0.1, 0.1, 1}, "from 0 to below 1"},
	} {
		if _, err := SplitLinks(c.d, c.s, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	d := *Karate()
	d.Targets.Links = &Links{}
	if err := Validate(&d); err == nil || !strings.Contains(err.Error(), "test split of links is empty") {
		t.Errorf("%v", err)
	}
}
