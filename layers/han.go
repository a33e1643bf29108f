package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// HAN is a heterogeneous graph attention (Wang et al., 2019) of out columns, a multiple of heads. Its relations are mostly metapaths
// (saga data convert --metapath). For each relation r, and in it for each head as in GAT,
//
//	h = x·W + b    s = leaky_relu(h_u·a_src + h_v·a_dst), slope 0.2    z_r = relu(Σ softmax(s)·h_u)
//	w_r = mean over v of tanh(z_r·K + b_K), times q    x' = act(Σ softmax over r of w · z_r)
//
// Over sampled blocks the mean is over the vertices that the batch has rows for. drop is the dropout of the coefficients in training. Parameters: of vertex types W [in×out], b [1×out]; of relations a_src, a_dst
// [1×out]; of the layer K [out×out], b_K [1×out], q [out×1].
func HAN(out, heads int, drop float32, act Activation, opts ...Option) saga.Layer {
	c := choose(opts)
	start := c.headVector(out/heads, heads)
	return saga.Layer{
		Name: "han",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			rows := func(x saga.Tensor, typ string) saga.Tensor {
				return c.linear(x, p.Of(typ), "", out)
			}
			hu, hv := rows(e.Src, e.Relation.Src), rows(e.Dst, e.Relation.Dst)
			s := ops.Add(
				ops.GroupSum(ops.Mul(hu, p.Weight("a_src", 1, out, start)), heads),
				ops.GroupSum(ops.Mul(hv, p.Weight("a_dst", 1, out, start)), heads))
			return ops.RowScale(hu, e.Dropout(e.Softmax(ops.LeakyReLU(s, 0.2)), drop))
		},
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			all := v.Each(saga.Sum)
			if len(all) == 0 {
				return v.Accum // absent
			}
			p = p.Shared()
			n := ops.SumRows(ops.Step(ops.Shift(v.InDegree, 1))) // of vertices
			n = ops.Shift(ops.ReLU(ops.Shift(n, -1)), 1)         // at least 1: a batch may have none of a type
			var w []saga.Tensor
			for r, z := range all {
				all[r] = ops.ReLU(z)
				m := ops.SumRows(ops.Tanh(ops.Bias(ops.MatMul(all[r], p.Weight("K", out, out, c.fanIn(out))), p.Bias("b_K", out, c.fanIn(out)))))
				w = append(w, ops.Div(ops.MatMul(m, p.Weight("q", out, 1)), n))
			}
			weights := ops.Softmax(ops.Concat(w[0], w[1:]...))
			sum := ops.Mul(all[0], ops.Slice(weights, 0, 1))
			for r, z := range all[1:] {
				sum = ops.Add(sum, ops.Mul(z, ops.Slice(weights, r+1, 1)))
			}
			return sum
		},
		After: act.after(),
	}
}

var _ = pygTyped("han", ofType("W", "proj.*.weight", transposed), ofType("b", "proj.*.bias", vector), ofRelation("a_src", "lin_src.*", perHead), ofRelation("a_dst", "lin_dst.*", perHead),
	ofLayer("K", "k_lin.weight", transposed), ofLayer("b_K", "k_lin.bias", vector), ofLayer("q", "q", transposed))
