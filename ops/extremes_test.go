package ops

import (
	"math"
	"testing"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/internal/eval"
)

// What only programs of the engine use, for numbers that are not finite; the ops that users
// write are in the tables of layers/extremes_test.go.

// extreme gives the rows of root and of the gradient of x where seed flows in.
func extreme(t *testing.T, build func(in func(name string, l leaf) *Node) (y, x *Node), value map[string][]float32, rows int) (y, grad []float32) {
	t.Helper()
	g := dataflow.NewTrace()
	leaf := func(name string, l leaf) *Node { return g.Leaf(dataflow.InputOp, name, l.shape) }
	root, x := build(leaf)
	outs := []*Node{root, nil}
	if value["seed"] != nil {
		outs[1] = dataflow.Grad(root, g.Leaf(dataflow.InputOp, "seed", root.Shape()), []*Node{x})[0]
	}
	val := eval.Run(outs, func(n *Node) []float32 { return value[n.Attr().S] }, &chunk.Edges{V: rows})
	return val[root], val[outs[1]]
}

func same32(got, want []float32) bool {
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
			return false
		}
	}
	return true
}

// Readouts by maximum: NaN wins, and NaN rows share the gradient; a group of -Inf has the
// maximum -Inf. A row that holds no maximum gets 0, whatever flows in.
func TestMaxRowsByExtremes(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	y, grad := extreme(t, func(in func(string, leaf) *Node) (y, x *Node) {
		x = in("x", vertex(1))
		return MaxRowsBy(x, in("key", vertex(1)), 4), x
	}, map[string][]float32{"x": {1, nan, nan, -inf, -inf, inf, 2, 3, -inf}, "key": {0, 0, 0, 1, 1, 2, 2, 3, 3}, "seed": {6, 8, inf, inf}}, 9)
	if want := []float32{nan, -inf, inf, 3}; !same32(y, want) {
		t.Errorf("maxima %v, want %v", y, want)
	}
	if want := []float32{0, 3, 3, 4, 4, inf, 0, inf, 0}; !same32(grad, want) {
		t.Errorf("gradient %v, want %v", grad, want)
	}
}

// What dropout drops is 0, and so is what flows back there; PyTorch multiplies by 0. What it
// keeps stays NaN or infinite.
func TestDropoutExtremes(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	const n = 64
	x, seed := fill(n, nan), fill(n, inf)
	y, grad := extreme(t, func(in func(string, leaf) *Node) (y, x *Node) {
		x = in("x", vertex(n))
		return Dropout(x, 0.5, 1, in("id", vertex(1)), nil, in("step", global(1, 4))), x
	}, map[string][]float32{"x": x, "id": {3}, "step": {1, 2, 3, 4}, "seed": seed}, 1)
	kept := 0
	for i := range y {
		switch {
		case y[i] != y[i] && grad[i] == inf:
			kept++
		case y[i] != 0 || grad[i] != 0:
			t.Errorf("column %d: %v, and %v flows back", i, y[i], grad[i])
		}
	}
	if kept == 0 || kept == n {
		t.Errorf("%d of %d are kept", kept, n)
	}
}

// Losses: rows of weight 0 give 0 and take nothing back, others NaN for NaN.
func TestLossExtremes(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	logits := []float32{nan, 1, nan, 1, -inf, 1, inf, 1}
	weight, seed := []float32{0, 1, 1, 1}, []float32{inf, 1, 1, 1}
	y, grad := extreme(t, func(in func(string, leaf) *Node) (y, x *Node) {
		x = in("x", vertex(2))
		return SoftmaxCrossEntropy(x, in("labels", vertex(1)), in("weight", vertex(1))), x
	}, map[string][]float32{"x": logits, "labels": {0, 0, 0, 0}, "weight": weight, "seed": seed}, 4)
	if want := []float32{0, nan, inf, nan}; !same32(y, want) {
		t.Errorf("softmax losses %v, want %v", y, want)
	}
	if want := []float32{0, 0, nan, nan, -1, 1, nan, nan}; !same32(grad, want) {
		t.Errorf("softmax gradient %v, want %v", grad, want)
	}
	y, grad = extreme(t, func(in func(string, leaf) *Node) (y, x *Node) {
		x = in("x", vertex(2))
		return SigmoidCrossEntropy(x, in("labels", vertex(2)), in("weight", vertex(1))), x
	}, map[string][]float32{"x": {nan, 1, nan, 0, -inf, 0, inf, 0}, "labels": {0, 0, 0, 0, 1, 0, 0, 0}, "weight": weight, "seed": seed}, 4)
	if want := []float32{0, nan, inf, nan}; !same32(y, want) { // the last: 0·∞ as in PyTorch
		t.Errorf("sigmoid losses %v, want %v", y, want)
	}
	if want := []float32{0, 0, nan, 0.25, -0.5, 0.25, 0.5, 0.25}; !same32(grad, want) {
		t.Errorf("sigmoid gradient %v, want %v", grad, want)
	}
}

// The predicted class is the first that is NaN, as PyTorch's argmax has it.
func TestCorrectNaN(t *testing.T) {
	nan := float32(math.NaN())
	got := rowsOf(correct, 3, []int{3, 1}, []float32{1, nan, 3, nan, 2, nan, 1, 2, nan}, []float32{1, 0, 1})
	if want := []float32{1, 1, 0}; !same32(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
