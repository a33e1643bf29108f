package sample

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"sagann/chunk"
)

// TestFilterEdges: the edges from a set are those that its numbers say, whatever ids share the filter's bits, and nothing of a set stays in the filter.
func TestFilterEdges(t *testing.T) {
	g := mustGraph(t, randomEdges(5000, 60000, 3))
	r := rand.New(rand.NewPCG(1, 2))
	numbers, f := make([]int32, g.Vertices()), &filter{}
	others := 0
	for _, n := range []int{1, 700, 3, 40, 5000, 0, 12} {
		f.room(n, g.Vertices())
		set := r.Perm(g.Vertices())[:n]
		for i, v := range set {
			numbers[v] = int32(i) + 1
			f.add(uint32(v))
		}
		for v := range uint32(g.Vertices()) {
			var want []int64
			for at := g.Offsets[v]; at < g.Offsets[v+1]; at++ {
				u := g.Far[at]
				if numbers[u] != 0 {
					want = append(want, at)
				} else if f.bits[u&f.mask>>6]>>(u&63)&1 != 0 {
					others++
				}
			}
			if got := f.edges(nil, g, v, numbers); !slices.Equal(got, want) {
				t.Fatalf("%d vertices: edges %v of the row of %d, want %v", n, got, v, want)
			}
		}
		for _, v := range set {
			numbers[v] = 0
			f.clear(uint32(v))
		}
		if slices.ContainsFunc(f.bits, func(w uint64) bool { return w != 0 }) {
			t.Fatalf("bits of %d vertices stay in the filter", n)
		}
	}
	if others == 0 {
		t.Error("no id shared a bit with another")
	}
}

// TestDrawnEdges: a level that is drawn as a whole has all edges from what was drawn for it, in the order of rows, and only
// those, in a graph whose filters are smaller than its ids.
func TestDrawnEdges(t *testing.T) {
	g := mustGraph(t, randomEdges(5000, 100000, 4).WithSelfLoops())
	seeds := []uint32{4999, 17, 2048, 17 + 512, 17 + 1024, 3, 77}
	for _, s := range []Sampler{LADIES(5, 6), FastGCN(400, 300), LayerBlocks(5, 7)} {
		p, err := Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		var b Blocks
		found := 0
		for batch := range uint32(20) {
			if err := p.Blocks(&b, seeds, Key{Seed: 3, Batch: batch}); err != nil {
				t.Fatal(err)
			}
			for l := range b.Layers {
				x, from := &b.Layers[l], map[uint32]bool{}
				for _, f := range x.Far {
					from[b.Vertices[f]] = true
				}
				for i, v := range b.Vertices[:b.Counts[l]] {
					var want []uint32
					for at := g.Offsets[v]; at < g.Offsets[v+1]; at++ {
						if from[g.Far[at]] {
							want = append(want, g.Edge[at])
						}
					}
					if got := x.Edge[x.Offsets[i]:x.Offsets[i+1]]; !slices.Equal(got, want) {
						t.Fatalf("%s, batch %d, level %d: edges %v into %d, want %v", s.Name, batch, l, got, v, want)
					}
				}
				found += len(x.Far)
			}
		}
		if found < 20 {
			t.Errorf("%s: only %d edges", s.Name, found)
		}
	}
}

// TestMostVisited compares rows of visits with lists that are sorted as a whole.
func TestMostVisited(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var x visits
	for i := range 3000 {
		p := &Program{s: Sampler{Top: 1 + r.IntN(12)}}
		list := make([]uint32, r.IntN(90))
		few := 1 + r.IntN(60)
		for j := range list {
			list[j] = uint32(r.IntN(few)) * 0x4000001 // far apart, and at like places of small tables
		}
		times := map[uint32]int{}
		for _, v := range list {
			times[v]++
		}
		var order []uint32
		for v := range times {
			order = append(order, v)
		}
		slices.SortFunc(order, func(a, b uint32) int {
			if times[a] != times[b] {
				return times[b] - times[a]
			}
			return int(int64(a) - int64(b))
		})
		order = order[:min(len(order), p.s.Top)]
		slices.Sort(order)
		sum := 0
		for _, v := range order {
			sum += times[v]
		}
		want := Block{Offsets: []int64{0, int64(len(order))}}
		for _, v := range order {
			want.Far, want.Weight = append(want.Far, int32(v)), append(want.Weight, float32(times[v])/float32(sum))
		}
		got := Block{Offsets: []int64{0}}
		if p.mostVisited(&x, &got, list); !reflect.DeepEqual(got, want) {
			t.Fatalf("list %d, the %d most visited: %v, want %v", i, p.s.Top, got, want)
		}
	}
}

// A walk ends where no edge has weight, also if all walks beside it go on.
func TestWeightlessRow(t *testing.T) {
	g := mustGraph(t, &chunk.Edges{V: 3, Src: []uint32{1, 2, 0}, Dst: []uint32{0, 1, 2}, Weight: []float32{1, 0, 1}})
	p, err := Compile(g, DeepWalk(3))
	if err != nil {
		t.Fatal(err)
	}
	for _, roots := range [][]uint32{{1}, {0, 1, 2}, {2, 0}} {
		s := Samples{Steps: [][]uint32{nil, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}} // memory of samples before
		if err := p.Run(&s, roots, 0, Key{}); err != nil {
			t.Fatal(err)
		}
		for i, v := range roots {
			if got, want := s.Vertices(nil, i), map[uint32][]uint32{0: {0, 1}, 1: {1}, 2: {2, 0, 1}}[v]; !slices.Equal(got, want) {
				t.Errorf("from %v: walk %v, want %v", roots, got, want)
			}
		}
	}
}

// TestManyVisits: rows of visits of more vertices than a strip has are those of the reference, where the walks are loops of their own and where they are
// not, on graphs with and without weights, vertices without edges and rows without weight; and memory that is used again changes none.
func TestManyVisits(t *testing.T) {
	inverse, second, stops := PinSAGE(2, 5, 3, 4), PinSAGE(1, 4, 5, 3), PinSAGE(1, 6, 4, 2)
	inverse.Method, second.Next, stops.Next = Inverse, Node2vec(5, 0.5, 2).Next, PPR(0.3).Next
	state := PinSAGE(1, 1, 6, 3)
	state.State = []Field{{Name: "moves", Len: 1}}
	state.Next = func(s Sample, at Pool, r Rand) Int {
		n := s.Get("moves", Whole(0))
		s.Set("moves", Whole(0), Add(n, Whole(1)))
		return If(Less(ToReal(n), Const(3)), r.PickWeighted(at), None)
	}
	seeds := make([]uint32, 2500)
	for i := range seeds {
		seeds[i] = uint32(i * 7 % 3000)
	}
	for i, g := range patchyGraphs(t)[1:] {
		for _, s := range []Sampler{PinSAGE(2, 5, 3, 4), inverse, second, stops, state} {
			var want, got Blocks
			for _, slow := range []bool{true, false} {
				p, err := Compile(g, s)
				if err != nil {
					t.Fatal(err)
				}
				loops := (s.Method != Inverse || g.Weight == nil) && s.State == nil
				if w := p.plainWalk(); (w != nil) != loops {
					t.Errorf("%d: %v is a walk with loops of its own: %t", i, s.Name, w != nil)
				}
				b := &got
				if slow {
					b, p.tools.by = &want, func() run { return reference }
				}
				for _, n := range []int{30, len(seeds)} {
					if err := p.Blocks(b, seeds[:n], Key{Seed: 4, Batch: uint32(n)}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%d: walks of %d in %d, length %d: other blocks than the reference", i, s.Size(0), len(seeds), s.Length)
			}
		}
	}
}
