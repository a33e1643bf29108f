package ops

import (
	"math"
	"slices"
)

// examples holds what TestEveryOp tries every op on.
var examples = map[Op][]example{
	add:     examplesOf(2, func(x ...float64) float64 { return x[0] + x[1] }),
	sub:     examplesOf(2, func(x ...float64) float64 { return x[0] - x[1] }),
	mul:     examplesOf(2, func(x ...float64) float64 { return x[0] * x[1] }),
	maximum: examplesOf(2, func(x ...float64) float64 { return max(x[0], x[1]) }),
	div: {
		{in: []leaf{vertex(5), vertex(5).positive()}, want: "[V×5]", grads: 2, ref: quotient},
		{in: []leaf{edge(5), global(1, 5).positive()}, want: "[E×5]", grads: 2, ref: quotient},
		{in: []leaf{global(1, 5), edge(5).positive()}, want: "[E×5]", grads: 2, ref: quotient},
	},
	mask: {
		{in: []leaf{vertex(5), vertex(5).integer(-1, 2)}, want: "[V×5]", grads: 1, ref: masks},
		{in: []leaf{global(1, 5), edge(5).integer(-1, 2)}, want: "[E×5]", grads: 1, ref: masks},
		{in: []leaf{edge(5), global(1, 5).integer(-1, 2)}, want: "[E×5]", grads: 1, ref: masks},
	},
	nonzero: unary(vertex(7).integer(-1, 2), 0, func(x ...float64) float64 { return when(x[0] != 0, 1, 0) }),
	eq: one(example{in: []leaf{vertex(5).integer(0, 2), vertex(5).integer(0, 2)}, want: "[V×5]",
		ref: func(x ...float64) float64 { return when(x[0] == x[1], 1, 0) }}),
	neg: unary(vertex(37), 1, func(x ...float64) float64 { return -x[0] }),
	scale: one(example{in: []leaf{edge(9)}, attr: attr{F: 2.5}, want: "[E×9]", grads: 1,
		ref: func(x ...float64) float64 { return 2.5 * x[0] }}),
	shift: one(example{in: []leaf{edge(9)}, attr: attr{F: 2.5}, want: "[E×9]", grads: 1,
		ref: func(x ...float64) float64 { return 2.5 + x[0] }}),

	exp:     unary(vertex(7), 1, func(x ...float64) float64 { return math.Exp(x[0]) }),
	log:     unary(vertex(7).positive(), 1, func(x ...float64) float64 { return math.Log(x[0]) }),
	inverse: unary(vertex(7).positive(), 1, func(x ...float64) float64 { return 1 / x[0] }),
	sqrt:    unary(vertex(7).positive(), 1, func(x ...float64) float64 { return math.Sqrt(x[0]) }),
	square:  unary(vertex(7), 1, func(x ...float64) float64 { return x[0] * x[0] }),
	abs:     unary(vertex(7), 1, func(x ...float64) float64 { return math.Abs(x[0]) }),

	sigmoid:     unary(vertex(7), 1, func(x ...float64) float64 { return logistic(x[0]) }),
	sigmoidGrad: unary(vertex(7), 0, func(x ...float64) float64 { return x[0] * (1 - x[0]) }),
	tanh:        unary(vertex(7), 1, func(x ...float64) float64 { return math.Tanh(x[0]) }),
	tanhGrad:    unary(vertex(7), 0, func(x ...float64) float64 { return 1 - x[0]*x[0] }),
	relu:        unary(global(2, 7), 1, func(x ...float64) float64 { return max(x[0], 0) }),
	step:        unary(vertex(7), 0, func(x ...float64) float64 { return when(x[0] > 0, 1, 0) }),
	leakyRelu: one(example{in: []leaf{edge(9)}, attr: attr{F: 0.2}, want: "[E×9]", grads: 1,
		ref: func(x ...float64) float64 { return when(x[0] > 0, x[0], 0.2*x[0]) }}),
	leakyStep: one(example{in: []leaf{edge(9)}, attr: attr{F: 0.2}, want: "[E×9]",
		ref: func(x ...float64) float64 { return when(x[0] > 0, 1, 0.2) }}),
	elu:     unary(vertex(7), 1, func(x ...float64) float64 { return when(x[0] > 0, x[0], math.Expm1(x[0])) }),
	eluGrad: unary(vertex(7), 0, func(x ...float64) float64 { return when(x[0] <= 0, x[0]+1, 1) }),
	gelu: unary(vertex(7), 1, func(x ...float64) float64 {
		return x[0] / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x[0]+0.044715*x[0]*x[0]*x[0])))
	}),
	silu:     unary(vertex(7), 1, func(x ...float64) float64 { return x[0] * logistic(x[0]) }),
	geluGrad: unary(vertex(7), 0, nil),
	erf:      unary(vertex(7), 1, func(x ...float64) float64 { return math.Erf(x[0]) }),
	softplus: unary(vertex(7), 1, func(x ...float64) float64 { return math.Log1p(math.Exp(x[0])) }),

	dropout: one(example{in: []leaf{vertex(9), global(1, 4).words(), vertex(1).words()},
		attr: attr{I: 3, F: 0.4}, want: "[V×9]", grads: 1}),
	edgeDropout: one(example{in: []leaf{edge(9), global(1, 4).words(), edge(1).words(), edge(1).integer(0, 9)},
		attr: attr{I: 3, F: 0.4}, want: "[E×9]", grads: 1}),

	dropOwn: one(example{in: []leaf{global(1, 4).words(), vertex(1).words()}, attr: attr{I: 3, F: 0.4}, want: "[V×1]"}),

	moment: one(example{in: []leaf{vertex(5), vertex(5)}, attr: attr{F: 0.9}, want: "[V×5]",
		ref: func(x ...float64) float64 { return 0.9*x[0] + 0.1*x[1] }}),
	moment2: one(example{in: []leaf{vertex(5), vertex(5)}, attr: attr{F: 0.9}, want: "[V×5]",
		ref: func(x ...float64) float64 { return 0.9*x[0] + 0.1*x[1]*x[1] }}),
	adamStep:  one(example{in: []leaf{vertex(5), vertex(5), vertex(5).positive(), global(1, 4).positive()}, attr: attr{F: 0.1}, want: "[V×5]"}),
	sgdStep:   one(example{in: []leaf{vertex(5), vertex(5), global(1, 4)}, want: "[V×5]"}),
	decayStep: one(example{in: []leaf{vertex(5), global(1, 4)}, attr: attr{F: 0.1}, want: "[V×5]"}),

	widen: {
		{in: []leaf{edge(3)}, attr: attr{I: 12}, want: "[E×12]", grads: 1},
		{in: []leaf{global(2, 1)}, attr: attr{I: 19}, want: "[2×19]", grads: 1},
	},
	groupSum: {
		{in: []leaf{edge(12)}, attr: attr{I: 3}, want: "[E×3]", grads: 1},
		{in: []leaf{vertex(19)}, attr: attr{I: 1}, want: "[V×1]", grads: 1},
	},

	concat: {
		{in: []leaf{edge(3), edge(5)}, want: "[E×8]", grads: 2},
		{in: []leaf{global(2, 3), global(2, 5)}, want: "[2×8]", grads: 2},
	},
	slice: one(example{in: []leaf{vertex(8)}, attr: attr{I: 2, J: 3}, want: "[V×3]", grads: 1}),
	part:  one(example{in: []leaf{vertex(8)}, attr: attr{I: 2, J: 3}, want: "[V×3]", grads: 1}),
	joinCols: {
		{in: []leaf{vertex(3), vertex(5)}, want: "[V×8]", grads: 2},
		{in: []leaf{edge(3), edge(1), edge(2), edge(4)}, want: "[E×10]", grads: 4},
	},
	pack: {
		{in: []leaf{vertex(5)}, want: "[V×3]"},
		{in: []leaf{vertex(6)}, want: "[V×3]"},
	},
	unpack: {
		{in: []leaf{vertex(3)}, attr: attr{I: 5}, want: "[V×5]"},
		{in: []leaf{edge(3)}, attr: attr{I: 6}, want: "[E×6]"},
	},
	pad:   one(example{in: []leaf{vertex(3)}, attr: attr{I: 2, J: 8}, want: "[V×8]", grads: 1}),
	place: one(example{in: []leaf{edge(2), edge(1).integer(-1, 4)}, attr: attr{S: "type", I: 3}, want: "[E×6]", grads: 1}),
	pick:  one(example{in: []leaf{edge(6), edge(1).integer(-1, 4)}, attr: attr{S: "type", I: 3}, want: "[E×2]", grads: 1}),

	matmul: {
		{in: []leaf{edge(3), global(3, 4)}, want: "[E×4]", grads: 2},
		{in: []leaf{global(2, 3), global(3, 4)}, want: "[2×4]", grads: 2},
	},
	matmulNT: one(example{in: []leaf{vertex(3), global(4, 3)}, want: "[V×4]", grads: 2}),
	matmulTN: {
		{in: []leaf{edge(3), edge(4)}, want: "[3×4]", grads: 2},
		{in: []leaf{global(5, 3), global(5, 4)}, want: "[3×4]", grads: 2},
	},
	sparseMatmul:   one(example{in: []leaf{sparseRows(3, 4), global(4, 5)}, want: "[V×5]", grads: 1}),
	sparseMatmulTN: one(example{in: []leaf{vertex(5), sparseRows(3, 4)}, attr: attr{I: 4}, want: "[4×5]"}),
	sparseDropout: one(example{in: []leaf{sparseRows(3, 4), global(1, 4).words(), vertex(1).words()},
		attr: attr{I: 3, F: 0.4}, want: "[V×6]"}),

	sumRows: one(example{in: []leaf{edge(4)}, want: "[1×4]", grads: 1}),
	spread: {
		{in: []leaf{global(1, 4), edge(7)}, want: "[E×4]", grads: 1},
		{in: []leaf{global(1, 4), global(3, 1)}, want: "[3×4]", grads: 1},
	},

	sumRowsBy: {
		{in: []leaf{vertex(4), vertex(1).integer(0, 3)}, attr: attr{I: 3}, want: "[3×4]", grads: 1},
		{in: []leaf{edge(4), edge(1).integer(-1, 5)}, attr: attr{I: 3}, want: "[3×4]", grads: 1},
	},
	maxRowsBy:   maxima, // read as numbers by from_ordered
	fromOrdered: maxima,
	pickRows: {
		{in: []leaf{global(3, 4), vertex(1).integer(0, 3)}, attr: attr{I: 3}, want: "[V×4]", grads: 1},
		{in: []leaf{global(3, 1), edge(1).integer(-1, 5)}, attr: attr{I: 3}, want: "[E×1]", grads: 1},
	},

	standardize:     one(example{in: []leaf{vertex(5)}, want: "[V×5]", grads: 1, build: standardized}),
	softmax:         unary(vertex(6), 1, nil),
	logSoftmax:      unary(vertex(6), 1, nil),
	l2Normalize:     unary(vertex(6), 1, nil),
	l2NormalizeGrad: one(example{in: []leaf{vertex(6), vertex(6)}, want: "[V×6]"}),
	layerNorm:       one(example{in: []leaf{vertex(6)}, attr: attr{F: 1e-5}, want: "[V×6]", grads: 1}),
	layerNormGrad:   one(example{in: []leaf{vertex(6), vertex(6)}, attr: attr{F: 1e-5}, want: "[V×6]"}),

	softmaxXent:       one(example{in: classified, want: "[V×1]", grads: 1}),
	softmaxXentGrad:   one(example{in: append(slices.Clone(classified), vertex(1)), want: "[V×5]"}),
	sigmoidXent:       one(example{in: multiClassified, want: "[V×1]", grads: 1}),
	sigmoidXentGrad:   one(example{in: append(slices.Clone(multiClassified), vertex(1)), want: "[V×5]"}),
	positiveXent:      one(example{in: positiveClassified, want: "[V×1]", grads: 1}),
	positiveXentGrad:  one(example{in: append(slices.Clone(positiveClassified), vertex(1)), want: "[V×5]"}),
	knownXent:         one(example{in: knownClassified, want: "[V×1]", grads: 1}),
	knownXentGrad:     one(example{in: append(slices.Clone(knownClassified), vertex(1)), want: "[V×5]"}),
	squaredError:      one(example{in: regressed, want: "[V×1]", grads: 1}),
	squaredErrorGrad:  one(example{in: append(slices.Clone(regressed), vertex(1)), want: "[V×5]"}),
	absoluteError:     one(example{in: regressed, want: "[V×1]", grads: 1}),
	absoluteErrorGrad: one(example{in: append(slices.Clone(regressed), vertex(1)), want: "[V×5]"}),
	huberError:        one(example{in: regressed, attr: attr{F: 0.5}, want: "[V×1]", grads: 1}),
	huberErrorGrad:    one(example{in: append(slices.Clone(regressed), vertex(1)), attr: attr{F: 0.5}, want: "[V×5]"}),
	correct:           one(example{in: classified[:2], want: "[V×1]"}),
}

// maxima hold no two equal numbers.
var maxima = []example{
	{in: []leaf{vertex(5), vertex(1).integer(0, 3)}, want: "[3×5]", grads: 1, build: maxOf3},
	{in: []leaf{edge(2), edge(1).integer(-1, 5)}, want: "[3×2]", grads: 1, build: maxOf3},
}

func maxOf3(x []*Node) *Node { return MaxRowsBy(x[0], x[1], 3) }

var (
	classified         = []leaf{vertex(5), vertex(1).integer(0, 5), vertex(1).positive()}
	positiveClassified = append(slices.Clone(multiClassified), vertex(5).positive())
	knownClassified    = []leaf{vertex(5), vertex(5).integer(-1, 2), vertex(1).positive(), vertex(5).positive()}
	regressed          = []leaf{vertex(5), vertex(5), vertex(1).positive()}
	multiClassified    = []leaf{vertex(5), vertex(5).integer(0, 2), vertex(1).positive()}
)

// standardized is batch norm over the four vertices of TestEveryOp, without scale and shift.
func standardized(x []*Node) *Node {
	mean, variance := Moments(x[0], 4)
	return Standardize(x[0], mean, Div(Widen(x[0].Graph().Const(1), x[0].Cols()), Sqrt(Shift(variance, 1e-5))), 4)
}

func masks(x ...float64) float64 { return when(x[1] != 0, x[0], 0) }

func quotient(x ...float64) float64 { return x[0] / x[1] }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func when(cond bool, yes, no float64) float64 {
	if cond {
		return yes
	}
	return no
}
