package ops

import (
	"fmt"
	"math"

	"sagann/dataflow"
	"sagann/internal/simd"
)

// SoftmaxCrossEntropy is the weighted cross-entropy of every row: [S×1] from
// logits [S×C], labels [S×1] (the class 0..C-1 as a number) and weight [S×1].
// A row of weight 0 gives 0 for any label; with another weight, a label
// that is not a class gives NaN. The loss is SumRows of the result. If n rows count, each with weight 1/n,
// it is their mean. Only the logits have a gradient.
func SoftmaxCrossEntropy(logits, labels, weight *Node) *Node {
	return apply(softmaxXent, logits, labels, weight)
}

const softmaxXent Op = "softmax_xent"

var _ = define(softmaxXent, Def{Class: dataflow.Row,
	Shape: func(_ attr, in []shape) (shape, error) {
		s := in[0]
		s.Cols = 1
		return s, labelled(in)
	},
	VJP: func(n, dy *Node) []*Node {
		return []*Node{apply(softmaxXentGrad, n.In(0), n.In(1), n.In(2), dy), nil, nil}
	},
	CPU: func(a *Args) {
		for r := range a.Rows {
			a.Out[r] = 0
			if w := a.In[2][r]; w != 0 {
				x := inRow(a, 0, r)
				a.Out[r] = w * float32(logSumExp(x)-float64(at(x, a.In[1][r])))
			}
		}
	}, CUDA: cudaSoftmax + "int t = saga_class($W0, $1[0]); float w = $2[0]; " +
		"(w == 0.f ? 0.f : w * (float)((double)m + log(s) - (double)(t < 0 ? SAGA_NAN : $0[t])))"})

const softmaxXentGrad Op = "softmax_xent_grad" // weight · (softmax(logits) - one-hot(label)) · dy, 0 for weight 0 whatever dy is

var _ = define(softmaxXentGrad, Def{Class: dataflow.Row,
	Shape: func(_ attr, in []shape) (shape, error) { return in[0], labelled(in) },
	CPU: func(a *Args) {
		for r := range a.Rows {
			out, x, w, dy := outRow(a, r), inRow(a, 0, r), a.In[2][r], a.In[3][r]
			if w == 0 {
				clear(out)
				continue
			}
			softmaxRow(out, x)
			if k := class(len(x), a.In[1][r]); k >= 0 {
				out[k]--
			} else {
				w = float32(math.NaN())
			}
			simd.Scale(out, out, w*dy)
		}
	}, CUDA: cudaSoftmax + "int t = saga_class($W0, $1[0]); float w = $2[0]; " +
		"(w == 0.f ? 0.f : t < 0 ? SAGA_NAN : w * $3[0] * (expf($0[$C] - m) * (float)(1.0 / s) - ($C == t ? 1.f : 0.f)))"})

// labelled checks logits [S×C], labels and weight [S×1].
func labelled(in []shape) error {
	if err := column("labels", in[1]); err != nil {
		return err
	}
	if err := column("weight", in[2]); err != nil {
		return err
	}
	return alike(in)
}

// class is the label as an index below n, or -1 if it is not a class.
func class(n int, label float32) int {
	if k := int(label); label >= 0 && label < float32(n) && float32(k) == label {
		return k
	}
	return -1
}

// at is x[label], or NaN if label is not an index of x.
func at(x []float32, label float32) float32 {
	if k := class(len(x), label); k >= 0 {
		return x[k]
	}
	return float32(math.NaN())
}

// SigmoidCrossEntropy is the weighted binary cross-entropy of every row, averaged
// over its classes: [S×1] from logits [S×C], targets [S×C] (0 or 1, or a
// probability) and weight [S×1]. A row of weight 0 gives 0. The loss is SumRows of
// the result. Only the logits have a gradient.
func SigmoidCrossEntropy(logits, targets, weight *Node) *Node {
	return apply(sigmoidXent, logits, targets, weight)
}

const sigmoidXent Op = "sigmoid_xent"

const sigmoidXentGrad = sigmoidXent + "_grad" // weight/C · (σ(logits) - targets) · dy, 0 for weight 0 whatever dy is

// -t log σ(z) - (1-t) log(1 - σ(z)) = max(z,0) - z t + log(1 + e**-|z|).
var _ = defineColumns(sigmoidXent, columnLoss{
	check: func(_ attr, in []shape) error { return multiLabelled(in) },
	loss: func(z, t, _, _ float64) float64 {
		return max(z, 0) - z*t + math.Log1p(math.Exp(-math.Abs(z)))
	}, cudaLoss: "fmaxf(@0, 0.f) - @0 * @1 + log1pf(expf(-fabsf(@0)))",
	grad: func(z, t, _, _ float64) float32 {
		return float32(1/(1+math.Exp(-z))) - float32(t)
	}, cudaGrad: "(1.f / (1.f + expf(-@0)) - @1)",
})

// multiLabelled checks logits and targets [S×C] and weight [S×1].
func multiLabelled(in []shape) error {
	if in[0].Cols != in[1].Cols {
		return fmt.Errorf("%d logits but %d targets a row", in[0].Cols, in[1].Cols)
	}
	if err := column("weight", in[2]); err != nil {
		return err
	}
	return alike(in)
}
