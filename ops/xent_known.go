package ops

import (
	"math"

	"sagann/dataflow"
)

// KnownSigmoidCrossEntropy is PositiveSigmoidCrossEntropy of the targets that are known. A target below 0 is not: it has
// no term in the loss of its row and the gradient of its logit is 0. The loss of a row is the sum of the other terms,
// divided by the number of classes as if all were known.
func KnownSigmoidCrossEntropy(logits, targets, weight, positive *Node) *Node {
	return apply(knownXent, logits, targets, weight, Spread(positive, logits))
}

const knownXent Op = "known_sigmoid_xent"

var _ = define(knownXent, Def{Class: dataflow.Row,
	Shape: func(_ attr, in []shape) (shape, error) {
		s := in[0]
		s.Cols = 1
		return s, positives(in)
	},
	VJP: func(n, dy *Node) []*Node {
		return []*Node{apply(knownXentGrad, n.In(0), n.In(1), n.In(2), n.In(3), dy), nil, nil, nil}
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
				if z, y := float64(x), float64(t[c]); y >= 0 {
					sum += (1-y)*z + (1+(float64(p[c])-1)*y)*(math.Log1p(math.Exp(-math.Abs(z)))+max(-z, 0))
				}
			}
			a.Out[r] = w * float32(sum/float64(len(t)))
		}
	}, CUDA: "float w = $2[0]; double s = SAGA_SUM($W0, $1[j] < 0.f ? 0.f : " +
		"(1.f - $1[j]) * $0[j] + (1.f + ($3[j] - 1.f) * $1[j]) * (log1pf(expf(-fabsf($0[j]))) + fmaxf(-$0[j], 0.f))); (w == 0.f ? 0.f : w * (float)(s / $W0))"})

const knownXentGrad Op = "known_sigmoid_xent_grad" // that of positiveXentGrad, 0 where the target is not known

var _ = define(knownXentGrad, Def{Class: dataflow.Row,
	Shape: func(_ attr, in []shape) (shape, error) { return in[0], positives(in) },
	CPU: func(a *Args) {
		for r := range a.Rows {
			out, t, p, w := outRow(a, r), inRow(a, 1, r), inRow(a, 3, r), a.In[2][r]
			clear(out)
			if w == 0 {
				continue
			}
			w = w / float32(len(t)) * a.In[4][r]
			for c, x := range inRow(a, 0, r) {
				if y := float64(t[c]); y >= 0 {
					out[c] = w * float32(1-y-(1+(float64(p[c])-1)*y)/(1+math.Exp(float64(x))))
				}
			}
		}
	}, CUDA: "float w = $2[0]; (w == 0.f || $1[$C] < 0.f ? 0.f : w / $W0 * $4[0] * (1.f - $1[$C] - (1.f + ($3[$C] - 1.f) * $1[$C]) / (1.f + expf($0[$C]))))"})
