package dataflow

import (
	"slices"

	"sagann/kernel"
)

// Products by edge type without rows for each vertex and type. A product by type that left a sum over edges needs the sums of a
// vertex's edges for each type, V × types·columns numbers, most of them zeros where there are many types. The ops here multiply the
// sum of one vertex and type as soon as the kernel has it, so nothing of that size is in memory, and only pairs of a vertex and a type
// that have edges are multiplied. Where most pairs have edges, rows for each vertex and type are faster: a pair's sum is copied on its way.
// Kernels of the CPU have these ops (Options.ByType).
const (
	GatherDstByTypeOp Op = "gather_dst_by_type" // Σ over in-edges m_e·A[type(e)]: [E×i] and [types·i×o] to [V×o]; with Attr.J [types·o×i], transposed
	GatherSrcByTypeOp Op = "gather_src_by_type" // the same over out-edges
	SumByTypeOp       Op = "sum_by_type"        // Σ m_eᵀ·y_e of each type, y_e of the own end: [E×i] and [E×o] to [types·i×o]; with Attr.J Σ y_eᵀ·m_e
)

var (
	_ = Define(GatherDstByTypeOp, Def{Class: Move, Shape: byTypeShape(GatherDstOp), Acc: kernel.SumByType})
	_ = Define(GatherSrcByTypeOp, Def{Class: Move, Shape: byTypeShape(GatherSrcOp), Acc: kernel.SumByType})
	_ = Define(SumByTypeOp, Def{Class: Reduce, Acc: kernel.SumTNByType, Shape: func(a Attr, in []Shape) (Shape, error) {
		if a.J > 0 {
			in = []Shape{in[1], in[0]}
		}
		return Shape{Rows: int(a.I) * in[0].Cols, Cols: in[1].Cols}, nil
	}})
)

func byTypeShape(op Op) func(Attr, []Shape) (Shape, error) {
	return func(a Attr, in []Shape) (Shape, error) {
		s, err := gatherShape(op, Attr{}, in[:1])
		if s.Cols = in[1].Cols; a.J > 0 {
			s.Cols = in[1].Rows / int(a.I)
		}
		return s, err
	}
}

// byTypeOps are the gathers of this file by the sums that they stand for.
var byTypeOps = map[Op]Op{GatherDstOp: GatherDstByTypeOp, GatherSrcOp: GatherSrcByTypeOp}

// byType is the pass.
func byType(s *state) {
	if s.opt.ByType > 0 {
		s.rewrite(s.multiplied, s.pulled, s.weighed)
	}
}

// many tells whether sums by type, a gather or a scatter, are of so many types that they go by pairs.
func (s *state) many(sums *Node) bool { return int(sums.attr.I) >= s.opt.ByType }

// typed is the edge rows [E×i] whose sums by type vertex rows a [V×types·i] are, each perhaps times numbers of the vertex
// and the type, and the sum. nil: a is something else.
func typed(a *Node) (m, sum *Node) {
	fs := factors(a)
	k := slices.IndexFunc(fs, func(f *Node) bool { return sumGather(f.op) && f.attr.S == "type" })
	if k < 0 {
		return nil, nil
	}
	sum = fs[k]
	m = sum.in[0]
	for i, f := range fs {
		switch {
		case i == k:
		case f.op == WidenOp && f.in[0].shape.Cols == int(sum.attr.I):
			own := Apply(adjoint[sum.op], sum.transposed(), f.in[0])
			m = mul(m, widen(own, m.shape.Cols))
		default:
			return nil, nil
		}
	}
	return m, sum
}

// multiplied is the rule gather{type}(m)·w = gather_by_type(m, w).
func (s *state) multiplied(n *Node) *Node {
	if n.Def().Role != kernel.MatMul || n.in[1].shape.Set.Kind != Global {
		return nil
	}
	m, sum := typed(n.in[0])
	if m == nil || !s.many(sum) {
		return nil
	}
	return Apply(byTypeOps[sum.op], Attr{S: "type", I: sum.attr.I}, m, n.in[1])
}

// pulled is the rule gather_x(s·scatter_y{type}(dy·wᵀ)) = gather_x_by_type(s·scatter_y(dy), w, transposed) for numbers s of edges.
func (s *state) pulled(n *Node) *Node {
	if byTypeOps[n.op] == "" || n.attr.S != "" || n.attr.J != 0 {
		return nil
	}
	far, scalars := scaledScatter(n.in[0])
	if far == nil || far.attr.S != "type" || !s.many(far) {
		return nil
	}
	p := far.in[0]
	if p.Def().Role != kernel.MatMulNT || p.in[1].shape.Set.Kind != Global {
		return nil
	}
	m := scale(Apply(far.op, Attr{E: far.attr.E}, p.in[0]), scalars)
	return Apply(byTypeOps[n.op], Attr{S: "type", I: far.attr.I, J: 1}, m, p.in[1])
}

// scaledScatter is the scatter that edge rows m are, times numbers of edges; nil: m is something else.
func scaledScatter(m *Node) (far *Node, scalars []*Node) {
	for _, f := range factors(m) {
		switch {
		case f.op == WidenOp && f.in[0].shape.Cols == 1:
			scalars = append(scalars, f.in[0])
		case far == nil && isScatter(f.op):
			far = f
		default:
			return nil, nil
		}
	}
	return far, scalars
}

// weighed is the rule gather{type}(m)ᵀ·y = sum_by_type(m, scatter(y)). Of rows x of the other end, times numbers s of edges, those
// with fewer columns are summed: gather{type}(s·scatter(x))ᵀ·y = sum_by_type(s·scatter(y), scatter(x)), transposed, if these are y's.
func (s *state) weighed(n *Node) *Node {
	if n.Def().Acc != kernel.SumTN || n.in[0].shape.Set.Kind != Vertex {
		return nil
	}
	m, sum := typed(n.in[0])
	if m == nil || !s.many(sum) {
		return nil
	}
	y := Apply(adjoint[sum.op], Attr{E: m.shape.Set.along()}, n.in[1])
	a := Attr{S: "type", I: sum.attr.I}
	if far, scalars := scaledScatter(m); far != nil && far.op != y.op && far.attr.S == "" && y.shape.Cols < m.shape.Cols {
		a.J = 1
		return Apply(SumByTypeOp, a, scale(y, scalars), far)
	}
	return Apply(SumByTypeOp, a, m, y)
}
