package sample

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/device/nvrtc"
	"sagann/internal/draw"
	"sagann/sample/cuda"
)

// hubEdges are random edges with a vertex that has an edge from every other, and two without any.
func hubEdges(v, n int) *chunk.Edges {
	e := randomEdges(v, n, 9)
	for u := range uint32(v) {
		e.Src, e.Dst = append(e.Src, u), append(e.Dst, 3)
		e.Src, e.Dst = append(e.Src, 3), append(e.Dst, u)
	}
	e.Weight = nil
	e.V += 2
	return e
}

// TestTwoHopOnGPU: a GPU, or an emulated one, draws the same children and leaves as the CPU and embeds to the same rows, and
// a row has the same bits in batches of any size.
func TestTwoHopOnGPU(t *testing.T) {
	g := mustGraph(t, hubEdges(140, 500)) // rows of two blocks of products
	r := rand.New(rand.NewPCG(1, 1))
	for i, x := range []struct {
		children, leaves, cols int
		widths                 [4]int
		half                   bool
	}{
		{10, 10, 8, [4]int{6, 5, 4, 7}, false},   // rows up to 40 are counted, one is longer
		{3, 2, 5, [4]int{3, 140, 2, 2}, false},   // tiles of 8
		{40, 7, 4, [4]int{130, 4, 5, 3}, false},  // own parts of two, more children than lanes
		{2, 140, 4, [4]int{4, 4, 4, 4}, false},   // leaves in two rounds
		{5, 13, 4, [4]int{8, 1030, 4, 4}, false}, // tiles of 1
		{10, 10, 8, [4]int{6, 5, 4, 7}, true},
	} {
		if i > 0 && i%2 == 0 && !draw.Soak() {
			continue // emulated: a C++ compiler runs for each
		}
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			hop := TwoHop{Children: x.children, Leaves: x.leaves, SelfNeighbour: i%2 == 1, BF16: x.half}
			most := 1e-5
			if x.half {
				most = 1e-2
			}
			hop.Random(x.cols, 1, 4)
			for k, m := range []*Matrix{&hop.Wf1, &hop.Wa1, &hop.Wf2, &hop.Wa2} {
				m.Rows, m.Cols = []int{x.cols, x.cols, x.widths[0] + x.widths[1], x.widths[0] + x.widths[1]}[k], x.widths[k]
				m.Data = make([]float32, m.Rows*m.Cols)
				for i := range m.Data {
					m.Data[i] = r.Float32() - 0.45
				}
			}
			features := make([]float32, g.Vertices()*x.cols)
			for i := range features {
				features[i] = r.Float32() - 0.3
			}
			sources := make([]uint32, g.Vertices())
			for v := range sources {
				sources[v] = uint32(len(sources) - 1 - v)
			}
			key := Key{Seed: 5, Epoch: 2}
			want := make([]float32, len(sources)*hop.Cols())
			if err := hop.Embed(g, features, x.cols, sources, key, want); err != nil {
				t.Fatal(err)
			}
			var first []float32
			for _, batch := range []int{17, 0} {
				gpu := openGPU(t, int64(1+x.widths[1]/128)<<20, 1<<28) // a small one is emulated faster
				on, err := hop.OnGPU(gpu, g, features, x.cols, len(sources), batch)
				if err != nil {
					t.Fatal(err)
				}
				got, err := on.Rows(len(sources))
				if err != nil {
					t.Fatal(err)
				}
				if err := on.Embed(sources, key, got); err != nil {
					t.Fatal(err)
				}
				for i, y := range got {
					if !(math.Abs(float64(y-want[i])) <= most) {
						t.Fatalf("batch %d, source %d, column %d: %v, on the CPU %v", batch, sources[i/hop.Cols()], i%hop.Cols(), y, want[i])
					}
				}
				if first == nil {
					first = slices.Clone(got)
				} else if !slices.Equal(first, got) {
					t.Error("rows depend on the size of batches")
				}
				again := make([]float32, len(got))
				if err := on.Embed(sources, key, again); err != nil || !slices.Equal(first, again) {
					t.Errorf("another call has other rows (%v)", err)
				}
				if err := on.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestTwoHopText translates the kernels, where the compiler is there.
func TestTwoHopText(t *testing.T) {
	for i, n := range []int{10, 25, 100, 200} {
		h := cuda.Hops{Half: i%2 == 1, Children: n, Leaves: n, Cols: 64, Wf1: cuda.Matrix{Cols: 128}, Wa1: cuda.Matrix{Cols: 128 * (n / 10)}, Wf2: cuda.Matrix{Cols: 128}, Wa2: cuda.Matrix{Cols: 128}}
		for _, text := range h.Sources() {
			err := nvrtc.Check(text, 75)
			if errors.Is(err, nvrtc.ErrMissing) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
		}
	}
}
