package ops

import (
	"fmt"
	"math"

	"sagann/dataflow"
)

// PositiveSigmoidCrossEntropy is SigmoidCrossEntropy with weights of positive targets: positive [1×C] has a
// weight p for each class, and the loss of a logit z with target t is
//
//	-p t log σ(z) - (1-t) log(1 - σ(z))
func PositiveSigmoidCrossEntropy(logits, targets, weight, positive *Node) *Node {
	return apply(positiveXent, logits, targets, weight, Spread(positive, logits))
}

const positiveXent Op = "positive_sigmoid_xent"

// With l = 1 + (p-1)t the term is (1-t) z + l log(1 + e**-z).
var _ = define(positiveXent, Def{Class: dataflow.Row,
	Shape: func(_ attr, in []shape) (shape, error) {
		s := in[0]
		s.Cols = 1
		return s, positives(in)
	},
	VJP: func(n, dy *Node) []*Node {
		return []*Node{apply(positiveXentGrad, n.In(0), n.In(1), n.In(2), n.In(3), dy), nil, nil, nil}
	},
	CPU: func(a *Args) {
		for r := range a.Rows {
			w := a.In[2][r]
			if w == 0 {
				a.Out[r] = 0
				continue
			}
			t, p, sum := inRow(a, 1, r), inRow(a, 3, r), 0.0
			for c, x := range inRow(a, 0, r) {
				z, y := float64(x), float64(t[c])
				sum += (1-y)*z + (1+(float64(p[c])-1)*y)*(math.Log1p(math.Exp(-math.Abs(z)))+max(-z, 0))
			}
			a.Out[r] = w * float32(sum/float64(len(t)))
		}
	}, CUDA: "float w = $2[0]; double s = SAGA_SUM($W0, " +
		"(1.f - $1[j]) * $0[j] + (1.f + ($3[j] - 1.f) * $1[j]) * (log1pf(expf(-fabsf($0[j]))) + fmaxf(-$0[j], 0.f))); (w == 0.f ? 0.f : w * (float)(s / $W0))"})

const positiveXentGrad Op = "positive_sigmoid_xent_grad" // weight/C · (1 - t - l (1 - σ(z))) · dy, 0 for weight 0 whatever dy is

var _ = define(positiveXentGrad, Def{Class: dataflow.Row,
	Shape: func(_ attr, in []shape) (shape, error) { return in[0], positives(in) },
	CPU: func(a *Args) {
		for r := range a.Rows {
			out, t, p, w := outRow(a, r), inRow(a, 1, r), inRow(a, 3, r), a.In[2][r]
			if w == 0 {
				clear(out)
				continue
			}
			w = w / float32(len(t)) * a.In[4][r]
			for c, x := range inRow(a, 0, r) {
				y := float64(t[c])
				out[c] = w * float32(1-y-(1+(float64(p[c])-1)*y)/(1+math.Exp(float64(x))))
			}
		}
	}, CUDA: "float w = $2[0]; (w == 0.f ? 0.f : w / $W0 * $4[0] * (1.f - $1[$C] - (1.f + ($3[$C] - 1.f) * $1[$C]) / (1.f + expf($0[$C]))))"})

// positives is multiLabelled with a further operand: the weights [S×C] of positive targets.
func positives(in []shape) error {
	if in[3].Cols != in[0].Cols {
		return fmt.Errorf("%d logits but %d weights of positive targets a row", in[0].Cols, in[3].Cols)
	}
	return multiLabelled(in)
}
