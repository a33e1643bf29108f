package sample

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sagann/chunk"
	"sagann/internal/draw"
)

// mustPast is NewPast.
func mustPast(t interface{ Fatal(...any) }, p *Program, latest bool) *Past {
	x, err := NewPast(p, latest)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestPast draws blocks of random graphs with times, loops and parallel edges. No vertex has seen an edge after the time of its seed, at
// any depth; rows have as many edges as they can, the latest are the latest, and a drawn alone seed has the rows that it has among others.
func TestPast(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "vertices")
		e := &chunk.Edges{V: n}
		for range rapid.IntRange(0, 80).Draw(t, "edges") {
			e.Src, e.Dst = append(e.Src, uint32(rapid.IntRange(0, n-1).Draw(t, "u"))), append(e.Dst, uint32(rapid.IntRange(0, n-1).Draw(t, "v")))
			e.Time = append(e.Time, float64(rapid.IntRange(-3, 6).Draw(t, "time"))/2)
		}
		if e.Time == nil {
			e.Time = []float64{}
		}
		s := Neighbours(rapid.SliceOfN(rapid.IntRange(1, 5), 1, 4).Draw(t, "fanouts")...)
		if s.KeepLoops = rapid.Bool().Draw(t, "loops"); s.KeepLoops {
			e = e.WithSelfLoops()
		}
		g, err := NewGraph(e)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		x := mustPast(t, p, rapid.Bool().Draw(t, "latest"))
		var seeds []uint32
		var until []float64
		known := map[moment]bool{}
		for range rapid.IntRange(1, 6).Draw(t, "seeds") {
			m := moment{uint32(rapid.IntRange(0, n-1).Draw(t, "seed")), float64(rapid.IntRange(-4, 7).Draw(t, "until")) / 2}
			if !known[m] {
				known[m] = true
				seeds, until = append(seeds, m.vertex), append(until, m.time)
			}
		}
		key := Key{Seed: uint64(rapid.IntRange(0, 9).Draw(t, "key")), Epoch: 3, Batch: 2}
		var b, alone Blocks
		if err := x.Blocks(&b, seeds, until, key); err != nil {
			t.Fatal(err)
		}
		checkPast(t, x, e, &b, seeds, until)
		if err := x.Blocks(&alone, seeds[:1], until[:1], key); err != nil {
			t.Fatal(err)
		}
		checkPast(t, x, e, &alone, seeds[:1], until[:1])
		if a, z := alone.Layers[0].Edge, b.Layers[0].Edge[:b.Layers[0].Offsets[1]]; !slices.Equal(a, z) {
			t.Fatalf("seed %d draws edges %v alone and %v among others", seeds[0], a, z)
		}
	})
}

// checkPast checks blocks that x drew of e.
func checkPast(t *rapid.T, x *Past, e *chunk.Edges, b *Blocks, seeds []uint32, until []float64) {
	p := x.p
	if !slices.Equal(b.Vertices[:b.Counts[0]], seeds) || !slices.Equal(b.Until[:b.Counts[0]], until) || len(b.Until) != len(b.Vertices) {
		t.Fatalf("seeds %v at %v, blocks begin with %v at %v", seeds, until, b.Vertices, b.Until)
	}
	known := map[moment]bool{}
	for i, v := range b.Vertices {
		m := moment{v, b.Until[i]}
		if known[m] {
			t.Fatalf("vertex %d is there twice at %v", v, m.time)
		}
		known[m] = true
	}
	for l, layer := range b.Layers {
		for i := range b.Counts[l] {
			var past, always []uint32
			for k, v := range e.Dst {
				switch {
				case v != b.Vertices[i] || e.Time[k] > b.Until[i]:
				case p.s.KeepLoops && math.IsInf(e.Time[k], -1):
					always = append(always, uint32(k))
				default:
					past = append(past, uint32(k))
				}
			}
			row := layer.Edge[layer.Offsets[i]:layer.Offsets[i+1]]
			if want := min(len(past), p.sizes[l]) + len(always); len(row) != want {
				t.Fatalf("layer %d, row %d: %d edges of %d, want %d", l, i, len(row), len(past), want)
			}
			for k, edge := range row {
				f := layer.Far[layer.Offsets[i]+int64(k)]
				if !slices.Contains(past, edge) && !slices.Contains(always, edge) || slices.Contains(row[:k], edge) {
					t.Fatalf("layer %d, row %d at %v has edge %d of time %v", l, i, b.Until[i], edge, e.Time[edge])
				}
				if int(f) >= b.Counts[l+1] || b.Vertices[f] != e.Src[edge] || b.Until[f] != b.Until[i] {
					t.Fatalf("layer %d, row %d at %v: edge %d leads to %d at %v", l, i, b.Until[i], edge, b.Vertices[f], b.Until[f])
				}
			}
			if x.latest {
				slices.SortStableFunc(past, func(a, z uint32) int {
					if e.Time[a] < e.Time[z] {
						return -1
					}
					return int(b2i(e.Time[a] > e.Time[z]))
				})
				for _, late := range past[max(0, len(past)-p.sizes[l]):] {
					if !slices.Contains(row, late) {
						t.Fatalf("layer %d, row %d at %v is without edge %d, which is among the latest", l, i, b.Until[i], late)
					}
				}
			}
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestTimesDraws compares draws up to a time with exact probabilities: each set of k edges of the past is equally probable.
func TestTimesDraws(t *testing.T) {
	e := star(1, 1, 1, 1, 1, 1)
	e.Weight = nil
	e.Time = []float64{5, 1, 9, 3, 2, 4} // up to 4.5: edges 1, 3, 4, 5
	want := outcomes{}
	for _, pair := range [][]uint32{{1, 3}, {1, 4}, {1, 5}, {3, 4}, {3, 5}, {4, 5}} {
		want[text(pair)] = 1.0 / 6
	}
	at := func(until float64, latest bool) func(t *testing.T, p *Program, n int) outcomes {
		return func(t *testing.T, p *Program, n int) outcomes {
			x, got, b := mustPast(t, p, latest), outcomes{}, &Blocks{}
			for i := range n {
				if err := x.Blocks(b, []uint32{0}, []float64{until}, Key{Seed: 21, Batch: uint32(i)}); err != nil {
					t.Fatal(err)
				}
				got[text(b.Layers[0].Edge)]++
			}
			return got
		}
	}
	wrong := Neighbours(1)
	(&trial{"up to a time", Neighbours(2), wrong, e, at(4.5, false), want}).run(t)
	(&trial{"the latest", Neighbours(2), wrong, e, at(4.5, true), outcomes{text([]uint32{3, 5}): 1}}).run(t)
	(&trial{"all of the past", Neighbours(4), Neighbours(3), e, at(4, false), outcomes{text([]uint32{1, 3, 4, 5}): 1}}).run(t)
	p, err := Compile(mustGraph(t, e), Neighbours(2))
	if err != nil {
		t.Fatal(err)
	}
	if v := pValue(at(9, false)(t, p, rounds()), want); v > least {
		t.Errorf("p = %.2g of draws up to a later time", v)
	}
}

// TestTimesRead compares samplers that read times and numbers of edges with exact probabilities.
func TestTimesRead(t *testing.T) {
	e := star(1, 1, 1)
	e.Weight, e.Time, e.DataCols, e.Data = nil, []float64{1e9 + 1, 1e9 + 3, 1e9}, 2, []float32{0, 4, 0, 2, 0, 2}
	one := func(score func(e Edge) Real) Sampler {
		s := Neighbours(1)
		s.Score = score
		return s
	}
	equal := outcomes{text([]uint32{0}): 0.25, text([]uint32{1}): 0.75}
	(&trial{"time", one(func(e Edge) Real { return e.Time() }), one(func(e Edge) Real { return e.Weight() }), e, rowsOf(0), equal}).run(t)
	numbers := outcomes{text([]uint32{0}): 0.5, text([]uint32{1}): 0.25, text([]uint32{2}): 0.25}
	(&trial{"number", one(func(e Edge) Real { return e.Number(1) }), one(func(e Edge) Real { return Const(1) }), e, rowsOf(0), numbers}).run(t)
	latest := Sampler{Name: "latest", Steps: 1, Output: Layers, Next: func(_ Sample, at Pool, _ Rand) Int {
		best := Whole(0)
		for i := 1; i < 3; i++ {
			best = If(Less(at.Time(best), at.Time(Whole(i))), Whole(i), best)
		}
		return best
	}}
	(&trial{"next", latest, Neighbours(1), e, rowsOf(0), outcomes{text([]uint32{1}): 1}}).run(t)
}

// TestPastRefused has what does not go with times.
func TestPastRefused(t *testing.T) {
	e := star(1, 1)
	again := Neighbours(2)
	again.Replace = true
	for _, c := range []struct {
		s    Sampler
		time []float64
		want string
	}{{Neighbours(2), nil, "edges of the graph have no times"}, {WeightedNeighbours(2), []float64{1, 2}, "without Next, Score"}, {again, []float64{1, 2}, "without Next, Score"}} {
		e.Time = c.time
		p, err := Compile(mustGraph(t, e), c.s)
		if err == nil {
			_, err = NewPast(p, false)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.s.Name, err, c.want)
		}
	}
	p, err := Compile(mustGraph(t, e), Neighbours(2))
	if err != nil {
		t.Fatal(err)
	}
	x := mustPast(t, p, false)
	var b Blocks
	for want, err := range map[string]error{
		"2 seeds and 1 times":       x.Blocks(&b, []uint32{0, 1}, []float64{1}, Key{}),
		"stands in the batch twice": x.Blocks(&b, []uint32{0, 0}, []float64{1, 1}, Key{}),
		"has the time NaN":          x.Blocks(&b, []uint32{0}, []float64{math.NaN()}, Key{}),
		"seed 9 of a graph":         x.Blocks(&b, []uint32{9}, []float64{1}, Key{}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	e.Time = []float64{1, math.NaN()}
	if _, err := NewGraph(e); err == nil || !strings.Contains(err.Error(), "edge 1 has time NaN") {
		t.Errorf("error %v", err)
	}
}
