package ops

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sagann/dataflow"
)

// A wrong shape panics with the user's line and says what to do in the user's words.
func TestShapeErrors(t *testing.T) {
	g := dataflow.NewTrace()
	in := func(l leaf) *Node { return g.Leaf(dataflow.InputOp, "x", l.shape) }
	v, e, m := in(vertex(4)), in(edge(4)), in(global(3, 4))
	other := g.Leaf(dataflow.InputOp, "x", shape{Set: dataflow.Set{Kind: dataflow.Vertex, ID: 1}, Cols: 4})
	v1, e1, stepRow := in(vertex(1)), in(edge(1)), in(global(1, 4))
	for _, tc := range []struct {
		text string
		make func() *Node
	}{
		{"as Edge.Src or Edge.Dst", func() *Node { return Add(v, e) }},
		{"as Edge.Src or Edge.Dst", func() *Node { return Mul(e, v) }},
		{"as Edge.Src or Edge.Dst", func() *Node { return Concat(e, v) }},
		{"as Edge.Src or Edge.Dst", func() *Node { return SoftmaxCrossEntropy(v, e1, e1) }},
		{"add([V×4], [V×1]): widths 4 and 1 differ", func() *Node { return Add(v, v1) }},
		{"different vertices sets (V and V0)", func() *Node { return Add(v, other) }},
		{"only a matrix of one row spreads", func() *Node { return Sub(v, m) }},
		{"matrices of 3 and 2 rows", func() *Node { return Div(m, in(global(2, 4))) }},
		{"must stand for the same things", func() *Node { return Concat(Slice(m, 0, 2), Slice(stepRow, 0, 2)) }},
		{"0 rows", func() *Node { return SumRowsBy(v, v1, 0) }},
		{"the key must have one column, not 4", func() *Node { return SumRowsBy(v, v, 3) }},
		{"only a matrix of one row spreads", func() *Node { return MaxRowsBy(m, v1, 3) }},
		{"picks rows of a matrix", func() *Node { return PickRows(v, v1) }},
		{"keys of vertices or of edges", func() *Node { return PickRows(m, in(global(3, 1))) }},
		{"slope -1", func() *Node { return LeakyReLU(v, -1) }},
		{"4 columns do not widen to 6", func() *Node { return Widen(v, 6) }},
		{"4 columns do not fall into 3 equal groups", func() *Node { return GroupSum(v, 3) }},
		{"columns 2 to 5 of a tensor of 4", func() *Node { return Slice(v, 2, 4) }},
		{"4 columns at column 3 do not fit into 6", func() *Node { return Pad(v, 3, 6) }},
		{"must be a matrix, such as a parameter", func() *Node { return MatMul(v, v) }},
		{"inner dimensions 4 and 3 differ", func() *Node { return MatMul(v, m) }},
		{"inner dimensions 1 and 4 differ", func() *Node { return MatMulNT(v1, m) }},
		{"spreads a matrix of one row", func() *Node { return Spread(m, v) }},
		{"0 blocks", func() *Node { return Place("type", e, e1, 0) }},
		{"the key must have one column, not 4", func() *Node { return Place("type", e, e, 3) }},
		{"4 columns do not fall into 3 equal blocks", func() *Node { return Pick("type", e, e1, 3) }},
		{"labels must have one column, not 4", func() *Node { return SoftmaxCrossEntropy(v, v, v1) }},
		{"4 logits but 1 targets", func() *Node { return SigmoidCrossEntropy(v, v1, v1) }},
		{"eps 0 is not positive", func() *Node { return LayerNorm(v, 0) }},
		{"probability 1 is not in [0, 1)", func() *Node { return Dropout(v, 1, 0, v1, nil, stepRow) }},
		{"the step is [3×4], not [1×4]", func() *Node { return Dropout(v, 0.5, 0, v1, nil, m) }},
		{"as Edge.Src or Edge.Dst", func() *Node { return Dropout(v, 0.5, 0, e1, nil, stepRow) }},
		{"gathers edge rows, not [V×4]", func() *Node { return Max(v) }},
		{"drops from vertices or edges", func() *Node { return Dropout(m, 0.5, 0, v1, nil, stepRow) }},
		{"an identity must have one column, not 4", func() *Node { return Dropout(v, 0.5, 0, v, nil, stepRow) }},
		{"is no tensor of sparse rows", func() *Node { return SparseMatMul(in(vertex(3)), m) }},
		{"must be a matrix, such as a parameter", func() *Node { return SparseMatMul(v, v) }},
		{"is no tensor of sparse rows", func() *Node { return SparseDropout(m, 0.5, 0, v1, stepRow) }},
		{"must be a matrix, such as a parameter", func() *Node { return MatMulNT(v, v) }},
		{"the rate is [3×4], not [1×4]", func() *Node { return SGDStep(v, v, m) }},
		{"the rate is [V×4], not [1×4]", func() *Node { return AdamStep(v, v, v, v, 1e-8) }},
		{"delta 0 is not positive", func() *Node { return HuberError(v, v, v1, 0) }},
		{"4 logits but 3 weights of positive targets", func() *Node { return PositiveSigmoidCrossEntropy(v, v, v1, in(global(1, 3))) }},
		{"4 logits but 1 targets", func() *Node { return SquaredError(v, v1, v1) }},
		{"weight must have one column, not 4", func() *Node { return AbsoluteError(v, v, v) }},
		{"weight must have one column, not 4", func() *Node { return SoftmaxCrossEntropy(v, v1, v) }},
		{"labels must have one column, not 4", func() *Node { return Correct(v, v) }},
		{"0 rows", func() *Node { return Standardize(v, stepRow, stepRow, 0) }},
		{"mean and scale are matrices of one row", func() *Node { return Standardize(v, v, stepRow, 9) }},
		{"the key must have one column, not 4", func() *Node { return PickRows(m, v) }},
	} {
		t.Run(tc.text, func(t *testing.T) {
			err := shapeError(tc.make)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tc.text) {
				t.Errorf("error %q does not say %q", err, tc.text)
			}
			if !strings.HasPrefix(err.Pos, "shape_test.go:") {
				t.Errorf("made at %s, want a line of this file", err.Pos)
			}
		})
	}
}

func TestShapeErrorNamesItsLine(t *testing.T) {
	g := dataflow.NewTrace()
	x := g.Leaf(dataflow.InputOp, "x", vertex(4).shape)
	_, _, line, _ := runtime.Caller(0)
	err := shapeError(func() *Node { return RowScale(x, g.Leaf(dataflow.InputOp, "y", vertex(3).shape)) })
	if want := fmt.Sprintf("shape_test.go:%d", line+1); err == nil || err.Pos != want {
		t.Errorf("error %v, want one at %s", err, want)
	}
}

// shapeError is what f panics with, nil if it returns.
func shapeError(f func() *Node) (err *dataflow.ShapeError) {
	defer func() {
		if p := recover(); p != nil && !errors.As(p.(error), &err) {
			panic(p)
		}
	}()
	f()
	return nil
}

func TestIdentitiesAddNoNode(t *testing.T) {
	g := dataflow.NewTrace()
	x := g.Leaf(dataflow.InputOp, "x", vertex(4).shape)
	for name, y := range map[string]*Node{
		"Widen": Widen(x, 4), "GroupSum": GroupSum(x, 4), "Slice": Slice(x, 0, 4), "Pad": Pad(x, 0, 4), "Concat": Concat(x),
	} {
		if y != x {
			t.Errorf("%s to the same width makes a node", name)
		}
	}
}

func TestConcatSpreadsRows(t *testing.T) {
	g := dataflow.NewTrace()
	x := g.Leaf(dataflow.InputOp, "x", edge(4).shape)
	b := g.Leaf(dataflow.ParamOp, "b", global(1, 3).shape)
	if got := Concat(b, x, b).Shape().String(); got != "[E×10]" {
		t.Errorf("shape %s, want [E×10]", got)
	}
}
