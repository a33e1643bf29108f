package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainLayer is a layer of one vertex in float64.
func plainLayer(x, mean []float64, wf, wa Matrix) []float64 {
	var row []float64
	sum := 0.0
	for k, w := range []Matrix{wf, wa} {
		for j := range w.Cols {
			y := 0.0
			for i := range w.Rows {
				y += [][]float64{x, mean}[k][i] * float64(w.Data[i*w.Cols+j])
			}
			row = append(row, max(0, y))
			sum += max(0, y) * max(0, y)
		}
	}
	for i := range row {
		row[i] /= math.Sqrt(max(sum, 1e-300))
	}
	return row
}

func meanOf(rows [][]float64, width int) []float64 {
	m := make([]float64, width)
	for _, r := range rows {
		for i, x := range r {
			m[i] += x / float64(len(rows))
		}
	}
	return m
}

func TestTwoHop(t *testing.T) {
	e := randomEdges(80, 500, 9)
	e.V = 82 // two vertices without edges
	g := mustGraph(t, e)
	const cols, width = 6, 5
	r := rand.New(rand.NewPCG(1, 1))
	x := make([]float32, 82*cols)
	for i := range x {
		x[i] = r.Float32() - 0.3
	}
	wide := func(v uint32) (row []float64) {
		for _, a := range x[int(v)*cols:][:cols] {
			row = append(row, float64(a))
		}
		return row
	}
	sources := make([]uint32, 82)
	for v := range sources {
		sources[v] = uint32(v)
	}
	for _, self := range []bool{false, true} {
		hop := TwoHop{Children: 7, Leaves: 3, SelfNeighbour: self}
		hop.Random(cols, width, 4)
		out := make([]float32, 82*hop.Cols())
		key := Key{Seed: 5, Epoch: 2}
		if err := hop.Embed(g, x, cols, sources, key, out); err != nil {
			t.Fatal(err)
		}
		h := hops{&hop, g, x, cols, key.stream()}
		for _, v := range sources {
			var rows, first [][]float64
			for j, u := range h.draw(v, 7, place{of: v}) {
				rows = append(rows, wide(u))
				var leaves [][]float64
				for _, l := range h.draw(u, 3, place{of: v, step: uint32(1 + j)}) {
					leaves = append(leaves, wide(l))
				}
				first = append(first, plainLayer(wide(u), meanOf(leaves, cols), hop.Wf1, hop.Wa1))
			}
			own := plainLayer(wide(v), meanOf(rows, cols), hop.Wf1, hop.Wa1)
			want := plainLayer(own, meanOf(first, 2*width), hop.Wf2, hop.Wa2)
			norm := 0.0
			for i, y := range want {
				got := float64(out[int(v)*hop.Cols()+i])
				norm += got * got
				if math.Abs(got-y) > 1e-5 {
					t.Fatalf("vertex %d, column %d: %v, want %v", v, i, got, y)
				}
			}
			if math.Abs(norm-1) > 1e-5 && norm > 0 {
				t.Errorf("vertex %d has norm %v", v, norm)
			}
		}
		alone := make([]float32, hop.Cols())
		if err := hop.Embed(g, x, cols, sources[50:51], key, alone); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(alone, out[50*hop.Cols():51*hop.Cols()]) {
			t.Error("a source alone has another row")
		}
		hop.Wa2.Rows--
		if err := hop.Embed(g, x, cols, sources, key, out); err == nil {
			t.Error("weights of another shape are taken")
		}
	}
}

// Sampling takes little beside the graph: nothing grows with the number of batches.
func TestMemoryOfSampling(t *testing.T) {
	g := mustGraph(t, randomEdges(20_000, 1_000_000, 10))
	p, err := Compile(g, Neighbours(5, 3))
	if err != nil {
		t.Fatal(err)
	}
	seeds := make([]uint32, 64)
	for i := range seeds {
		seeds[i] = uint32(i * 300)
	}
	var b Blocks
	bytes := testing.Benchmark(func(bench *testing.B) {
		for i := range bench.N {
			if err := p.Blocks(&b, seeds, Key{Batch: uint32(i)}); err != nil {
				bench.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	held := int64(4*cap(p.tools.idle[0].local) + 8*cap(p.tools.idle[0].set) + 4*cap(b.Vertices))
	for _, l := range b.Layers {
		held += int64(8*cap(l.Offsets) + 4*cap(l.Far) + 4*cap(l.Edge))
	}
	if bytes > 1024 || held > g.Bytes()/10 {
		t.Errorf("a batch allocates %d bytes, and %d are held; the graph has %d", bytes, held, g.Bytes())
	}
}
