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
// gathers, of mean, min, max, std, sum and var, replace the four. Parameters: W_pre [2·in×in], b_pre [1×in], W_post
// [(1+3·gathers)·in×out], W [out×out], b_post and b [1×out].
//
// What x_v adds to m is the same for all edges into v: it leaves the gathers, and moves neither std nor var.
func PNA(in, out int, delta float32, act Activation, gathers ...string) saga.Layer {
	if gathers == nil {
		gathers = []string{"mean", "min", "max", "std"}
	}
	o := choice{pyg: true}
	own := func(e saga.Edge, p saga.Params) saga.Tensor {
		return o.linear(ops.Pad(e.Dst, 0, e.Dst.Cols()+e.Src.Cols()), p, "_pre", in)
	}
	return saga.Layer{
		Name: "pna",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			n := e.Dst.Cols() + e.Src.Cols()
			return ops.MatMul(ops.Pad(e.Src, e.Dst.Cols(), n), p.Weight("W_pre", n, in, saga.FanIn(n)))
		},
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			var all []saga.Tensor
			for _, name := range gathers {
				g, known := pnaGathers[name]
				if !known {
					saga.Refuse("PNA has no gather %q; there are mean, min, max, std, sum and var", name)
				}
				if all = append(all, v.Gather(g.acc)); g.own != nil {
					all[len(all)-1] = ops.Add(all[len(all)-1], v.GatherOf(*g.own, own))
				}
			}
			a, d := ops.Concat(all[0], all[1:]...), ops.Shift(ops.ReLU(ops.Shift(v.InDegree, -1)), 2) // max(d, 1) + 1
			s := ops.Scale(ops.Log(d), 1/delta)
			x := o.linear(ops.Concat(v.Self, a, ops.RowScale(a, s), ops.Div(a, ops.Widen(s, a.Cols()))), p, "_post", out)
			return o.linear(x, p, "", out)
		},
		After: act.after(),
	}
}

// pnaGathers are the gathers of PNA, and what they make of rows that are the same for all edges into a vertex; nil: nothing.
var pnaGathers = map[string]struct {
	acc saga.Accumulator
	own *saga.Accumulator
}{
	"mean": {saga.Mean, &saga.Mean}, "min": {saga.Min, &saga.Mean}, "max": {saga.Max, &saga.Mean},
	"sum": {saga.Sum, &saga.Sum}, "std": {saga.Std, nil}, "var": {saga.Var, nil},
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
