package sample

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"sagann/chunk"
)

// refused checks that an error has these words, and by a function of this file names it.
func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("taken; want an error with %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q lacks %q", err, w)
		}
	}
}

func TestBadSamplers(t *testing.T) {
	g := mustGraph(t, randomEdges(20, 60, 3))
	next := func(f func(s Sample, at Pool, r Rand) Int) Sampler {
		return Sampler{Name: "mine", Steps: 2, Next: f, State: []Field{{Name: "seen", Len: 3}}}
	}
	var kept, passed Int
	for _, c := range []struct {
		s     Sampler
		words []string
	}{
		{Neighbours(), []string{"0 steps"}},
		{Neighbours(3, 0), []string{"0 draws at step 2"}},
		{Neighbours(-1), []string{"-1 draws"}},
		{DeepWalk(0), []string{"0 steps"}},
		{Node2vec(5, 0, 1), []string{"p is 0", "bad_test.go"}},
		{Node2vec(5, 1, float32(math.NaN())), []string{"q is NaN"}},
		{PPR(0), []string{"stop is 0"}},
		{MultiRW(0, 5), []string{"0 roots"}},
		{PinSAGE(1, 2, 0, 3), []string{"Top"}},
		{Sampler{Steps: 1, Over: Everywhere, Output: Layers}, []string{"Score"}},
		{Sampler{Steps: 1, Output: Layers, Score: func(e Edge) Real { return Sub(Const(0), e.Weight()) }}, []string{"has the Score", "bad_test.go"}},
		{Sampler{Steps: 1, Output: Layers, Score: func(e Edge) Real { return e.Probability() }}, []string{"Probability in a Score", "bad_test.go"}},
		{next(func(s Sample, at Pool, r Rand) Int { return s.Get("seen", Whole(3)) }), []string{"number 3", "bad_test.go"}},
		{next(func(s Sample, at Pool, r Rand) Int { return s.Get("other", Whole(0)) }), []string{`"other"`}},
		{next(func(s Sample, at Pool, r Rand) Int {
			return r.Reject(func(Rand) (Int, Bool) { return Whole(0), Less(Const(1), at.MaxWeight()) })
		}), []string{"draws nothing", "bad_test.go"}},
		{next(func(s Sample, at Pool, r Rand) Int {
			return r.Reject(func(r Rand) (Int, Bool) {
				return r.Reject(func(r Rand) (Int, Bool) { return r.Pick(at), Less(Const(1), Const(2)) }), Less(Const(1), Const(2))
			})
		}), []string{"inside a Reject"}},
		{next(func(s Sample, at Pool, r Rand) Int { kept = r.Pick(at); return kept }), nil},
		{next(func(s Sample, at Pool, r Rand) Int { return Add(kept, r.Pick(at)) }), []string{"another function"}},
		{Sampler{Name: "passes", Steps: 2, Transits: func(s Sample, i Int, r Rand) Int { passed = s.Prev(1); return passed },
			Next: func(s Sample, at Pool, r Rand) Int { return If(Less(passed, Whole(3)), r.Pick(at), None) }}, []string{"belongs to the function", "bad_test.go"}},
		{Sampler{Name: "returns", Steps: 2, Transits: func(s Sample, i Int, r Rand) Int { return kept },
			Next: func(s Sample, at Pool, r Rand) Int { kept = r.Pick(at); return kept }}, []string{"another function", "bad_test.go"}},
		{next(func(s Sample, at Pool, r Rand) Int { return Add(Int{}, Whole(1)) }), []string{"nothing has set", "bad_test.go"}},
		{next(func(s Sample, at Pool, r Rand) Int { panic("mine") }), []string{"panicked: mine"}},
		{Sampler{Name: "sets", Steps: 2, Size: func(int) int { return 2 }, State: []Field{{Name: "x", Len: 1}},
			Next: func(s Sample, at Pool, r Rand) Int { s.Set("x", Whole(0), Whole(1)); return r.Pick(at) }}, []string{"Set by a sampler that draws more than once"}},
		{Sampler{Name: "path", Steps: 2, Output: Layers, Next: func(s Sample, at Pool, r Rand) Int { return If(Equal(s.Prev(1), None), None, r.Pick(at)) }}, []string{"no Prev"}},
		{Sampler{Name: "jumps", Steps: 1, Output: Layers, Transits: func(s Sample, _ Int, _ Rand) Int { return s.Root(Whole(0)) }}, []string{"Transits", "every vertex so far", "Steps"}},
		{Sampler{Name: "jumps", Steps: 1, Output: Apart, Transits: func(s Sample, _ Int, _ Rand) Int { return s.Root(Whole(0)) }}, []string{"Transits"}},
		{Sampler{Name: "roots", Steps: 1, Output: Layers, Roots: 2}, []string{"Roots is 2"}},
		{Sampler{Name: "roots", Steps: 1, Output: Apart, Roots: 2, Next: DeepWalk(1).Next}, []string{"Roots is 2"}},
		{Sampler{Name: "most", Steps: 1, Output: Layers, Most: 9}, []string{"Most bounds"}},
		{Sampler{Name: "loops", Steps: 1, KeepLoops: true}, []string{"KeepLoops"}},
		{Sampler{Name: "normal", Steps: 1, Output: Layers, RowNormal: true}, []string{"RowNormal", "EdgeWeight"}},
		{Sampler{Name: "state", Steps: 1, Output: Layers, Over: Collective, State: []Field{{Name: "seen", Len: 3}},
			Next: func(s Sample, at Pool, r Rand) Int { return s.Get("seen", Whole(0)) }}, []string{"state", "bad_test.go"}},
		{Sampler{Name: "root", Steps: 2, Output: Layers, Over: Collective, Next: func(s Sample, at Pool, r Rand) Int { return s.Prev(1) }}, []string{"no Prev", "bad_test.go"}},
	} {
		_, err := Compile(g, c.s)
		if c.words == nil {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		refused(t, err, c.words...)
	}
}

func TestBadRuns(t *testing.T) {
	e := randomEdges(20, 200, 3)
	g := mustGraph(t, e)
	drawn := func(s Sampler, roots []uint32, first uint64) error {
		p, err := Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		var out Samples
		return p.Run(&out, roots, first, Key{})
	}
	next := func(f func(s Sample, at Pool, r Rand) Int) Sampler {
		return Sampler{Name: "mine", Steps: 2, Next: f, State: []Field{{Name: "seen", Len: 3}}}
	}
	refused(t, drawn(DeepWalk(2), []uint32{20}, 0), "root 20", "0 to 19")
	refused(t, drawn(DeepWalk(2), []uint32{NoVertex}, 0), "root")
	refused(t, drawn(DeepWalk(2), []uint32{1, 2}, 1<<32-1), "2^32")
	refused(t, drawn(MultiRW(3, 2), []uint32{1, 2}, 0), "multiple of 3")
	refused(t, drawn(next(func(s Sample, at Pool, r Rand) Int { return at.Degree() }), []uint32{1}, 0), "place", "bad_test.go")
	refused(t, drawn(next(func(s Sample, at Pool, r Rand) Int { return s.Get("seen", Add(Whole(3), r.Below(Whole(2)))) }), []uint32{1}, 0), `state "seen"`, "bad_test.go")
	refused(t, drawn(next(func(s Sample, at Pool, r Rand) Int {
		return r.Reject(func(r Rand) (Int, Bool) { return r.Pick(at), Less(Const(2), r.Uniform()) })
	}), []uint32{1}, 0), "tries", "bad_test.go")
	refused(t, drawn(next(func(s Sample, at Pool, r Rand) Int { return Whole(99) }), []uint32{1}, 0), "sampler mine: bad_test.go:", "place 99")
	many := make([]uint32, 3000) // several strips, on several goroutines
	for i := range many {
		many[i] = uint32(i % 20)
	}
	for _, v := range []int{20, 77, -2, -5, math.MaxUint32, 1 << 40} {
		for name, f := range map[string]func(s Sample, i Int, r Rand) Int{
			"literal":  func(s Sample, i Int, r Rand) Int { return Whole(v) },
			"computed": func(s Sample, i Int, r Rand) Int { return If(Equal(s.Root(Whole(0)), Whole(7)), Whole(v), s.Prev(1)) },
		} {
			jump := Sampler{Name: name, Steps: 2, Transits: f, Next: func(s Sample, at Pool, r Rand) Int { return r.Pick(at) }}
			words := []string{"sampler " + name + ": bad_test.go:", fmt.Sprintf("vertex %d of a graph with 20 vertices", v), "None"}
			refused(t, drawn(jump, many, 0), words...)
			p, err := Compile(g, jump)
			if err != nil {
				t.Fatal(err)
			}
			p.tools.by = func() run { return reference }
			refused(t, p.Run(&Samples{}, many, 0, Key{}), words...)
		}
	}
	endless := DeepWalk(1)
	endless.Steps = Unbounded
	ring := &chunk.Edges{V: 2, Src: []uint32{0, 1}, Dst: []uint32{1, 0}}
	g = mustGraph(t, ring)
	refused(t, drawn(endless, []uint32{0}, 0), "1048576 steps")
	defer func(n int64) { mostNumbers = n }(mostNumbers)
	mostNumbers = 1 << 16
	refused(t, drawn(endless, make([]uint32, 2000), 0), "32 steps", "draw fewer at a time")
	ring.Weight = []float32{1, -2}
	g = mustGraph(t, ring)
	_, err := Compile(g, DeepWalk(1))
	refused(t, err, "weight -2")
	_, err = Compile(g, WeightedNeighbours(1))
	refused(t, err, "edge 1 has weight -2")
	if _, err := Compile(g, Neighbours(1)); err != nil {
		t.Errorf("weights do not matter: %v", err)
	}
	ring.Weight[1] = float32(math.NaN())
	if _, err := NewGraph(ring); err == nil {
		t.Error("a NaN weight is taken")
	}
}
