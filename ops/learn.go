package ops

import (
	"fmt"
	"math"

	"sagann/dataflow"
)

// Optimisers of learned rows (dataflow.Next), element-wise. The formulas
// and the order of their operations are those of package saga's optimisers of matrices. rate
// [1×4], Global, has the numbers that change between steps: the learning rate and, for Adam,
// 1-beta1^t and 1-beta2^t.

// Moment is beta·m + (1-beta)·g, the running mean of gradients g; shapes as for Add.
func Moment(m, g *Node, beta float32) *Node { return applyF(moment, beta, m, g) }

const moment Op = "moment"

var _ = define(moment, Def{Class: dataflow.Elem, Shape: same,
	CPU: func(a *Args) {
		m, g := a.In[0], a.In[1]
		for i := range a.Out {
			a.Out[i] = a.F*m[i] + (1-a.F)*g[i]
		}
	}, CUDA: "$F * $0 + (1.f - $F) * $1"})

// Moment2 is beta·v + (1-beta)·g², the running mean of squares; shapes as for Add.
func Moment2(v, g *Node, beta float32) *Node { return applyF(moment2, beta, v, g) }

const moment2 Op = "moment2"

var _ = define(moment2, Def{Class: dataflow.Elem, Shape: same,
	CPU: func(a *Args) {
		v, g := a.In[0], a.In[1]
		for i := range a.Out {
			a.Out[i] = a.F*v[i] + (1-a.F)*g[i]*g[i]
		}
	}, CUDA: "$F * $0 + (1.f - $F) * $1 * $1"})

// AdamStep is the new w after a step of Adam with moments m and v (Kingma and Ba, 2015); shapes as for Add.
func AdamStep(w, m, v, rate *Node, eps float32) *Node { return applyF(adamStep, eps, w, m, v, rate) }

const adamStep Op = "adam_step"

var _ = define(adamStep, Def{Class: dataflow.Elem, Shape: stepped,
	CPU: func(a *Args) {
		if a.Rows == 0 {
			return
		}
		w, m, v, rate := a.In[0], a.In[1], a.In[2], a.In[3]
		lr, c1, c2 := rate[0], rate[1], rate[2]
		for i := range a.Out {
			a.Out[i] = w[i] - lr*(m[i]/c1)/(float32(math.Sqrt(float64(v[i]/c2)))+a.F)
		}
	}, CUDA: "$0 - $3[0] * ($1 / $3[1]) / (sqrtf($2 / $3[2]) + $F)"})

// SGDStep is w - rate·g; shapes as for Add.
func SGDStep(w, g, rate *Node) *Node { return apply(sgdStep, w, g, rate) }

const sgdStep Op = "sgd_step"

var _ = define(sgdStep, Def{Class: dataflow.Elem, Shape: stepped,
	CPU: func(a *Args) {
		if a.Rows == 0 {
			return
		}
		w, g, lr := a.In[0], a.In[1], a.In[2][0]
		for i := range a.Out {
			a.Out[i] = w[i] - lr*g[i]
		}
	}, CUDA: "$0 - $2[0] * $1"})

// DecayStep is w - rate·decay·w, the weight decay of AdamW; shapes as for Add.
func DecayStep(w, rate *Node, decay float32) *Node { return applyF(decayStep, decay, w, rate) }

const decayStep Op = "decay_step"

var _ = define(decayStep, Def{Class: dataflow.Elem, Shape: stepped,
	CPU: func(a *Args) {
		if a.Rows == 0 {
			return
		}
		w, x := a.In[0], a.In[1][0]*a.F
		for i := range a.Out {
			a.Out[i] = w[i] - x*w[i]
		}
	}, CUDA: "$0 - $1[0] * $F * $0"})

// stepped is the shape rule same, for all operands but the last, which is rate.
func stepped(a attr, in []shape) (shape, error) {
	rate := in[len(in)-1]
	if rate.Set.Kind != dataflow.Global || rate.Rows != 1 || rate.Cols != 4 {
		return in[0], fmt.Errorf("the rate is %v, not [1×4]", rate)
	}
	return same(a, in[:len(in)-1])
}
