package sample

import (
	"errors"
	"fmt"
	"math"

	"sagann/chunk"
	"sagann/internal/simd"
)

// Matrix is a dense matrix.
type Matrix struct {
	Rows, Cols int
	Data       []float32 // Rows×Cols, row-major
}

// TwoHop embeds vertices by two layers of GraphSAGE over sampled trees, as Gunrock's GraphSAGE does.
// Each source vertex draws Children in-edges, and each child draws Leaves in-edges, with
// replacement. A layer is normalise(relu([x·Wf, mean·Wa])), where normalise divides a row by its
// Euclidean norm. In the first layer, x are the features of a vertex and mean is over the features
// of the vertices that it drew. In the second layer, x and mean are over the first layer's rows of
// the source and its children.
type TwoHop struct {
	Children, Leaves int
	Wf1, Wa1         Matrix // features × any width each
	Wf2, Wa2         Matrix // (Wf1.Cols+Wa1.Cols) × any width each
	// BF16 keeps rows of the first layer's products as bfloat16 on a GPU: half the bytes, and two to
	// three decimal digits. Embed on a CPU ignores it.
	BF16 bool
	// SelfNeighbour makes a vertex without in-edges its own neighbour, as Gunrock does. If it is not
	// set, the mean of such a vertex is 0.
	SelfNeighbour bool
}

// Cols is the width of the rows that Embed writes.
func (t *TwoHop) Cols() int { return t.Wf2.Cols + t.Wa2.Cols }

// mostDraws bounds the leaves of a source.
const mostDraws = 1 << 24

// check returns an error if the settings do not fit features of cols columns.
func (t *TwoHop) check(cols int) error {
	if t.Children < 1 || t.Leaves < 1 || t.Children > mostDraws/t.Leaves {
		return fmt.Errorf("%d children and %d leaves: at least 1 of each, and at most %d leaves in all", t.Children, t.Leaves, mostDraws)
	}
	h := t.Wf1.Cols + t.Wa1.Cols
	for _, m := range []struct {
		name string
		w    Matrix
		rows int
	}{{"Wf1", t.Wf1, cols}, {"Wa1", t.Wa1, cols}, {"Wf2", t.Wf2, h}, {"Wa2", t.Wa2, h}} {
		if m.w.Rows != m.rows || m.w.Cols < 1 || len(m.w.Data) != m.w.Rows*m.w.Cols {
			return fmt.Errorf("%s is %d×%d with %d numbers: it has %d rows and one column or more", m.name, m.w.Rows, m.w.Cols, len(m.w.Data), m.rows)
		}
	}
	return nil
}

// Random sets the four matrices for features of cols columns. Each gets width columns of uniform random
// numbers within ±√(6/(rows+width)) (Glorot and Bengio, 2010).
func (t *TwoHop) Random(cols, width int, seed uint64) {
	s := Key{Seed: seed}.stream()
	for n, m := range []struct {
		w    *Matrix
		rows int
	}{{&t.Wf1, cols}, {&t.Wa1, cols}, {&t.Wf2, 2 * width}, {&t.Wa2, 2 * width}} {
		*m.w = Matrix{m.rows, width, make([]float32, m.rows*width)}
		top := float32(math.Sqrt(6 / float64(m.rows+width)))
		for i := range m.w.Data {
			m.w.Data[i] = top * (2*uniform(s.words(place{of: uint32(i >> 2), slot: uint32(n), step: ^uint32(1)})[i&3]) - 1)
		}
	}
}

// Embed writes the embeddings of sources to out, len(sources)×Cols, on all processors. x are the
// features of all vertices, V×cols. A source's row depends on the key and the source, not on the
// other sources. Shapes that do not fit and sources that are no vertices are errors.
func (t *TwoHop) Embed(g *Graph, x []float32, cols int, sources []uint32, key Key, out []float32) error {
	if err := t.check(cols); err != nil {
		return err
	}
	if len(x) != g.Vertices()*cols {
		return errors.New("features have not a row for each vertex")
	}
	if err := t.sources(sources, g.Vertices(), out); err != nil {
		return err
	}
	layers := [2][2]simd.PackedB{{t.Wf1.pack(), t.Wa1.pack()}, {t.Wf2.pack(), t.Wa2.pack()}}
	strip := max(1, width/t.Children)
	chunk.Each((len(sources)+strip-1)/strip, func(i int) {
		lo, hi := i*strip, min(len(sources), (i+1)*strip)
		h := hops{t, g, x, cols, key.stream()}
		h.embed(layers, sources[lo:hi], out[lo*t.Cols():hi*t.Cols()])
	})
	return nil
}

// sources checks the sources and the length of out.
func (t *TwoHop) sources(sources []uint32, vertices int, out []float32) error {
	if len(out) != len(sources)*t.Cols() {
		return errors.New("the result has not a row for each source")
	}
	for i, v := range sources {
		if int64(v) >= int64(vertices) {
			return fmt.Errorf("source %d, at place %d, of a graph with %d vertices: sources are 0 to %d", v, i, vertices, vertices-1)
		}
	}
	return nil
}

func (m Matrix) pack() simd.PackedB {
	return simd.PackB(m.Data, m.Cols, m.Rows, m.Cols, false, nil)
}

// hops embeds a strip of sources.
type hops struct {
	*TwoHop
	g    *Graph
	x    []float32
	cols int
	key  stream
}

func (h *hops) embed(w [2][2]simd.PackedB, sources []uint32, out []float32) {
	n, c, wide := len(sources), h.Children, h.Wf1.Cols+h.Wa1.Cols
	own, mean := make([]float32, n*h.cols), make([]float32, n*h.cols)
	kids, leaves := make([]float32, n*c*h.cols), make([]float32, n*c*h.cols)
	for i, v := range sources {
		copy(own[i*h.cols:], h.row(v))
		children := h.draw(v, c, place{of: v})
		h.mean(mean[i*h.cols:][:h.cols], children)
		for j, u := range children {
			at := (i*c + j) * h.cols
			copy(kids[at:], h.row(u))
			h.mean(leaves[at:][:h.cols], h.draw(u, h.Leaves, place{of: v, step: uint32(1 + j)}))
		}
	}
	first, second := make([]float32, n*wide), make([]float32, n*c*wide)
	layer(first, own, mean, &w[0], n)
	layer(second, kids, leaves, &w[0], n*c)
	among := make([]float32, n*wide)
	for i, v := range sources {
		if h.g.Degree(v) == 0 && !h.SelfNeighbour {
			continue // the source has no children: the mean is 0
		}
		row := among[i*wide:][:wide]
		for j := range c {
			simd.AddTo(row, second[(i*c+j)*wide:][:wide])
		}
		simd.Scale(row, row, 1/float32(c))
	}
	layer(out, first, among, &w[1], n)
}

func (h *hops) row(v uint32) []float32 { return h.x[int(v)*h.cols:][:h.cols] }

// draw draws k in-edges of v with replacement and returns their far ends. For a vertex without
// in-edges it returns nil, or k times v with SelfNeighbour.
func (h *hops) draw(v uint32, k int, at place) []uint32 {
	far, _ := h.g.row(v)
	switch {
	case len(far) == 0 && !h.SelfNeighbour:
		return nil
	case len(far) == 0:
		far = []uint32{v}
	}
	list := make([]uint32, k)
	var w [4]uint32
	for j := range list {
		if j&3 == 0 {
			at.slot = uint32(j >> 2)
			w = h.key.words(at)
		}
		list[j] = far[below(w[j&3], len(far))]
	}
	return list
}

// mean sets dst, which must be 0, to the mean of the features of vertices. It stays 0 if there are
// none.
func (h *hops) mean(dst []float32, vertices []uint32) {
	for _, v := range vertices {
		simd.AddTo(dst, h.row(v))
	}
	if len(vertices) > 0 {
		simd.Scale(dst, dst, 1/float32(len(vertices)))
	}
}

// layer sets n rows of dst to normalise(relu([a·Wf, b·Wa])), w being Wf and Wa. A row of zeros stays
// 0.
func layer(dst, a, b []float32, w *[2]simd.PackedB, n int) {
	in, f := w[0].Dims()
	_, g := w[1].Dims()
	scratch := make([]float32, max(simd.GemmScratch(in, f), simd.GemmScratch(in, g)))
	simd.GemmPacked(n, a, in, &w[0], dst, f+g, false, scratch)
	simd.GemmPacked(n, b, in, &w[1], dst[f:], f+g, false, scratch)
	for i := range n {
		row := dst[i*(f+g):][:f+g]
		simd.Relu(row, row)
		sum := 0.0
		for _, x := range row {
			sum += float64(x) * float64(x)
		}
		if sum > 0 {
			simd.Scale(row, row, float32(1/math.Sqrt(sum)))
		}
	}
}
