package sample

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"runtime"
	"slices"
	"testing"

	"sagann/chunk"
)

// every is all samplers, small.
func every() []Sampler {
	tree := Sampler{Name: "tree", Steps: 2, Size: func(step int) int { return 3 - step }, Unique: InStep,
		Next: func(s Sample, at Pool, r Rand) Int {
			return If(Less(r.Uniform(), Const(0.1)), None, If(s.Has(at.Vertex(), s.Prev(1)), r.Pick(at), r.PickWeighted(at)))
		}}
	numbers := Sampler{Name: "numbers", Steps: 6, Roots: 2, Width: 2, State: []Field{{Name: "seen", Len: 2, Roots: true}},
		Transits: func(s Sample, i Int, r Rand) Int {
			return If(And(Less(r.Uniform(), Const(0.3)), Not(Equal(s.Prev(1), None))), s.Prev(1), s.Get("seen", Min(i, Whole(1))))
		},
		Next: func(s Sample, at Pool, r Rand) Int {
			i := r.Below(Sub(Add(at.Degree(), Whole(1)), Whole(1)))
			share := Div(Sub(at.WeightBefore(i), Const(0.25)), Add(Max(at.MaxWeight(), Const(1)), ToReal(Mul(s.Draw(), s.Step()))))
			other := Max(Whole(0), Div(Sub(at.Degree(), Whole(1)), Whole(2)))
			return If(Or(Less(share, Min(Const(1.5), at.Weight(i))), Equal(share, Const(2))), i, If(Less(s.Len(), Whole(9)), other, None))
		}}
	again := Neighbours(4, 3)
	again.Replace, again.KeepLoops = true, true
	byNext := Sampler{Name: "next", Steps: 2, Output: Layers, Size: func(int) int { return 3 }, Next: DeepWalk(1).Next}
	list := []Sampler{tree, numbers, again, byNext, Neighbours(5, 3), WeightedNeighbours(4, 2), DeepWalk(20), PPR(0.2), Node2vec(15, 2, 0.5), MultiRW(3, 20),
		Layer(4, 12), LayerBlocks(6, 6), FastGCN(6, 6), LADIES(6, 6), MVS(4), ClusterGCN(), SAINT(3), ShaDow(2, 3), PinSAGE(2, 5, 3, 2)}
	for _, m := range []Method{Inverse, Rejection, Race} {
		w := WeightedNeighbours(4, 2)
		w.Method = m
		list = append(list, w)
		if m != Race {
			d := DeepWalk(8)
			d.Method = m
			list = append(list, d)
		}
	}
	return list
}

func put(h hash.Hash, list any) {
	if err := binary.Write(h, binary.LittleEndian, list); err != nil {
		panic(err)
	}
}

// hashOf draws samples in pieces of the size given, from the first to the last or the
// other way, and hashes them.
func hashOf(t *testing.T, p *Program, piece int, backwards bool) string {
	t.Helper()
	const n = 96
	sums := make([][]byte, n)
	roots := p.Roots(n, 0, Key{Seed: 2})
	r := p.s.roots()
	for lo := 0; lo < n; lo += piece {
		at := lo
		if backwards {
			at = n - lo - piece
		}
		var s Samples
		if p.s.Output == Steps {
			if err := p.Run(&s, roots[at*r:(at+piece)*r], uint64(at), Key{Seed: 6, Epoch: 1}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range piece {
			h := sha256.New()
			if p.s.Output == Steps {
				put(h, s.Vertices(nil, i))
			} else {
				var b Blocks
				seeds := []uint32{uint32(at + i), uint32(n + at + i), 1}
				if at+i == 1 {
					seeds = seeds[1:2]
				}
				if err := p.Blocks(&b, seeds, Key{Seed: 6, Epoch: 1, Batch: uint32(at + i)}); err != nil {
					t.Fatal(err)
				}
				put(h, b.Vertices)
				for _, l := range b.Layers {
					put(h, l.Offsets)
					put(h, l.Far)
					put(h, l.Edge)
					put(h, l.Weight)
				}
			}
			sums[at+i] = h.Sum(nil)
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256(slices.Concat(sums...)))
}

// TestSameSamples: one hash for the reference, strips, numbers of threads and orders of batches.
func TestSameSamples(t *testing.T) {
	g := mustGraph(t, randomEdges(400, 4000, 7))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for i, s := range every() {
		p, err := Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		p.tools.by = func() run { return reference }
		want := hashOf(t, p, 96, false)
		for _, threads := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(threads)
			p, err := Compile(g, s)
			if err != nil {
				t.Fatal(err)
			}
			for _, piece := range []int{96, 8} {
				if got := hashOf(t, p, piece, piece == 8); got != want {
					t.Errorf("%s (%d): %d threads, pieces of %d: another hash than the reference", s.Name, i, threads, piece)
				}
			}
		}
		runtime.GOMAXPROCS(1)
	}
}

// patchyGraphs are a random graph with weights, one that has vertices without edges and rows without weight, and the latter without weights.
func patchyGraphs(t *testing.T) []*Graph {
	t.Helper()
	some := randomEdges(3000, 20000, 8)
	for k := range some.Weight {
		if some.Dst[k]%7 == 0 {
			some.Weight[k] = 0
		}
		some.Dst[k] = min(some.Dst[k], 2900)
	}
	plain := *some
	plain.Weight = nil
	return []*Graph{mustGraph(t, randomEdges(3000, 20000, 8)), mustGraph(t, some), mustGraph(t, &plain)}
}

// Many samples fill several strips. Walks with loops of their own draw as the reference does, on graphs with and without weights,
// vertices without edges, and rows without weight.
func TestManyWalks(t *testing.T) {
	short, bounded, apart := DeepWalk(9), PPR(0.05), Node2vec(12, 2, 0.5)
	short.Most, bounded.Steps, apart.Method = 5, 30, Inverse
	for _, g := range patchyGraphs(t) {
		for _, s := range []Sampler{DeepWalk(9), short, Node2vec(6, 0.5, 2), Node2vec(9, 2, 0.5), Node2vec(6, 1, 1), Node2vec(6, 4, 3), apart, PPR(0.3), bounded} {
			var a, b Samples
			for _, out := range []*Samples{&a, &b} {
				p, err := Compile(g, s)
				if err != nil {
					t.Fatal(err)
				}
				if out == &b {
					p.tools.by = func() run { return reference }
				}
				if w := p.plainWalk(); (w != nil) != (s.Most == 0 && (s.Method == Alias || g.Weight == nil)) || w != nil && (w.second != nil) != (s.Name == "node2vec") {
					t.Errorf("%s: its trace is not known as what it is: %+v", s.Name, w)
				}
				for epoch := range uint32(2) { // the second takes the memory of the first
					key := Key{Seed: 1, Epoch: epoch}
					if err := p.Run(out, p.Roots(3000, 0, key), 0, key); err != nil {
						t.Fatal(err)
					}
				}
			}
			if fmt.Sprint(a.N, a.Steps, a.Widths) != fmt.Sprint(b.N, b.Steps, b.Widths) {
				t.Errorf("%s: strips differ from the reference", s.Name)
			}
			for i := range a.N { // every step is an edge
				walk := a.Vertices(nil, i)
				for k := 1; k < len(walk); k++ {
					if far, _ := g.row(walk[k-1]); !slices.Contains(far, walk[k]) {
						t.Fatalf("%s: no edge from %d to %d", s.Name, walk[k-1], walk[k])
					}
				}
			}
		}
	}
}

// The last vertices of walks may be the roots of the next, drawn into the same memory.
func TestWalksGoOn(t *testing.T) {
	ring := &chunk.Edges{V: 10}
	for v := range uint32(10) {
		ring.Src, ring.Dst = append(ring.Src, (v+1)%10), append(ring.Dst, v)
	}
	p, err := Compile(mustGraph(t, ring), DeepWalk(3))
	if err != nil {
		t.Fatal(err)
	}
	var s Samples
	roots := []uint32{4, 9}
	for range 3 {
		if err := p.Run(&s, roots, 0, Key{}); err != nil {
			t.Fatal(err)
		}
		roots = s.Steps[2]
	}
	if fmt.Sprint(s.Steps) != "[[8 3] [9 4] [0 5] [1 6]]" {
		t.Errorf("walks on a ring are %v", s.Steps)
	}
}
