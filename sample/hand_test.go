package sample

import (
	"math"
	"strings"
	"testing"

	"sagann/chunk"
)

// What Size panics with, at Compile and at a later step of unbounded ones, and graphs made by hand are errors.
func TestBadSizesAndGraphs(t *testing.T) {
	g := mustGraph(t, randomEdges(20, 60, 3))
	fanouts := []int{3}
	_, err := Compile(g, Sampler{Name: "mine", Steps: 2, Output: Layers, Size: func(step int) int { return fanouts[step] }})
	refused(t, err, "sampler mine", "hand_test.go", "Size(1) panicked", "index out of range")
	_, err = Compile(g, Sampler{Steps: 1 << 40, Next: func(_ Sample, at Pool, r Rand) Int { return r.Pick(at) }})
	refused(t, err, "1099511627776 steps: at most 1048576")
	for _, size := range []func(int) int{func(step int) int { return fanouts[step] }, func(step int) int { return 1 - step }, func(step int) int { return 1 + step<<30 }} {
		p, err := Compile(g, Sampler{Name: "long", Steps: Unbounded, Size: size, Next: func(_ Sample, at Pool, r Rand) Int { return r.Pick(at) }})
		if err != nil {
			t.Fatal(err)
		}
		var s Samples
		if err := p.Run(&s, []uint32{1, 2}, 0, Key{}); err == nil || !strings.Contains(err.Error(), "sampler long") {
			t.Errorf("%v", err)
		}
	}
	for _, x := range []struct {
		g    Graph
		want string
	}{
		{Graph{}, "Offsets begin with 0"},
		{Graph{Offsets: []int64{0, 2}, Far: []uint32{0}, Edge: []uint32{0}}, "Offsets begin with 0"},
		{Graph{Offsets: []int64{0, 1}, Far: []uint32{0}}, "1 far ends, 0 edge numbers"},
		{Graph{Offsets: []int64{0, 1}, Far: []uint32{0}, Edge: []uint32{0}, Weight: []float32{1, 2}}, "2 weights"},
		{Graph{Offsets: []int64{0, 2, 1}, Far: []uint32{0}, Edge: []uint32{0}}, "the row of vertex 0 is from 0 to 2"},
		{Graph{Offsets: []int64{0, 1}, Far: []uint32{7}, Edge: []uint32{0}}, "leads to vertex 0 from 7"},
		{Graph{Offsets: []int64{0, 2, 2}, Far: []uint32{1, 0}, Edge: []uint32{0, 1}}, "not sorted"},
		{Graph{Offsets: []int64{0, 2, 2}, Far: []uint32{1, 1}, Edge: []uint32{1, 1}}, "not sorted"},
	} {
		_, err := Compile(&x.g, Neighbours(2))
		refused(t, err, x.want)
	}
	if _, err := Compile(&Graph{Offsets: g.Offsets, Far: g.Far, Edge: g.Edge}, Neighbours(2)); err != nil {
		t.Error(err)
	}
}

// State changes at once and stays: every walk goes on only as long as its own count of steps is right, before and after Set.
func TestStateAtOnce(t *testing.T) {
	g := mustGraph(t, randomEdges(30, 400, 5))
	p, err := Compile(g, Sampler{Name: "counts", Steps: 6, State: []Field{{Name: "n", Len: 2}}, Next: func(s Sample, at Pool, r Rand) Int {
		before := s.Get("n", Whole(1))
		s.Set("n", Whole(1), Add(before, Whole(1)))
		s.Set("n", Whole(1), Add(s.Get("n", Whole(1)), Whole(2)))
		right := And(Equal(before, Mul(Whole(3), s.Step())), Equal(s.Get("n", Whole(1)), Add(before, Whole(3))))
		return If(right, r.Pick(at), None)
	}})
	if err != nil {
		t.Fatal(err)
	}
	var s Samples
	if err := p.Run(&s, []uint32{1, 2, 3}, 0, Key{Seed: 4}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if n := len(s.Vertices(nil, i)); n != 7 {
			t.Errorf("walk %d has %d vertices, want 7", i, n)
		}
	}
}

// Has knows numbers that no vertex has, also those that differ from a vertex's by 2³²: by strips, by the reference and in a Score.
func TestHasOfNoVertex(t *testing.T) {
	g := mustGraph(t, &chunk.Edges{V: 3, Src: []uint32{0, 2, 2}, Dst: []uint32{1, 1, 0}})
	for _, x := range []struct {
		v    int
		want bool
	}{{0, true}, {1, false}, {2, true}, {1 << 32, false}, {2 + 1<<32, false}, {2 - 1<<32, false}, {-1, false}, {3, false}, {int(NoVertex), false}, {math.MaxInt, false}} {
		for _, by := range []func() run{nil, func() run { return reference }} {
			p, err := Compile(g, Sampler{Name: "has", Steps: 1, Next: func(s Sample, at Pool, r Rand) Int {
				return If(s.Has(at.Vertex(), Add(Whole(x.v), Sub(s.Step(), s.Step()))), Whole(0), None)
			}})
			if err != nil {
				t.Fatal(err)
			}
			p.tools.by = by
			var s Samples
			if err := p.Run(&s, []uint32{1}, 0, Key{}); err != nil {
				t.Fatal(err)
			}
			if got := s.Steps[1][0] != NoVertex; got != x.want {
				t.Errorf("Has(1, %d) is %v", x.v, got)
			}
		}
	}
}
