package layers

import (
	"fmt"

	"sagann/ops"
	"sagann/saga"
)

// RGCN is a relational graph convolution (Schlichtkrull et al., 2018), in columns to out:
//
//	x' = act(Σ_r mean_{u in N_r(v)} x_u·W_r + x·W_root + b)
//
// where N_r(v) are the in-neighbours of v by edges of type r. A type without edges at v adds nothing. Over a graph of several relations
// r is each relation and each type of its edges, W is of the relation, W_root and b of the type of v.
// Parameters: W [types·in×out], W_root [in×out], b [1×out].
func RGCN(_, out int, act Activation) saga.Layer {
	return relational(out, act, func(e saga.Edge, p saga.Params) saga.Tensor {
		return ops.RowScale(e.MatMulByType(e.Src, p.TypedWeight("W", e.Types, e.Src.Cols(), out)), e.TypeNorm())
	})
}

// RGCNBases is RGCN with W_r = Σ_k a_rk·V_k of so many bases V. Relations whose sources are of one type share them; columns of other types mean
// something else. Parameters in place of W: of relations a.k [1×types], of source types V.k [in×out], k from 0.
func RGCNBases(_, out, bases int, act Activation) saga.Layer {
	return relational(out, act, func(e saga.Edge, p saga.Params) (sum saga.Tensor) {
		for k := range bases {
			x := ops.MatMul(e.Src, p.Of(e.Relation.Src).Weight(fmt.Sprint("V.", k), e.Src.Cols(), out))
			x = ops.RowScale(x, ops.Mul(e.OfType(p.Weight(fmt.Sprint("a.", k), 1, e.Types)), e.TypeNorm()))
			if k == 0 {
				sum = x
			} else {
				sum = ops.Add(sum, x)
			}
		}
		return sum
	})
}

// RGCNBlocks is RGCN with matrices W_r that are 0 outside so many blocks on their diagonal. They must divide in, of every type, and out.
// Parameters in place of W: W.k [types·in/blocks×out/blocks], k from 0.
func RGCNBlocks(_, out, blocks int, act Activation) saga.Layer {
	return relational(out, act, func(e saga.Edge, p saga.Params) saga.Tensor {
		in := e.Src.Cols()
		if in%blocks != 0 || out%blocks != 0 {
			saga.Refuse("%d blocks do not divide %d columns to %d", blocks, in, out)
		}
		var all []saga.Tensor
		for k := range blocks {
			w := p.TypedWeight(fmt.Sprint("W.", k), e.Types, in/blocks, out/blocks)
			all = append(all, e.MatMulByType(ops.Slice(e.Src, k*in/blocks, in/blocks), w))
		}
		return ops.RowScale(ops.Concat(all[0], all[1:]...), e.TypeNorm())
	})
}

func relational(out int, act Activation, messages func(e saga.Edge, p saga.Params) saga.Tensor) saga.Layer {
	return saga.Layer{Name: "rgcn", ApplyEdge: messages, Gather: saga.Sum, ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
		x := ops.Add(v.Accum, ops.MatMul(v.Self, p.Weight("W_root", v.Self.Cols(), out)))
		return ops.Bias(x, p.Bias("b", out))
	}, After: act.after()}
}

var _ = pyg("rgcn", row{"W", "weight", stackOf("W_root")}, row{"W_root", "root", matrix}, row{"b", "bias", vector})

// Over several types it is HeteroConv of SAGEConv without root weight and bias, beside a Linear for each type.
var (
	_ = pygTyped("rgcn", ofRelation("W", "lin_l.weight", transposed))
	_ = pygTyped("root", ofType("W_root", "weight", transposed), ofType("b", "bias", vector))
)
