package ops

import (
	"math"
	"testing"

	"sagann/dataflow"
	"sagann/kernel"
)

// TestConstructors: constructors make their op of their arguments, in that order.
func TestConstructors(t *testing.T) {
	g := dataflow.NewTrace()
	in := func(l leaf) *Node { return g.Leaf(dataflow.InputOp, "x", l.shape) }
	x, y, z, one, rate, row := in(vertex(4)), in(vertex(4)), in(vertex(4)), in(vertex(1)), in(global(1, 4)), in(global(1, 4))
	for _, tc := range []struct {
		n    *Node
		op   Op
		attr attr
		in   []*Node
	}{
		{Moment(x, y, 0.9), moment, attr{F: 0.9}, []*Node{x, y}},
		{Moment2(x, y, 0.9), moment2, attr{F: 0.9}, []*Node{x, y}},
		{AdamStep(x, y, z, rate, 1e-8), adamStep, attr{F: 1e-8}, []*Node{x, y, z, rate}},
		{SGDStep(x, y, rate), sgdStep, attr{}, []*Node{x, y, rate}},
		{DecayStep(x, rate, 0.1), decayStep, attr{F: 0.1}, []*Node{x, rate}},
		{SquaredError(x, y, one), squaredError, attr{}, []*Node{x, y, one}},
		{AbsoluteError(x, y, one), absoluteError, attr{}, []*Node{x, y, one}},
		{HuberError(x, y, one, 2), huberError, attr{F: 2}, []*Node{x, y, one}},
		{Standardize(x, rate, row, 7), standardize, attr{I: 7}, []*Node{x, rate, row}},
		{Correct(x, one), correct, attr{}, []*Node{x, one}},
		{Positive(x), step, attr{}, []*Node{x}},
		{Softmax(x), softmax, attr{}, []*Node{x}},
		{LogSoftmax(x), logSoftmax, attr{}, []*Node{x}},
		{L2Normalize(x), l2Normalize, attr{}, []*Node{x}},
		{GELU(x), gelu, attr{}, []*Node{x}},
		{SiLU(x), silu, attr{}, []*Node{x}},
		{Softplus(x), softplus, attr{}, []*Node{x}},
		{Log(x), log, attr{}, []*Node{x}},
		{Abs(x), abs, attr{}, []*Node{x}},
		{SparseMatMul(x, in(global(9, 3))), sparseMatmul, attr{}, []*Node{x, nil}},
		{SparseDropout(x, 0.5, 3, one, rate), sparseDropout, attr{F: 0.5, I: 3}, []*Node{x, rate, one}},
	} {
		if tc.n.Op() != tc.op || tc.n.Attr() != tc.attr || tc.n.NumIn() != len(tc.in) {
			t.Errorf("%s%+v of %d operands, want %s%+v of %d", tc.n.Op(), tc.n.Attr(), tc.n.NumIn(), tc.op, tc.attr, len(tc.in))
			continue
		}
		for i, want := range tc.in {
			if want != nil && tc.n.In(i) != want {
				t.Errorf("%s: operand %d is another", tc.op, i)
			}
		}
	}
}

// TestNoRows: a device may have no row of a batch; whole operands are there.
func TestNoRows(t *testing.T) {
	for _, op := range dataflow.Ops() {
		d := dataflow.DefOf(op)
		if d.CPU == nil {
			continue
		}
		for _, ex := range examples[op] {
			a := &kernel.Args{OutCols: 1, I: ex.attr.I, J: ex.attr.J, F: ex.attr.F}
			for _, l := range ex.in {
				rows := 0
				if l.Set.Kind == dataflow.Global && d.Class == dataflow.Row {
					rows = l.Rows
				}
				a.In, a.InCols, a.InRows = append(a.In, make([]float32, rows*l.Cols)), append(a.InCols, l.Cols), append(a.InRows, rows)
			}
			t.Run(string(op), func(t *testing.T) { d.CPU(a) }) // it reads nothing
		}
	}
}

// TestWeightZero: a row that does not count gives 0, and its gradient is 0, whatever it holds and whatever flows in.
func TestWeightZero(t *testing.T) {
	nan := float32(math.NaN())
	row := []float32{nan, 1, nan}
	for _, op := range []Op{squaredError, absoluteError, huberError, positiveXent, sigmoidXent, knownXent} {
		in := [][]float32{row, row, {0}}
		cols := []int{3, 3, 1}
		if op == positiveXent || op == knownXent {
			in, cols = append(in, row), append(cols, 3)
		}
		out := []float32{7}
		a := &kernel.Args{Rows: 1, Out: out, OutCols: 1, F: 1, In: in, InCols: cols}
		dataflow.DefOf(op).CPU(a)
		if out[0] != 0 {
			t.Errorf("%s is %v", op, out[0])
		}
		a.Out, a.OutCols, a.In, a.InCols = []float32{7, 7, 7}, 3, append(in, []float32{nan}), append(cols, 1)
		dataflow.DefOf(op + "_grad").CPU(a)
		for _, v := range a.Out {
			if v != 0 {
				t.Errorf("the gradient of %s is %v", op, a.Out)
			}
		}
	}
}

// TestLongSparseRow: the sum of a row of many entries is as exact as that of a row of few.
func TestLongSparseRow(t *testing.T) {
	const k = 5000
	x, w, want := make([]float32, 2*k), make([]float32, k), 0.0
	for j := range k {
		x[j], x[k+j], w[j] = math.Float32frombits(uint32(j)), 0.1+float32(j%7), 1.3+float32(j%11)
		want += float64(x[k+j]) * float64(w[j])
	}
	out := []float32{0}
	dataflow.DefOf(sparseMatmul).CPU(&kernel.Args{Rows: 1, Out: out, OutCols: 1, In: [][]float32{x, w}, InCols: []int{2 * k, 1}, InRows: []int{0, k}})
	if err := math.Abs(float64(out[0])-want) / want; err > 1e-6 {
		t.Errorf("%v, want %v: off by %.1e", out[0], want, err)
	}
}

// TestRandom: bits are those of the words and of their order.
func TestRandom(t *testing.T) {
	seen := map[uint64]bool{}
	for _, words := range [][]uint32{nil, {0}, {1}, {0, 0}, {0, 1}, {1, 0}, {1 << 31}} {
		n := Random(words...)
		if seen[n] || n != Random(words...) {
			t.Errorf("%v: %x was drawn before, or is not drawn again", words, n)
		}
		seen[n] = true
	}
}
