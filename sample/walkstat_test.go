package sample

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
)

// samplesOf draws n samples, the roots given to each, and counts what see calls them.
func samplesOf(roots []uint32, see func(s *Samples, i int) string) func(t *testing.T, p *Program, n int) outcomes {
	return func(t *testing.T, p *Program, n int) outcomes {
		got := outcomes{}
		const piece = 20_000
		for lo := 0; lo < n; lo += piece {
			var s Samples
			if err := drawSteps(t, p, &s, slices.Repeat(roots, min(piece, n-lo)), uint64(lo), Key{Seed: 21}); err != nil {
				t.Fatal(err)
			}
			for i := range s.N {
				got[see(&s, i)]++
			}
		}
		return got
	}
}

// whole is all vertices of a sample.
func whole(s *Samples, i int) string { return text(s.Vertices(nil, i)) }

// weighted is a directed graph with weights, in which edges have no reverse, a loop and
// parallel edges.
func weightedGraph() *chunk.Edges {
	return &chunk.Edges{V: 5,
		Src:    []uint32{0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 1, 4, 2},
		Dst:    []uint32{1, 2, 3, 2, 3, 0, 1, 3, 0, 4, 4, 0, 2, 0, 4, 4},
		Weight: []float32{1, 2, 3, 1.5, 0.5, 4, 1, 2, 1, 3, 0.5, 2, 1, 2.5, 0.5, 1},
	}
}

// probability is the share of the edge at each place of the row of v.
func probability(g *Graph, v uint32, score func(place int) float64) []float64 {
	list, sum := make([]float64, g.Degree(v)), 0.0
	for i := range list {
		list[i] = score(i)
		sum += list[i]
	}
	for i := range list {
		list[i] /= sum
	}
	return list
}

// walks are the probabilities of walks from v of some steps; share is the score of a
// place in the row of the walk's last vertex.
func walks(g *Graph, v uint32, steps int, share func(walk []uint32, place int) float64) outcomes {
	all := outcomes{}
	var walk func(list []uint32, p float64)
	walk = func(list []uint32, p float64) {
		at := list[len(list)-1]
		if len(list) == steps+1 || g.Degree(at) == 0 {
			all[text(list)] += p
			return
		}
		far, _ := g.row(at)
		for i, q := range probability(g, at, func(i int) float64 { return share(list, i) }) {
			walk(append(slices.Clone(list), far[i]), p*q)
		}
	}
	walk([]uint32{v}, 1)
	for k, p := range all {
		if p == 0 {
			delete(all, k)
		}
	}
	return all
}

func (g *Graph) weights(v uint32) []float32 { return g.Weight[g.Offsets[v]:g.Offsets[v+1]] }

func weightOf(g *Graph) func(walk []uint32, place int) float64 {
	return func(walk []uint32, place int) float64 {
		return float64(g.weights(walk[len(walk)-1])[place])
	}
}

func TestDeepWalkDraws(t *testing.T) {
	e := weightedGraph().Reverse()
	g := mustGraph(t, e)
	for _, m := range []Method{Alias, Inverse, Rejection} {
		right := DeepWalk(3)
		right.Method = m
		wrong := SAINT(3) // without weights
		wrong.Output = Steps
		(&trial{fmt.Sprint(m), right, wrong, e, samplesOf([]uint32{0}, whole), walks(g, 0, 3, weightOf(g))}).run(t)
	}
	club := dataset.Karate().Edges
	k := mustGraph(t, club)
	second := func(s *Samples, i int) string { return text([]uint32{s.Steps[49][i], s.Steps[50][i]}) }
	want := outcomes{} // the walk forgets where it began: an edge is as likely as another
	for v := range uint32(34) {
		far, _ := k.row(v)
		for _, f := range far {
			want[text([]uint32{v, f})] = 1 / float64(k.Edges())
		}
	}
	wrong := DeepWalk(50)
	wrong.Next = func(_ Sample, at Pool, r Rand) Int { return Min(r.Pick(at), r.Pick(at)) }
	(&trial{"karate", DeepWalk(50), wrong, club, samplesOf([]uint32{5}, second), want}).run(t)
}

// secondOf is the score of a place for node2vec.
func secondOf(g *Graph, p, q float64) func(walk []uint32, place int) float64 {
	return func(walk []uint32, place int) float64 {
		far, _ := g.row(walk[len(walk)-1])
		w := float64(g.weights(walk[len(walk)-1])[place])
		if len(walk) < 2 {
			return w
		}
		before, _ := g.row(walk[len(walk)-2])
		switch x := far[place]; {
		case x == walk[len(walk)-2]:
			return w / p
		case slices.Contains(before, x):
			return w
		}
		return w / q
	}
}

func TestNode2vecDraws(t *testing.T) {
	e := weightedGraph().Reverse()
	g := mustGraph(t, e)
	const p, q = 2, 0.5
	share := secondOf(g, p, q)
	for _, m := range []Method{Alias, Inverse} {
		for root := range uint32(5) {
			right, wrong := Node2vec(3, p, q), Node2vec(3, q, p)
			right.Method, wrong.Method = m, m
			(&trial{fmt.Sprint(m, root), right, wrong, e, samplesOf([]uint32{root}, whole), walks(g, root, 3, share)}).run(t)
		}
	}
}

func TestPPRDraws(t *testing.T) {
	want := outcomes{}
	for n := range 2000 {
		want[fmt.Sprint(n)] = 0.05 * math.Pow(0.95, float64(n))
	}
	want["1999"] += math.Pow(0.95, 2000)
	length := func(s *Samples, i int) string { return fmt.Sprint(len(s.Vertices(nil, i)) - 1) }
	(&trial{"lengths", PPR(0.05), PPR(0.06), dataset.Karate().Edges, samplesOf([]uint32{3}, length), want}).run(t)
}

func TestMultiRWDraws(t *testing.T) {
	e := weightedGraph()
	g := mustGraph(t, e)
	want := outcomes{} // the vertices that two steps from the roots 0 and 4 add
	for a := range 2 {
		for b := range 2 {
			first := []uint32{0, 4}
			far, _ := g.row(first[a])
			weights := probability(g, first[a], func(i int) float64 { return float64(g.weights(first[a])[i]) })
			for i, x := range far {
				second := slices.Clone(first)
				second[a] = x
				row, _ := g.row(second[b])
				also := probability(g, second[b], func(i int) float64 { return float64(g.weights(second[b])[i]) })
				for k, y := range row {
					want[text([]uint32{0, 4, x, y})] += 0.25 * weights[i] * also[k]
				}
			}
		}
	}
	stays, equal := MultiRW(2, 2), MultiRW(2, 2)
	stays.Next = func(_ Sample, at Pool, r Rand) Int { return r.PickWeighted(at) } // the root stays
	equal.Next = func(s Sample, at Pool, r Rand) Int {                             // neighbours with equal probability
		i := r.Pick(at)
		s.Set("roots", s.Get("chosen", Whole(0)), at.Neighbour(i))
		return i
	}
	for _, wrong := range []Sampler{stays, equal} {
		(&trial{"two roots", MultiRW(2, 2), wrong, e, samplesOf([]uint32{0, 4}, whole), want}).run(t)
	}
}

func TestLayerDraws(t *testing.T) {
	e := weightedGraph()
	g := mustGraph(t, e)
	want := outcomes{}
	var grow func(sample, added []uint32, draws int, p float64, last []uint32)
	grow = func(sample, added []uint32, draws int, p float64, last []uint32) {
		free := outcomes{}
		sum := 0.0
		for _, v := range last {
			far, _ := g.row(v)
			for _, f := range far {
				if !slices.Contains(sample, f) {
					free[fmt.Sprint(f)]++
					sum++
				}
			}
		}
		switch {
		case draws == 2 && len(added) > 0 && len(sample) < 4: // the next step
			grow(sample, nil, 0, p, added)
		case draws == 2 || len(free) == 0 || len(sample) == 4:
			want[text(sample)] += p
		default:
			for _, k := range slices.Sorted(maps.Keys(free)) {
				var f uint32
				fmt.Sscan(k, &f)
				grow(append(slices.Clone(sample), f), append(slices.Clone(added), f), draws+1, p*free[k]/sum, last)
			}
		}
	}
	grow([]uint32{0}, nil, 0, 1, []uint32{0})
	wrong := Layer(2, 4)
	wrong.Next = func(_ Sample, at Pool, r Rand) Int { return Max(r.Pick(at), r.Pick(at)) }
	(&trial{"steps of 2 up to 4", Layer(2, 4), wrong, e, samplesOf([]uint32{0}, whole), want}).run(t)
}

func TestSAINTDraws(t *testing.T) {
	e := weightedGraph()
	g := mustGraph(t, e)
	want := outcomes{}
	for walk, p := range walks(g, 0, 2, func([]uint32, int) float64 { return 1 }) {
		var a, b, c uint32
		fmt.Sscan(walk, &a, &b, &c)
		list := []uint32{a, b, c}
		slices.Sort(list)
		want[text(slices.Compact(list))] += p
	}
	observe := func(t *testing.T, p *Program, n int) outcomes {
		got := outcomes{}
		var b Blocks
		for i := range n {
			if err := p.Blocks(&b, []uint32{0}, Key{Batch: uint32(i)}); err != nil {
				t.Fatal(err)
			}
			list := slices.Clone(b.Vertices)
			slices.Sort(list)
			got[text(list)]++
		}
		return got
	}
	wrong := SAINT(2)
	wrong.Next = DeepWalk(2).Next // by weight
	(&trial{"two steps", SAINT(2), wrong, e, observe, want}).run(t)
}

// Roots are picked with equal probability, and permutations are. Roots by degree, and orders by swaps with any place, would not pass.
func TestRootsAndPermutations(t *testing.T) {
	g := mustGraph(t, weightedGraph())
	p, err := Compile(g, DeepWalk(1))
	if err != nil {
		t.Fatal(err)
	}
	got, wrong, want := outcomes{}, outcomes{}, outcomes{}
	for i, v := range p.Roots(rounds(), 7, Key{Seed: 3}) {
		got[fmt.Sprint(v)]++
		wrong[fmt.Sprint(g.Far[below(Key{Seed: 3}.stream().words(place{of: uint32(i)})[0], g.Edges())])]++
		want[fmt.Sprint(v)] = 0.2
	}
	if v, w := pValue(got, want), pValue(wrong, want); v < least || w > least {
		t.Errorf("roots: p = %.2g, of wrong ones %.2g", v, w)
	}
	got, wrong, want = outcomes{}, outcomes{}, outcomes{}
	for i := range rounds() {
		key := Key{Seed: 3, Epoch: uint32(i)}
		got[text(Permutation(4, key))]++
		list, words := []uint32{0, 1, 2, 3}, key.stream().words(place{})
		for j := range list {
			k := below(words[j], 4)
			list[j], list[k] = list[k], list[j]
		}
		wrong[text(list)]++
	}
	for _, list := range permutations(4) {
		want[text(list)] = 1.0 / 24
	}
	if v, w := pValue(got, want), pValue(wrong, want); v < least || w > least {
		t.Errorf("permutations: p = %.2g, of wrong ones %.2g", v, w)
	}
}
