package sample

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"sagann/dataset"
)

// countsOf draws blocks of seeds and counts what see calls them.
func countsOf(seeds []uint32, see func(b *Blocks) string) func(t *testing.T, p *Program, n int) outcomes {
	return func(t *testing.T, p *Program, n int) outcomes {
		got := outcomes{}
		eachBlocks(t, p, seeds, n, Key{Seed: 31}, func(b *Blocks) { got[see(b)]++ })
		return got
	}
}

// columns are the squared norms of the columns of Â in the rows of vertices, by source.
func columns(g *Graph, vertices []uint32) []float64 {
	q := make([]float64, g.Vertices())
	for _, v := range vertices {
		far, _ := g.row(v)
		for _, f := range far {
			q[f] += 1 / float64(g.Degree(f)*g.Degree(v))
		}
	}
	sum := 0.0
	for _, x := range q {
		sum += x
	}
	for i := range q {
		q[i] /= sum
	}
	return q
}

// TestColumnDraws compares the vertices that FastGCN and LADIES draw, with their multiplicities
// as the weights of edges tell them, with exact probabilities.
func TestColumnDraws(t *testing.T) {
	e := weightedGraph().WithSelfLoops()
	g := mustGraph(t, e)
	seeds := []uint32{1, 3}
	every := []uint32{0, 1, 2, 3, 4}
	for _, c := range []struct {
		right Sampler
		q     []float64
	}{{FastGCN(3), columns(g, every)}, {LADIES(3), columns(g, seeds)}} {
		// times each source of an edge into the seeds is drawn, in 3 draws
		var inside []uint32
		for v, x := range columns(g, seeds) {
			if x > 0 {
				inside = append(inside, uint32(v))
			}
		}
		want := outcomes{}
		for a := range 5 {
			for b := range 5 {
				for d := range 5 {
					if p := c.q[a] * c.q[b] * c.q[d]; p > 0 {
						times := make([]uint32, 5)
						for _, v := range []int{a, b, d} {
							if slices.Contains(inside, uint32(v)) {
								times[v]++
							}
						}
						want[text(times)] += p
					}
				}
			}
		}
		see := func(b *Blocks) string {
			times := make([]uint32, 5)
			for r := range b.Layers[0].Offsets[:2] {
				for i := b.Layers[0].Offsets[r]; i < b.Layers[0].Offsets[r+1]; i++ {
					f := b.Vertices[b.Layers[0].Far[i]]
					a := float64(g.norm(f, b.Vertices[r]))
					times[f] = uint32(math.Round(float64(b.Layers[0].Weight[i]) / a * 3 * c.q[f]))
				}
			}
			return text(times)
		}
		c.right.RowNormal = false
		wrong := c.right
		wrong.Score = func(e Edge) Real { return e.Norm() }
		(&trial{c.right.Name, c.right, wrong, e, countsOf(seeds, see), want}).run(t)
	}
}

// TestColumnSums: before rows are divided, sums over blocks of FastGCN and LADIES are on
// average those over the graph, within four standard errors; a wrong weight is outside.
func TestColumnSums(t *testing.T) {
	e := dataset.Karate().Edges.WithSelfLoops()
	g := mustGraph(t, e)
	seeds := []uint32{0, 8, 33, 16}
	value := func(v uint32) float64 { return 1 + float64(v%5) }
	deviation := func(s Sampler) float64 {
		p, err := Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		sum, square := make([]float64, len(seeds)), make([]float64, len(seeds))
		eachBlocks(t, p, seeds, rounds(), Key{Seed: 5}, func(b *Blocks) {
			n++
			for r := range seeds {
				x := 0.0
				for j := b.Layers[0].Offsets[r]; j < b.Layers[0].Offsets[r+1]; j++ {
					x += float64(b.Layers[0].Weight[j]) * value(b.Vertices[b.Layers[0].Far[j]])
				}
				sum[r], square[r] = sum[r]+x, square[r]+x*x
			}
		})
		worst := 0.0
		for r, v := range seeds {
			full := 0.0
			far, _ := g.row(v)
			for _, f := range far {
				full += float64(g.norm(f, v)) * value(f)
			}
			mean := sum[r] / float64(n)
			worst = max(worst, math.Abs(mean-full)/math.Sqrt((square[r]/float64(n)-mean*mean)/float64(n)))
		}
		return worst
	}
	for _, s := range []Sampler{FastGCN(8), LADIES(8)} {
		s.RowNormal = false
		if d := deviation(s); d > 4 {
			t.Errorf("%s: %.1f standard errors", s.Name, d)
		}
		s.EdgeWeight = func(e Edge) Real { return Div(e.Norm(), Mul(e.Draws(), e.Probability())) } // multiplicities left out
		if d := deviation(s); d < 4 {
			t.Errorf("%s without multiplicities: %.1f standard errors", s.Name, d)
		}
	}
	p, err := Compile(g, LADIES(8))
	if err != nil {
		t.Fatal(err)
	}
	var b Blocks
	if err := p.Blocks(&b, seeds, Key{}); err != nil {
		t.Fatal(err)
	}
	checkBlocks(t, e, &b, seeds)
	for r := range seeds {
		sum := 0.0
		row := b.Layers[0].Weight[b.Layers[0].Offsets[r]:b.Layers[0].Offsets[r+1]]
		for _, x := range row {
			sum += float64(x)
		}
		if len(row) > 0 && math.Abs(sum-1) > 1e-6 {
			t.Errorf("row %d weighs %v", r, sum)
		}
	}
}

func TestLayerBlocksDraws(t *testing.T) {
	e := weightedGraph()
	g := mustGraph(t, e)
	var all []uint32 // the sources of all edges into the seeds
	seeds := []uint32{2, 4}
	for _, v := range seeds {
		far, _ := g.row(v)
		all = append(all, far...)
	}
	want := outcomes{}
	for _, a := range all {
		for _, b := range all {
			list := []uint32{a, b}
			slices.Sort(list)
			want[text(slices.Compact(list))] += 1 / float64(len(all)*len(all))
		}
	}
	see := func(b *Blocks) string {
		var list []uint32
		for _, f := range b.Layers[0].Far {
			list = append(list, b.Vertices[f])
		}
		slices.Sort(list)
		return text(slices.Compact(list))
	}
	wrong := LayerBlocks(2)
	wrong.Next = func(_ Sample, at Pool, r Rand) Int { return Max(r.Pick(at), r.Pick(at)) }
	(&trial{"two draws", LayerBlocks(2), wrong, e, countsOf(seeds, see), want}).run(t)
}

func TestPinSAGEDraws(t *testing.T) {
	e := weightedGraph()
	g := mustGraph(t, e)
	want := outcomes{} // two walks of a step from 0: the vertex visited most
	far, _ := g.row(0)
	share := probability(g, 0, func(i int) float64 { return float64(g.weights(0)[i]) })
	for i, a := range far {
		for j, b := range far {
			want[fmt.Sprint(min(a, b))] += share[i] * share[j]
		}
	}
	see := func(b *Blocks) string { return fmt.Sprint(b.Vertices[b.Layers[0].Far[0]]) }
	wrong := PinSAGE(1, 1, 1, 1)
	(&trial{"two walks", PinSAGE(1, 2, 1, 1), wrong, e, countsOf([]uint32{0}, see), want}).run(t)
	p, err := Compile(g, PinSAGE(2, 20, 3, 2))
	if err != nil {
		t.Fatal(err)
	}
	var b Blocks
	if err := p.Blocks(&b, []uint32{4, 1}, Key{}); err != nil {
		t.Fatal(err)
	}
	for l, layer := range b.Layers {
		for r := range b.Counts[l] {
			lo, hi := layer.Offsets[r], layer.Offsets[r+1]
			sum := float32(0)
			for i := lo; i < hi; i++ {
				sum += layer.Weight[i]
				if b.Vertices[layer.Far[i]] == b.Vertices[r] {
					t.Errorf("vertex %d is its own neighbour", b.Vertices[r])
				}
			}
			if hi-lo > 2 || sum < 0.99 || sum > 1.01 {
				t.Errorf("row of %d edges weighs %v", hi-lo, sum)
			}
		}
	}
}

func TestMVSDraws(t *testing.T) {
	norms := []float32{1, 0, 2, 4, 0.5}
	got, want := outcomes{}, successive(norms, 2, true)
	sum, square := 0.0, 0.0
	for i := range rounds() {
		places, weights, err := ByNorm(norms, 2, Key{Seed: 4, Epoch: uint32(i)})
		if err != nil {
			t.Fatal(err)
		}
		x := 0.0
		for j, w := range weights {
			x += float64(w) * float64(1+places[j])
		}
		sum, square = sum+x, square+x*x
		if len(places) == 1 {
			places = []uint32{places[0], places[0]}
		}
		got[text(places)]++
	}
	if p := pValue(got, want); p < least {
		t.Errorf("p = %.2g", p)
	}
	if p := pValue(got, successive(ones(5), 2, true)); p > least {
		t.Errorf("p = %.2g of draws that do not see norms", p)
	}
	n := float64(rounds()) // vertex 1, whose norm is 0, is never drawn
	if full, mean := (1.0+3+4+5)/5, sum/n; math.Abs(mean-full) > 4*math.Sqrt((square/n-mean*mean)/n) {
		t.Errorf("the weighted mean is %v, want %v", mean, full)
	}
	for _, bad := range [][]float32{{0, 0}, {1, -1}, {float32(math.NaN())}} {
		if _, _, err := ByNorm(bad, 1, Key{}); err == nil {
			t.Errorf("norms %v are taken", bad)
		}
	}
}

func TestShaDow(t *testing.T) {
	e := randomEdges(60, 400, 5)
	g := mustGraph(t, e)
	p, err := Compile(g, ShaDow(2, 3))
	if err != nil {
		t.Fatal(err)
	}
	var b, alone Blocks
	seeds := []uint32{5, 17, 40}
	if err := p.Blocks(&b, seeds, Key{Seed: 2, Batch: 1}); err != nil {
		t.Fatal(err)
	}
	var n, edges int
	for _, v := range seeds {
		if err := p.Blocks(&alone, []uint32{v}, Key{Seed: 2, Batch: 1}); err != nil {
			t.Fatal(err)
		}
		if len(alone.Vertices) > 1+3+12 { // roots draw again at the second step
			t.Errorf("%d vertices of one seed", len(alone.Vertices))
		}
		got := slices.Clone(alone.Layers[0].Edge)
		slices.Sort(got)
		if !slices.Equal(got, inside(e, alone.Vertices)) {
			t.Errorf("seed %d: %d edges", v, len(got))
		}
		n, edges = n+len(alone.Vertices), edges+len(got)
	}
	if n != len(b.Vertices) || edges != len(b.Layers[0].Far) || !slices.Equal(b.Vertices[:3], seeds) {
		t.Errorf("%d vertices and %d edges side by side, %d and %d alone", len(b.Vertices), len(b.Layers[0].Far), n, edges)
	}
	for r := range b.Vertices { // edges are those of the user
		for i := b.Layers[0].Offsets[r]; i < b.Layers[0].Offsets[r+1]; i++ {
			if x := b.Layers[0].Edge[i]; e.Dst[x] != b.Vertices[r] || e.Src[x] != b.Vertices[b.Layers[0].Far[i]] {
				t.Fatalf("edge %d in row %d", x, r)
			}
		}
	}
	star := star(ones(5)...)
	want := outcomes{}
	for k, x := range successive(ones(5), 2, false) {
		want[k] = x
	}
	see := func(b *Blocks) string { return text(b.Layers[0].Edge) }
	wrong := ShaDow(1, 2)
	wrong.Size = func(int) int { return 3 }
	(&trial{"star", ShaDow(1, 2), wrong, star, countsOf([]uint32{0}, see), want}).run(t)
}
