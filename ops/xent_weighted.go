package ops

import (
	"fmt"
	"math"
)

// PositiveSigmoidCrossEntropy is SigmoidCrossEntropy with weights of positive targets: positive [1×C] has a
// weight p for each class, and the loss of a logit z with target t is
//
//	-p t log σ(z) - (1-t) log(1 - σ(z))
func PositiveSigmoidCrossEntropy(logits, targets, weight, positive *Node) *Node {
	return apply(positiveXent, logits, targets, weight, Spread(positive, logits))
}

const positiveXent Op = "positive_sigmoid_xent"

const positiveXentGrad = positiveXent + "_grad" // weight/C · (1 - t - l (1 - σ(z))) · dy, 0 for weight 0 whatever dy is

var _ = defineColumns(positiveXent, positiveLoss(false))

// positiveLoss is that loss, of known targets only or of all. With l = 1 + (p-1)t the term is (1-t) z + l log(1 + e**-z).
func positiveLoss(known bool) columnLoss {
	return columnLoss{known: known, more: true,
		check: func(_ attr, in []shape) error { return positives(in) },
		loss: func(z, t, p, _ float64) float64 {
			return (1-t)*z + (1+(p-1)*t)*(math.Log1p(math.Exp(-math.Abs(z)))+max(-z, 0))
		}, cudaLoss: "(1.f - @1) * @0 + (1.f + (@3 - 1.f) * @1) * (log1pf(expf(-fabsf(@0))) + fmaxf(-@0, 0.f))",
		grad: func(z, t, p, _ float64) float32 {
			return float32(1 - t - (1+(p-1)*t)/(1+math.Exp(z)))
		}, cudaGrad: "((1.f - @1) / (1.f + expf(-@0)) - @3 * @1 / (1.f + expf(@0)))", // the same, without a difference of what is near 1
	}
}

// positives is multiLabelled with a further operand: the weights [S×C] of positive targets.
func positives(in []shape) error {
	if in[3].Cols != in[0].Cols {
		return fmt.Errorf("%d logits but %d weights of positive targets a row", in[0].Cols, in[3].Cols)
	}
	return multiLabelled(in)
}

// KnownSigmoidCrossEntropy is PositiveSigmoidCrossEntropy of the targets that are known. A target below 0 is not: it has
// no term in the loss of its row and the gradient of its logit is 0. The loss of a row is the sum of the other terms,
// divided by the number of classes as if all were known.
func KnownSigmoidCrossEntropy(logits, targets, weight, positive *Node) *Node {
	return apply(knownXent, logits, targets, weight, Spread(positive, logits))
}

const knownXent Op = "known_sigmoid_xent"

const knownXentGrad = knownXent + "_grad" // that of positiveXentGrad, 0 where the target is not known

var _ = defineColumns(knownXent, positiveLoss(true))
