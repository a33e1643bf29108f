package ops

import "sagann/dataflow"

// Correct is 1 for every row whose largest logit is that of its label, and otherwise 0:
// [S×1] from logits [S×C] and labels [S×1]. Of equal logits the lowest class counts as the largest. NaN counts
// as larger than numbers. It has no gradient.
func Correct(logits, labels *Node) *Node { return apply(correct, logits, labels) }

const correct Op = "correct"

var _ = define(correct, Def{Class: dataflow.Row,
	Shape: func(_ attr, in []shape) (shape, error) {
		s := in[0]
		s.Cols = 1
		if err := column("labels", in[1]); err != nil {
			return s, err
		}
		return s, alike(in)
	},
	CPU: func(a *Args) {
		for r := range a.Rows {
			best, x := 0, inRow(a, 0, r)
			for c, v := range x {
				if v > x[best] || v != v && x[best] == x[best] {
					best = c
				}
			}
			a.Out[r] = 0
			if float32(best) == a.In[1][r] {
				a.Out[r] = 1
			}
		}
	}, CUDA: "int t = SAGA_ARGMAX($W0, $0[j]); ((float)t == $1[0] ? 1.f : 0.f)"})

// Positive is 1 where a logit is above 0, the class predicted in multi-label
// problems, else 0: same shape as logits. It has no gradient.
func Positive(logits *Node) *Node { return Step(logits) }
