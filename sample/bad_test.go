package sample

import (
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
	var kept Int
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
		{Sampler{Steps: 1, Output: Layers, Score: func(e Edge) Real { return Sub(Const(0), e.Weight()) }}, []string{"Score of edge", "bad_test.go"}},
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
		{next(func(s Sample, at Pool, r Rand) Int { panic("mine") }), []string{"panicked: mine"}},
		{Sampler{Name: "sets", Steps: 2, Size: func(int) int { return 2 }, State: []Field{{Name: "x", Len: 1}},
			Next: func(s Sample, at Pool, r Rand) Int { s.Set("x", Whole(0), Whole(1)); return r.Pick(at) }}, []string{"Set by a sampler that draws more than once"}},
		{Sampler{Name: "path", Steps: 2, Output: Layers, Next: func(s Sample, at Pool, r Rand) Int { return If(Equal(s.Prev(1), None), None, r.Pick(at)) }}, []string{"no Prev"}},
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
	run := func(s Sampler, roots []uint32, first uint64) error {
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
	refused(t, run(DeepWalk(2), []uint32{20}, 0), "root 20", "0 to 19")
	refused(t, run(DeepWalk(2), []uint32{NoVertex}, 0), "root")
	refused(t, run(DeepWalk(2), []uint32{1, 2}, 1<<32-1), "2^32")
	refused(t, run(MultiRW(3, 2), []uint32{1, 2}, 0), "multiple of 3")
	refused(t, run(next(func(s Sample, at Pool, r Rand) Int { return at.Degree() }), []uint32{1}, 0), "place", "bad_test.go")
	refused(t, run(next(func(s Sample, at Pool, r Rand) Int { return s.Get("seen", Add(Whole(3), r.Below(Whole(2)))) }), []uint32{1}, 0), `state "seen"`, "bad_test.go")
	refused(t, run(next(func(s Sample, at Pool, r Rand) Int {
		return r.Reject(func(r Rand) (Int, Bool) { return r.Pick(at), Less(Const(2), r.Uniform()) })
	}), []uint32{1}, 0), "tries", "bad_test.go")
	endless := DeepWalk(1)
	endless.Steps = Unbounded
	ring := &chunk.Edges{V: 2, Src: []uint32{0, 1}, Dst: []uint32{1, 0}}
	g = mustGraph(t, ring)
	refused(t, run(endless, []uint32{0}, 0), "1048576 steps")
	defer func(n int64) { mostNumbers = n }(mostNumbers)
	mostNumbers = 1 << 16
	refused(t, run(endless, make([]uint32, 2000), 0), "32 steps", "draw fewer at a time")
	ring.Weight = []float32{1, -2}
	g = mustGraph(t, ring)
	_, err := Compile(g, DeepWalk(1))
	refused(t, err, "weight -2")
	_, err = Compile(g, WeightedNeighbours(1))
	refused(t, err, "is -2")
	if _, err := Compile(g, Neighbours(1)); err != nil {
		t.Errorf("weights do not matter: %v", err)
	}
	ring.Weight[1] = float32(math.NaN())
	if _, err := NewGraph(ring); err == nil {
		t.Error("a NaN weight is taken")
	}
}
