package ops

import (
	"strings"

	"sagann/dataflow"
)

// columnLoss is a weighted loss of rows, averaged over their columns: [S×1] from numbers and targets [S×C], weight [S×1] and, in
// some ops, a further operand [S×C]. A row of weight 0 gives 0, and a gradient of 0 whatever dy is. loss is the term of number x with
// target t, grad its derivative by x; p is the number of the further operand, f attribute F. In CUDA code @0, @1 and @3 are the
// numbers of operands 0, 1 and 3.
type columnLoss struct {
	check              func(a attr, in []shape) error
	loss               func(x, t, p, f float64) float64
	grad               func(x, t, p, f float64) float32
	cudaLoss, cudaGrad string
	known              bool // a target below 0 is not known: it has no term
	more               bool // there is a further operand
}

// defineColumns declares the loss op and op+"_grad".
func defineColumns(op Op, l columnLoss) bool {
	grad, dy, unknown, zero := op+"_grad", 3, "", ""
	if l.more {
		dy = 4
	}
	if l.known {
		unknown, zero = "@1 < 0.f ? 0.f : ", " || @1 < 0.f"
	}
	cuda := func(text, j string) string {
		for _, k := range []string{"0", "1", "3"} {
			text = strings.ReplaceAll(text, "@"+k, "$"+k+"["+j+"]")
		}
		return text
	}
	further := func(a *Args, r int) []float32 {
		if l.more {
			return inRow(a, 3, r)
		}
		return inRow(a, 1, r) // not used
	}
	return define(op, Def{Class: dataflow.Row,
		Shape: func(a attr, in []shape) (shape, error) {
			s := in[0]
			s.Cols = 1
			return s, l.check(a, in)
		},
		VJP: func(n, dy *Node) []*Node {
			in := append([]*Node{n.In(0), n.In(1), n.In(2)}, dy)
			if l.more {
				in = []*Node{n.In(0), n.In(1), n.In(2), n.In(3), dy}
			}
			return append([]*Node{dataflow.Apply(grad, n.Attr(), in...)}, make([]*Node, len(in)-2)...)
		},
		CPU: func(a *Args) {
			for r := range a.Rows {
				w := a.In[2][r]
				if w == 0 {
					a.Out[r] = 0
					continue
				}
				t, p, sum := inRow(a, 1, r), further(a, r), 0.0
				for c, x := range inRow(a, 0, r) {
					if y := float64(t[c]); !l.known || y >= 0 {
						sum += l.loss(float64(x), y, float64(p[c]), float64(a.F))
					}
				}
				a.Out[r] = w * float32(sum/float64(len(t)))
			}
		}, CUDA: "float w = $2[0]; double s = SAGA_SUM($W0, " + cuda(unknown+l.cudaLoss, "j") + "); (w == 0.f ? 0.f : w * (float)(s / $W0))",
	}) && define(grad, Def{Class: dataflow.Row,
		Shape: func(a attr, in []shape) (shape, error) { return in[0], l.check(a, in) },
		CPU: func(a *Args) {
			for r := range a.Rows {
				out, t, p, w := outRow(a, r), inRow(a, 1, r), further(a, r), a.In[2][r]
				clear(out)
				if w == 0 { // even if dy is not finite
					continue
				}
				w = w / float32(len(t)) * a.In[dy][r]
				for c, x := range inRow(a, 0, r) {
					if y := float64(t[c]); !l.known || y >= 0 {
						out[c] = w * l.grad(float64(x), y, float64(p[c]), float64(a.F))
					}
				}
			}
		}, CUDA: "float w = $2[0]; (w == 0.f" + cuda(zero, "$C") + " ? 0.f : w / $W0 * $" + string(rune('0'+dy)) + "[0] * " + cuda(l.cudaGrad, "$C") + ")"})
}
