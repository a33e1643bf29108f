package ops

import (
	"math"
	"math/rand/v2"
	"testing"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/internal/eval"
)

// A leaf of a test program: its shape and how its values are drawn.
type leaf struct {
	shape
	draw func(r *rand.Rand, n int) []float32
}

func vertex(c int) leaf    { return leaf{shape{Set: dataflow.V0, Cols: c}, lattice} }
func edge(c int) leaf      { return leaf{shape{Set: dataflow.E0, Cols: c}, lattice} }
func global(r, c int) leaf { return leaf{shape{Rows: r, Cols: c}, lattice} }

// positive, integer and words draw other values than numbers around zero.
func (l leaf) positive() leaf {
	return leaf{l.shape, func(r *rand.Rand, n int) []float32 {
		v := lattice(r, n)
		for i := range v {
			v[i] = 0.5 + float32(math.Abs(float64(v[i])))
		}
		return v
	}}
}

func (l leaf) integer(lo, hi int) leaf {
	return leaf{l.shape, func(r *rand.Rand, n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(lo + r.IntN(hi-lo))
		}
		return v
	}}
}

func (l leaf) words() leaf {
	return leaf{l.shape, func(r *rand.Rand, n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = math.Float32frombits(r.Uint32() >> 9)
		}
		return v
	}}
}

// lattice draws n numbers of (-2, 2) that keep away from 0 and from each other, so
// that a small step crosses no kink of an op. Two draws differ by a random offset.
func lattice(r *rand.Rand, n int) []float32 {
	v, offset := make([]float32, n), 0.1+0.3*r.Float32()
	for i, p := range r.Perm(n) {
		v[i] = (float32(p) - float32(n)/2 + offset) * 4 / float32(n)
	}
	return v
}

// multigraph is a random graph with repeated edges, a self loop and vertices without
// in-edges, whose edges carry types.
func multigraph(r *rand.Rand, v, e int) *chunk.Edges {
	g := &chunk.Edges{V: v, Types: 3}
	for range e {
		g.Src = append(g.Src, uint32(r.IntN(v)))
		g.Dst = append(g.Dst, uint32(r.IntN(v-2)))
		g.Type = append(g.Type, uint32(r.IntN(3)))
	}
	g.Dst[0], g.Src[1], g.Dst[1] = g.Src[0]%uint32(v-2), g.Src[0], g.Dst[0]
	return g
}

// program is a result with the leaves below it and their values.
type program struct {
	root   *Node
	leaves []*Node
	value  map[*Node][]float32
	graph  *chunk.Edges
}

func newProgram(seed uint64, graph *chunk.Edges, leaves []leaf, build func(x []*Node) *Node) *program {
	r := rand.New(rand.NewPCG(seed, 1))
	g := dataflow.NewTrace()
	p := &program{value: map[*Node][]float32{}, graph: graph}
	for i, l := range leaves {
		x := g.Leaf(dataflow.InputOp, string(rune('a'+i)), l.shape)
		p.value[x] = l.draw(r, p.rows(l.shape)*l.Cols)
		p.leaves = append(p.leaves, x)
	}
	p.root = build(p.leaves)
	return p
}

func (p *program) rows(s shape) int {
	switch s.Set.Kind {
	case dataflow.Vertex:
		return p.graph.V
	case dataflow.Edge:
		return p.graph.E()
	}
	return s.Rows
}

func (p *program) run(outs ...*Node) map[*Node][]float32 {
	return eval.Run(outs, func(n *Node) []float32 { return p.value[n] }, p.graph)
}

// checkGrad compares the gradient of ⟨seed, root⟩ with central differences, for
// every number of every leaf that a gradient reaches, and returns those gradients.
func (p *program) checkGrad(t *testing.T) [][]float32 {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	seed := p.root.Graph().Leaf(dataflow.InputOp, "seed", p.root.Shape())
	p.value[seed] = lattice(r, p.rows(seed.Shape())*seed.Cols())
	grads := dataflow.Grad(p.root, seed, p.leaves)
	val := p.run(grads...)
	loss := func() float64 {
		sum := 0.0
		for i, y := range p.run(p.root)[p.root] {
			sum += float64(y) * float64(p.value[seed][i])
		}
		return sum
	}
	const h, tolerance = 0.01, 2e-3
	out := make([][]float32, len(grads))
	for i, d := range grads {
		if d == nil {
			continue
		}
		x := p.leaves[i]
		if d.Shape() != x.Shape() {
			t.Errorf("gradient of operand %d is %v, the operand %v", i, d.Shape(), x.Shape())
			continue
		}
		out[i] = val[d]
		for j, got := range val[d] {
			v := &p.value[x][j]
			old := *v
			*v = old + h
			up, hi := loss(), float64(*v)
			*v = old - h
			down, lo := loss(), float64(*v)
			*v = old
			want := (up - down) / (hi - lo)
			if math.Abs(float64(got)-want) > tolerance*math.Max(1, math.Abs(want)) {
				t.Errorf("gradient of operand %d at %d: %v, differences give %v", i, j, got, want)
			}
		}
	}
	return out
}
