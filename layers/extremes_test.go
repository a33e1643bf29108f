package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
)

// What ops give, and what flows back through them, for numbers that are not finite, zeros
// and subnormal numbers. The tables hold what PyTorch gives, with a remark where this
// project differs on purpose. SAGANN_DEVICE names another device than the CPU.

var (
	nan  = float32(math.NaN())
	inf  = float32(math.Inf(1))
	zero = float32(math.Copysign(0, -1)) // the negative one
)

const (
	tiny  = 1e-40  // subnormal: kernels may take it for 0
	third = 1. / 3 // of softmax
	ninf  = -1e39  // stands for -Inf in tables
	whole = 1e39   // stands for +Inf
	none  = 1e38   // stands for NaN
	wild  = 1e37   // stands for what is not finite, by rounding one or another
)

// real is the number that x of a table stands for.
func real(x float64) float32 {
	switch x {
	case ninf:
		return -inf
	case whole:
		return inf
	case none:
		return nan
	}
	return float32(x)
}

// agrees tells whether got is what the table says.
func agrees(got float32, table float64) bool {
	want := real(table)
	if table == wild {
		return got-got != 0
	}
	if got != got || want != want {
		return got != got && want != want
	}
	return got == want || math.Abs(float64(got)-float64(want)) <= 1e-5*max(1, math.Abs(float64(want)))
}

// backward is the gradient of y with respect to x where seed flows in, as part of the
// program: it is computed as any other rows are.
func backward(y, seed, x saga.Tensor) saga.Tensor { return dataflow.Grad(y, seed, []saga.Tensor{x})[0] }

// embed computes the rows of a layer on rows x [V×cols], for one and several chunks. Data
// sets hold finite features, so x is a parameter, of which a vertex picks its row.
func embed(t *testing.T, edges *chunk.Edges, x []float32, cols int, layer saga.Layer, check func(t *testing.T, rows []float32, cols int)) {
	t.Helper()
	numbers := make([]float32, edges.V)
	for v := range numbers {
		numbers[v] = float32(v)
	}
	d := &dataset.Data{Name: "extremes", Edges: edges, Features: numbers, FeatureCols: 1, Classes: 2,
		Labels: make([]int32, edges.V), Train: []uint32{0}, Val: []uint32{1}, Test: []uint32{2}}
	pick := saga.Layer{Name: "pick", ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
		return ops.PickRows(p.Weight("x", edges.V, cols, func(w []float32, _, _ int, _ *rand.Rand) { copy(w, x) }), v.Self)
	}}
	head := saga.Layer{Name: "head", ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor { return ops.Slice(v.Self, 0, 2) }}
	for _, c := range []saga.Config{{Chunks: 1}, {Chunks: 3}, {Chunks: 4, Stream: true, Without: []string{"fuse"}}, {Chunks: 4, Without: []string{"invariant"}}} {
		c.Device = os.Getenv("SAGANN_DEVICE")
		t.Run(fmt.Sprintf("P%d stream=%v without=%v", c.Chunks, c.Stream, c.Without), func(t *testing.T) {
			p, err := saga.Compile(saga.Model{Layers: []saga.Layer{pick, layer, head}}, d, c)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			rows, cols, err := p.Embed()
			if err != nil {
				t.Fatal(err)
			}
			check(t, rows, cols)
		})
	}
}

// extremes are the operands of the unary table.
var extremes = []float32{nan, inf, -inf, 0, zero, tiny, -tiny, 2, -2}

// unaryCase is an op, its results of extremes, and what flows back where 1 and +Inf flow
// in; nil: no gradient. A gradient of 0 for +Inf is 0 for NaN, too; otherwise NaN gives NaN.
type unaryCase struct {
	name string
	op   func(x saga.Tensor) saga.Tensor
	y    []float64
	one  []float64
	inf  []float64
}

func all(x float64) []float64 {
	out := make([]float64, len(extremes))
	for i := range out {
		out[i] = x
	}
	return out
}

var unaryCases = []unaryCase{
	{"relu", ops.ReLU,
		[]float64{none, whole, 0, 0, 0, tiny, 0, 2, 0},
		[]float64{1, 1, 0, 0, 0, 1, 0, 1, 0},
		[]float64{whole, whole, 0, 0, 0, whole, 0, whole, 0}},
	{"leaky_relu", func(x saga.Tensor) saga.Tensor { return ops.LeakyReLU(x, 0.2) },
		[]float64{none, whole, ninf, 0, 0, tiny, -tiny, 2, -0.4},
		[]float64{0.2, 1, 0.2, 0.2, 0.2, 1, 0.2, 1, 0.2},
		all(whole)},
	{"leaky_relu of slope 0", func(x saga.Tensor) saga.Tensor { return ops.LeakyReLU(x, 0) },
		[]float64{none, whole, none, 0, 0, tiny, 0, 2, 0},
		[]float64{0, 1, 0, 0, 0, 1, 0, 1, 0},
		[]float64{none, whole, none, none, none, whole, none, whole, none}},
	{"elu", ops.ELU,
		[]float64{none, whole, -1, 0, 0, tiny, -tiny, 2, -0.8646647},
		[]float64{1, 1, 0, 1, 1, 1, 1, 1, 0.1353353},
		[]float64{whole, whole, none, whole, whole, whole, whole, whole, whole}},
	{"gelu", ops.GELU, // its slope at infinity is 1 and 0; PyTorch gives NaN, of 0·∞
		[]float64{none, whole, none, 0, 0, 0, 0, 1.9545977, -0.0454023},
		[]float64{none, 1, 0, 0.5, 0.5, 0.5, 0.5, 1.0860992, -0.0860992},
		[]float64{none, whole, wild, whole, whole, whole, whole, whole, ninf}},
	{"silu", ops.SiLU,
		[]float64{none, whole, none, 0, 0, 0, 0, 1.7615942, -0.2384058},
		[]float64{none, none, none, 0.5, 0.5, 0.5, 0.5, 1.0907842, -0.0907842},
		[]float64{none, none, none, whole, whole, whole, whole, whole, ninf}},
	{"softplus", ops.Softplus,
		[]float64{none, whole, 0, math.Ln2, math.Ln2, math.Ln2, math.Ln2, 2.1269281, 0.126928},
		[]float64{none, 1, 0, 0.5, 0.5, 0.5, 0.5, 0.8807971, 0.1192029},
		[]float64{none, whole, none, whole, whole, whole, whole, whole, whole}},
	{"sigmoid", ops.Sigmoid,
		[]float64{none, 1, 0, 0.5, 0.5, 0.5, 0.5, 0.8807971, 0.1192029},
		[]float64{none, 0, 0, 0.25, 0.25, 0.25, 0.25, 0.1049936, 0.1049936},
		[]float64{none, none, none, whole, whole, whole, whole, whole, whole}},
	{"tanh", ops.Tanh,
		[]float64{none, 1, -1, 0, 0, tiny, -tiny, 0.9640276, -0.9640276},
		[]float64{none, 0, 0, 1, 1, 1, 1, 0.0706508, 0.0706508},
		[]float64{none, none, none, whole, whole, whole, whole, whole, whole}},
	{"exp", ops.Exp,
		[]float64{none, whole, 0, 1, 1, 1, 1, 7.3890561, 0.1353353},
		[]float64{none, whole, 0, 1, 1, 1, 1, 7.3890561, 0.1353353},
		[]float64{none, whole, none, whole, whole, whole, whole, whole, whole}},
	{"log", ops.Log,
		[]float64{none, whole, none, ninf, ninf, -92.1034037, none, math.Ln2, none},
		[]float64{none, 0, 0, whole, ninf, whole, ninf, 0.5, -0.5},
		[]float64{none, none, none, whole, ninf, whole, ninf, whole, ninf}},
	{"sqrt", ops.Sqrt,
		[]float64{none, whole, none, 0, 0, 1e-20, none, math.Sqrt2, none},
		[]float64{none, 0, none, whole, ninf, 5.0000133e19, none, 0.3535534, none},
		[]float64{none, none, none, whole, ninf, whole, none, whole, none}},
	{"square", ops.Square,
		[]float64{none, whole, whole, 0, 0, 0, 0, 4, 4},
		[]float64{none, whole, ninf, 0, 0, 0, 0, 4, -4},
		[]float64{none, whole, ninf, none, none, whole, ninf, whole, ninf}},
	{"abs", ops.Abs, // at 0 nothing flows back, as of ReLU; PyTorch multiplies by 0
		[]float64{none, whole, whole, 0, 0, tiny, tiny, 2, 2},
		[]float64{0, 1, -1, 0, 0, 1, -1, 1, -1},
		[]float64{none, whole, ninf, 0, 0, whole, ninf, whole, ninf}},
	{"neg", ops.Neg, []float64{none, ninf, whole, 0, 0, -tiny, tiny, -2, 2}, all(-1), all(ninf)},
	{"scale by 0", func(x saga.Tensor) saga.Tensor { return ops.Scale(x, 0) },
		[]float64{none, none, none, 0, 0, 0, 0, 0, 0}, all(0), all(none)},
	{"shift", func(x saga.Tensor) saga.Tensor { return ops.Shift(x, 1) },
		[]float64{none, whole, ninf, 1, 1, 1, 1, 3, -1}, all(1), all(whole)},
	{"step", ops.Step, []float64{0, 1, 0, 0, 0, 1, 0, 1, 0}, nil, nil},
	{"√ of relu", func(x saga.Tensor) saga.Tensor { return ops.Sqrt(ops.ReLU(x)) }, // fault: 0·∞
		[]float64{none, whole, 0, 0, 0, 1e-20, 0, math.Sqrt2, 0},
		[]float64{none, 0, 0, 0, 0, 5.0000133e19, 0, 0.3535534, 0},
		[]float64{none, none, 0, 0, 0, whole, 0, whole, 0}},
}

// pairs are the operands of the binary table.
var pairs = [][2]float32{{nan, 1}, {1, nan}, {nan, nan}, {inf, 1}, {1, inf}, {inf, inf}, {-inf, -1}, {-inf, -inf}, {0, zero},
	{2, 1}, {1, 2}, {tiny, 0}, {inf, 0}, {0, 0}, {1, 0}, {0, tiny}}

// binaryCase is as unaryCase, with what flows back to either operand.
type binaryCase struct {
	name     string
	op       func(x, y saga.Tensor) saga.Tensor
	y        []float64
	one, inf [2][]float64
}

var ones = []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}

func times(x []float64, f float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		if out[i] = x[i] * f; math.IsInf(f, 0) || math.Abs(f) == whole { // ±Inf, but 0 of a choice
			out[i] = math.Copysign(whole, x[i]*f)
			if x[i] == 0 {
				out[i] = 0
			}
		}
	}
	return out
}

var (
	larger  = []float64{1, 1, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0} // x has equal ones to itself; PyTorch halves
	smaller = []float64{1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1}
)

var binaryCases = []binaryCase{
	{"maximum", ops.Maximum, []float64{none, none, none, whole, whole, whole, -1, ninf, 0, 2, 2, tiny, whole, 0, 1, tiny},
		[2][]float64{larger, smaller}, [2][]float64{times(larger, whole), times(smaller, whole)}},
	{"add", ops.Add, []float64{none, none, none, whole, whole, whole, ninf, ninf, 0, 3, 3, tiny, whole, 0, 1, tiny},
		[2][]float64{ones, ones}, [2][]float64{times(ones, whole), times(ones, whole)}},
	{"sub", ops.Sub, []float64{none, none, none, whole, ninf, none, ninf, none, 0, 1, -1, tiny, whole, 0, 1, -tiny},
		[2][]float64{ones, times(ones, -1)}, [2][]float64{times(ones, whole), times(ones, ninf)}},
	{"mul", ops.Mul, []float64{none, none, none, whole, whole, whole, whole, whole, 0, 2, 2, 0, none, 0, 0, 0},
		[2][]float64{{1, none, none, 1, whole, whole, -1, ninf, 0, 1, 2, 0, 0, 0, 0, tiny},
			{none, 1, none, whole, 1, whole, ninf, ninf, 0, 2, 1, tiny, whole, 0, 1, 0}},
		[2][]float64{{whole, none, none, whole, whole, whole, ninf, ninf, none, whole, whole, none, none, none, none, whole},
			{none, whole, none, whole, whole, whole, ninf, ninf, none, whole, whole, whole, whole, none, whole, none}}},
	{"div", ops.Div, []float64{none, none, none, whole, 0, none, whole, none, none, 2, 0.5, whole, whole, none, whole, 0},
		[2][]float64{{1, none, none, 1, 0, 0, -1, 0, ninf, 1, 0.5, whole, whole, whole, whole, whole},
			{none, none, none, ninf, 0, none, whole, none, none, -2, -0.25, ninf, ninf, none, ninf, 0}},
		[2][]float64{{whole, none, none, whole, none, none, ninf, none, ninf, whole, whole, whole, whole, whole, whole, whole},
			{none, none, none, ninf, none, none, whole, none, none, ninf, ninf, ninf, ninf, none, ninf, none}}},
	{"eq", ops.Eq, []float64{0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0}, [2][]float64{}, [2][]float64{}},
}

// seeds are what flows in.
var seeds = []float32{1, inf, nan}

// flowed is what flows back where seeds[s] flows in.
func flowed(one, whole []float64, s, i int) float64 {
	switch {
	case s == 0:
		return one[i]
	case s == 2 && whole[i] != 0:
		return none
	}
	return whole[i]
}

// TestExtremesOfElements has every op of the tables in one layer: a row of the features is
// a pair of operands of every op and what flows in.
func TestExtremesOfElements(t *testing.T) {
	var rows []float32
	var at [][2]int // of a row: the operands, the seed
	for i := range max(len(pairs), len(extremes)) {
		for s, seed := range seeds {
			rows = append(rows, extremes[i%len(extremes)], pairs[i][0], pairs[i][1], seed)
			at = append(at, [2]int{i, s})
		}
	}
	edges := &chunk.Edges{V: len(at), Src: []uint32{0}, Dst: []uint32{1}}
	for _, width := range []int{1, 5, 33} {
		layer := saga.Layer{Name: "elements", ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor {
			part := func(k int) saga.Tensor { return ops.Widen(ops.Slice(v.Self, k, 1), width) }
			var out []saga.Tensor
			for _, c := range unaryCases {
				x := part(0)
				y := c.op(x)
				if out = append(out, y); c.one != nil {
					out = append(out, backward(y, part(3), x))
				}
			}
			for _, c := range binaryCases {
				a, b := part(1), part(2)
				y := c.op(a, b)
				if out = append(out, y); c.one[0] != nil {
					out = append(out, backward(y, part(3), a), backward(y, part(3), b))
				}
			}
			return ops.Concat(out[0], out[1:]...)
		}}
		embed(t, edges, rows, 4, layer, func(t *testing.T, got []float32, cols int) {
			for r, where := range at {
				row := got[r*cols : (r+1)*cols]
				expect := func(what string, operands any, want, flushed float64) {
					for k, g := range row[:width] {
						if !agrees(g, want) && !agrees(g, flushed) {
							t.Errorf("width %d, column %d: %s of %v, %v flowing in: %v, want %v", width, k, what, operands, seeds[where[1]], g, real(want))
						}
					}
					row = row[width:]
				}
				i, s := where[0]%len(extremes), where[1]
				for _, c := range unaryCases {
					j := i // what i may count as
					if i == 5 || i == 6 {
						j = i - 2
					}
					expect(c.name, extremes[i], c.y[i], c.y[j])
					if c.one != nil {
						expect("the gradient of "+c.name, extremes[i], flowed(c.one, c.inf, s, i), flowed(c.one, c.inf, s, j))
					}
				}
				i = where[0]
				for _, c := range binaryCases {
					j := i
					if i == 11 || i == 15 {
						j = 13
					}
					expect(c.name, pairs[i], c.y[i], c.y[j])
					for k := range c.one {
						if c.one[k] != nil {
							expect(fmt.Sprintf("the gradient of %s, operand %d,", c.name, k), pairs[i], flowed(c.one[k], c.inf[k], s, i), flowed(c.one[k], c.inf[k], s, j))
						}
					}
				}
			}
		})
	}
}
