package sample

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/internal/draw"
)

// least is the p value below which a sampler is held to be wrong. Seeds are fixed, so a
// right one passes always.
const least = 1e-4

// rounds is how often something is drawn: 10⁶ times by make soak.
func rounds() int {
	if draw.Soak() {
		return 1_000_000
	}
	return 20_000
}

// outcomes are probabilities, or counts.
type outcomes map[string]float64

// pValue is the probability that counts are as far from want as they are, by a
// chi-square test. Outcomes that are seldom expected count together.
func pValue(got, want outcomes) float64 {
	n, sum := 0.0, 0.0
	for _, c := range got {
		n += c
	}
	for _, p := range want {
		sum += p
	}
	if math.Abs(sum-1) > 1e-9 {
		panic(fmt.Sprintf("probabilities sum to %v", sum))
	}
	for k := range got {
		if want[k] == 0 {
			return 0
		}
	}
	x, cells, restGot, restWant := 0.0, 0, 0.0, 0.0
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if e := want[k] * n; e < 10 {
			restGot, restWant = restGot+got[k], restWant+e
		} else {
			x += (got[k] - e) * (got[k] - e) / e
			cells++
		}
	}
	if restWant > 0 {
		x += (restGot - restWant) * (restGot - restWant) / max(restWant, 5)
		cells++
	}
	if cells < 2 {
		return 1
	}
	return distuv.ChiSquared{K: float64(cells - 1)}.Survival(x)
}

// trial is a sampler whose draws are compared with exact probabilities. Wrong is a sampler made
// wrong on purpose, for which the same comparison must fail.
type trial struct {
	name         string
	right, wrong Sampler
	edges        *chunk.Edges
	observe      func(t *testing.T, p *Program, n int) outcomes
	want         outcomes
}

func (c *trial) run(t *testing.T) {
	t.Helper()
	t.Run(c.name, func(t *testing.T) {
		g := mustGraph(t, c.edges)
		for i, s := range []Sampler{c.right, c.wrong} {
			p, err := Compile(g, s)
			if err != nil {
				t.Fatal(err)
			}
			v := pValue(c.observe(t, p, rounds()), c.want)
			if i == 0 {
				t.Logf("p = %.2g", v)
			}
			if i == 0 && !(v > least) {
				t.Errorf("p = %.2g", v)
			}
			if i == 1 && v > least {
				t.Errorf("p = %.2g of a sampler that is wrong", v)
			}
		}
	})
}

// rowsOf draws blocks of one seed n times and counts the ids in its row.
func rowsOf(seed uint32) func(t *testing.T, p *Program, n int) outcomes {
	return func(t *testing.T, p *Program, n int) outcomes {
		got := outcomes{}
		eachBlocks(t, p, []uint32{seed}, n, Key{Seed: 11}, func(b *Blocks) { got[text(b.Layers[0].Edge[:b.Layers[0].Offsets[1]])]++ })
		return got
	}
}

// star is a vertex 0 with an in-edge of each weight, from vertices 1 and on.
func star(weights ...float32) *chunk.Edges {
	e := &chunk.Edges{V: len(weights) + 1, Weight: weights}
	for i := range weights {
		e.Src, e.Dst = append(e.Src, uint32(i+1)), append(e.Dst, 0)
	}
	return e
}

// successive are the probabilities of the sets of k places drawn one after the other in
// proportion to weights, without replacement or with it, as lists in ascending order.
func successive(weights []float32, k int, replace bool) outcomes {
	all := outcomes{}
	var walk func(taken []uint32, p float64)
	walk = func(taken []uint32, p float64) {
		if len(taken) == k {
			list := slices.Clone(taken)
			slices.Sort(list)
			all[text(list)] += p
			return
		}
		sum := 0.0
		for i, w := range weights {
			if replace || !slices.Contains(taken, uint32(i)) {
				sum += float64(w)
			}
		}
		for i, w := range weights {
			if w > 0 && (replace || !slices.Contains(taken, uint32(i))) {
				walk(append(slices.Clone(taken), uint32(i)), p*float64(w)/sum)
			}
		}
	}
	walk(nil, 1)
	return all
}

// text is a list as the name of an outcome.
func text(list []uint32) string {
	var b []byte
	for _, v := range list {
		b = append(strconv.AppendUint(b, uint64(v), 10), ' ')
	}
	return string(b)
}

func ones(n int) []float32 { return slices.Repeat([]float32{1}, n) }

func TestNeighboursDraws(t *testing.T) {
	for _, c := range []struct {
		d, k    int
		replace bool
	}{{6, 2, false}, {6, 5, false}, {8, 4, false}, {5, 3, true}, {1, 2, true}} {
		right := Neighbours(c.k)
		right.Replace = c.replace
		wrong := right
		wrong.Next = func(_ Sample, at Pool, r Rand) Int { return Max(r.Pick(at), r.Below(Whole(2))) }
		if c.d == 1 {
			wrong = Neighbours(c.k)
		}
		(&trial{fmt.Sprintf("degree %d draws %d replace %v", c.d, c.k, c.replace), right, wrong, star(ones(c.d)...), rowsOf(0), successive(ones(c.d), c.k, c.replace)}).run(t)
	}
}

// Of long rows each place is drawn as often as any other.
func TestLongRowDraws(t *testing.T) {
	d := 100_000
	want := outcomes{}
	for i := range 64 {
		want[fmt.Sprint(i)] = 1.0 / 64
	}
	buckets := func(t *testing.T, p *Program, n int) outcomes {
		got := outcomes{}
		eachBlocks(t, p, []uint32{0}, n/p.sizes[0], Key{Seed: 12}, func(b *Blocks) {
			for _, e := range b.Layers[0].Edge {
				got[fmt.Sprint(int(e)*64/d)]++
			}
		})
		return got
	}
	e := star(ones(d)...)
	for _, k := range []int{10, 50, 1000} {
		wrong := Neighbours(k)
		wrong.Next = func(_ Sample, at Pool, r Rand) Int { return Div(Add(r.Pick(at), r.Pick(at)), Whole(2)) }
		(&trial{fmt.Sprint(k), Neighbours(k), wrong, e, buckets, want}).run(t)
	}
}

func TestWeightedDraws(t *testing.T) {
	weights := []float32{1, 4, 0, 2.5, 0.25, 7}
	for _, m := range []Method{Alias, Inverse, Rejection, Race} {
		for _, replace := range []bool{false, true} {
			for _, k := range []int{1, 3, 4} {
				if m == Race && replace {
					continue
				}
				right := WeightedNeighbours(k)
				right.Method, right.Replace = m, replace
				wrong := right
				wrong.Score = func(e Edge) Real { return Mul(e.Weight(), e.Weight()) }
				(&trial{fmt.Sprintf("method %d replace %v draws %d", m, replace, k), right, wrong, star(weights...), rowsOf(0), successive(weights, k, replace)}).run(t)
			}
		}
	}
}

// clubWeights is Karate with a weight of 1 to 5 for each edge.
func clubWeights() *chunk.Edges {
	e := *dataset.Karate().Edges
	e.Weight = make([]float32, e.E())
	for i := range e.Weight {
		e.Weight[i] = float32(1 + i*7%5)
	}
	return &e
}

func TestWeightedKarate(t *testing.T) {
	e := clubWeights()
	g := mustGraph(t, e)
	const v = 33 // of 17 edges
	_, edges := g.row(v)
	for _, m := range []Method{Alias, Inverse, Rejection, Race} {
		for _, replace := range []bool{false, true} {
			if m == Race && replace {
				continue
			}
			want := outcomes{}
			for places, x := range successive(g.weights(v), 2, replace) {
				var i, j uint32
				fmt.Sscan(places, &i, &j)
				want[text([]uint32{edges[i], edges[j]})] += x
			}
			right := WeightedNeighbours(2)
			right.Method, right.Replace = m, replace
			wrong := right
			wrong.Score = func(e Edge) Real { return Mul(e.Weight(), e.Weight()) }
			(&trial{fmt.Sprintf("neighbours, method %d replace %v", m, replace), right, wrong, e, rowsOf(v), want}).run(t)
		}
		walk, wrong := DeepWalk(2), SAINT(2) // without weights
		walk.Method, wrong.Output = m, Steps
		if m != Race {
			(&trial{fmt.Sprintf("deepwalk, method %d", m), walk, wrong, e, samplesOf([]uint32{v}, whole), walks(g, v, 2, weightOf(g))}).run(t)
		}
	}
	for _, m := range []Method{Alias, Inverse} { // Rejection would be a loop in its own
		right, wrong := Node2vec(2, 2, 0.5), Node2vec(2, 0.5, 2)
		right.Method, wrong.Method = m, m
		(&trial{fmt.Sprintf("node2vec, method %d", m), right, wrong, e, samplesOf([]uint32{v}, whole), walks(g, v, 2, secondOf(g, 2, 0.5))}).run(t)
	}
}

// Weights in a long row: places counted by their weight.
func TestWeightedLongRow(t *testing.T) {
	d, sum := 100_000, 0.0
	weights := make([]float32, d)
	for i := range weights {
		weights[i] = float32(1 + i%7)
		sum += float64(weights[i])
	}
	want := outcomes{}
	for _, w := range weights {
		want[fmt.Sprint(w)] += float64(w) / sum
	}
	observe := func(t *testing.T, p *Program, n int) outcomes {
		got := outcomes{}
		eachBlocks(t, p, []uint32{0}, n/p.sizes[0], Key{Seed: 13}, func(b *Blocks) {
			for _, e := range b.Layers[0].Edge {
				got[fmt.Sprint(weights[e])]++
			}
		})
		return got
	}
	for _, m := range []Method{Alias, Inverse, Rejection} {
		right := WeightedNeighbours(100)
		right.Method, right.Replace = m, true
		wrong := Neighbours(100)
		(&trial{fmt.Sprint(m), right, wrong, star(weights...), observe, want}).run(t)
	}
}
