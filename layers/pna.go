package layers

import (
	"math"

	"sagann/chunk"
	"sagann/ops"
	"sagann/saga"
)

// PNA is principal neighbourhood aggregation (Corso et al., 2020), in columns to out:
//
//	m = [x_v, x_u]·W_pre + b_pre    a = [mean, min, max, std of m]    s = log(d+1)/δ
//	x' = act(([x, a, a·s, a/s]·W_post + b_post)·W + b)
//
// d is the in-degree, at least 1, and delta is δ, the mean of log(d+1) over the vertices of the training graph (LogDegree).
// gathers replaces the four accumulators. Parameters: W_pre [2·in×in], b_pre [1×in], W_post [(1+3·gathers)·in×out], W [out×out],
// b_post and b [1×out].
func PNA(in, out int, delta float32, act Activation, gathers ...saga.Accumulator) saga.Layer {
	if gathers == nil {
		gathers = []saga.Accumulator{saga.Mean, saga.Min, saga.Max, saga.Std}
	}
	o := choice{pyg: true}
	return saga.Layer{
		Name: "pna",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			return o.linear(ops.Concat(e.Dst, e.Src), p, "_pre", in)
		},
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			a := v.Gather(gathers[0])
			for _, acc := range gathers[1:] {
				a = ops.Concat(a, v.Gather(acc))
			}
			d := ops.Shift(ops.ReLU(ops.Shift(v.InDegree, -1)), 2) // max(d, 1) + 1
			s := ops.Scale(ops.Log(d), 1/delta)
			x := o.linear(ops.Concat(v.Self, a, ops.RowScale(a, s), ops.Div(a, ops.Widen(s, a.Cols()))), p, "_post", out)
			return o.linear(x, p, "", out)
		},
		After: act.after(),
	}
}

// LogDegree is the mean of log(d+1) over the vertices of e, d being the in-degree, at least 1: the delta of PNA.
func LogDegree(e *chunk.Edges) float32 {
	sum := 0.0
	for _, d := range e.InDegrees() {
		sum += math.Log(float64(max(d, 1)) + 1)
	}
	return float32(sum / float64(max(e.V, 1)))
}

var _ = pyg("pna", row{"W_pre", "pre_nns.0.0.weight", transposed}, row{"b_pre", "pre_nns.0.0.bias", vector},
	row{"W_post", "post_nns.0.0.weight", transposed}, row{"b_post", "post_nns.0.0.bias", vector}, row{"W", "lin.weight", transposed}, row{"b", "lin.bias", vector})
