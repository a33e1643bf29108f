package ops

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/internal/eval"
)

// Rows that hold a maximum together share its gradient; a group without rows has the
// maximum 0.
func TestMaxRowsByShares(t *testing.T) {
	g := dataflow.NewTrace()
	x := g.Leaf(dataflow.InputOp, "x", vertex(2).shape)
	key := g.Leaf(dataflow.InputOp, "key", vertex(1).shape)
	seed := g.Leaf(dataflow.InputOp, "seed", global(3, 2).shape)
	value := map[string][]float32{"x": {-1, 5, -1, 2, -3, 5, 7, 7}, "key": {0, 0, 0, 2}, "seed": {6, 4, 9, 9, 8, 8}}
	top := MaxRowsBy(x, key, 3)
	grad := dataflow.Grad(top, seed, []*Node{x})[0]
	val := eval.Run([]*Node{top, grad}, func(n *Node) []float32 { return value[n.Attr().S] }, &chunk.Edges{V: 4})
	if want := []float32{-1, 5, 0, 0, 7, 7}; !slices.Equal(val[top], want) {
		t.Errorf("maxima %v, want %v", val[top], want)
	}
	if want := []float32{3, 2, 3, 0, 0, 2, 8, 8}; !slices.Equal(val[grad], want) {
		t.Errorf("gradient %v, want %v", val[grad], want)
	}
}

// PickRows and SumRowsBy are adjoint: ⟨pick(a), b⟩ = ⟨a, sum(b)⟩.
func TestPickAndSumAdjoint(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	g := dataflow.NewTrace()
	a := g.Leaf(dataflow.InputOp, "a", global(7, 3).shape)
	b := g.Leaf(dataflow.InputOp, "b", vertex(3).shape)
	key := g.Leaf(dataflow.InputOp, "key", vertex(1).shape)
	value := map[string][]float32{"a": lattice(r, 21), "b": lattice(r, 150), "key": vertex(1).integer(-2, 9).draw(r, 50)}
	pick, sum := PickRows(a, key), SumRowsBy(b, key, 7)
	val := eval.Run([]*Node{pick, sum}, func(n *Node) []float32 { return value[n.Attr().S] }, &chunk.Edges{V: 50})
	dot := func(x, y []float32) (s float64) {
		for i := range x {
			s += float64(x[i]) * float64(y[i])
		}
		return s
	}
	if p, q := dot(val[pick], value["b"]), dot(value["a"], val[sum]); math.Abs(p-q) > 1e-4 {
		t.Errorf("%v and %v", p, q)
	}
}
