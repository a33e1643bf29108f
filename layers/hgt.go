package layers

import (
	"fmt"
	"math"

	"sagann/ops"
	"sagann/saga"
)

// HGT is a heterogeneous graph transformer (Hu et al., 2020) of out columns, a multiple of heads. For each head of width d
//
//	k = x_u·K + b_K    q = x_v·Q + b_Q    h = x_u·V + b_V    s = (k·K_rel)·q·prior/√d    α = softmax of s over the in-edges of v of all relations
//	a = Σ α·(h·V_rel)    y = gelu(a)·A + b
//	x' = act(σ(skip)·y + (1-σ(skip))·x), or act(y) where x has other columns
//
// Parameters of vertex types: K, Q, V [in×out], b_K, b_Q, b_V, b [1×out], A [out×out], skip [1×1], 1 at first; of relations, for each head k:
// K_rel.k and V_rel.k [d×d]; prior [1×heads], 1 at first.
func HGT(out, heads int, act Activation, opts ...Option) saga.Layer {
	c := choose(opts)
	d := out / heads
	projected := func(x saga.Tensor, p saga.Params, name string) saga.Tensor {
		return ops.Bias(ops.MatMul(x, p.Weight(name, x.Cols(), out, c.fanIn(x.Cols()))), p.Bias("b_"+name, out, c.fanIn(x.Cols())))
	}
	byHead := func(x saga.Tensor, p saga.Params, name string) saga.Tensor {
		var all []saga.Tensor
		for k := range heads {
			all = append(all, ops.MatMul(ops.Slice(x, k*d, d), p.Weight(fmt.Sprintf("%s.%d", name, k), d, d, c.fanIn(d))))
		}
		return ops.Concat(all[0], all[1:]...)
	}
	return saga.Layer{
		Name: "hgt",
		Score: func(e saga.Edge, p saga.Params) saga.Tensor {
			k := byHead(projected(e.Src, p.Of(e.Relation.Src), "K"), p, "K_rel")
			s := ops.GroupSum(ops.Mul(projected(e.Dst, p.Of(e.Relation.Dst), "Q"), k), heads)
			return ops.Scale(ops.Mul(s, p.Bias("prior", heads, saga.One)), float32(1/math.Sqrt(float64(d))))
		},
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			return byHead(projected(e.Src, p.Of(e.Relation.Src), "V"), p, "V_rel")
		},
		Gather: saga.SoftmaxSum.Across(),
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			y := ops.Bias(ops.MatMul(ops.GELUExact(v.Accum), p.Weight("A", out, out, c.fanIn(out))), p.Bias("b", out, c.fanIn(out)))
			if v.Self.Cols() != out {
				return y
			}
			s := ops.Sigmoid(p.Bias("skip", 1, saga.One))
			return ops.Add(ops.Mul(y, s), ops.Mul(v.Self, ops.Shift(ops.Neg(s), 1)))
		},
		After: act.after(),
	}
}

func oneOf(_ *unit, rows, cols int) ([]int, bool) { return []int{1, rows, cols}, false }

var _ = pygTyped("hgt", ofType("K", "kqv_lin.lins.*.weight", transposed).by(ofThree(0)), ofType("b_K", "kqv_lin.lins.*.bias", vector).by(ofThree(0)),
	ofType("Q", "kqv_lin.lins.*.weight", transposed).by(ofThree(1)), ofType("b_Q", "kqv_lin.lins.*.bias", vector).by(ofThree(1)),
	ofType("V", "kqv_lin.lins.*.weight", transposed).by(ofThree(2)), ofType("b_V", "kqv_lin.lins.*.bias", vector).by(ofThree(2)),
	ofType("A", "out_lin.lins.*.weight", transposed), ofType("b", "out_lin.lins.*.bias", vector), ofType("skip", "skip.*", vector),
	ofRelation("prior", "p_rel.*", matrix), ofRelation("K_rel.#", "k_rel.weight", oneOf).by(stackedByHead), ofRelation("V_rel.#", "v_rel.weight", oneOf).by(stackedByHead))
