package dataflow

import "sagann/dataflow/plan"

// Commute: a linear map and a sum gather change places, so that the gather reads the narrower
// of the map's two widths. A product over edge rows always moves to the vertices.

// Sizes says how many rows the sets of a program over sampled blocks are expected to have: vertices by vertex set
// and edges by edge set, in the order of their numbers (plan.Numbers), the first of which is 1.
type Sizes struct {
	plan.Numbers
	Vertices, Edges []int
}

// number is the number of set in a plan: 0 of a full graph, else that of plan.Numbers.
func (s *Sizes) number(set Set) int {
	switch {
	case set.ID == 0:
		return 0
	case s == nil:
		return plan.Numbers{}.Vertex(set.Level(), int(set.Type))
	case set.Kind == Edge:
		return s.Edge(set.Level(), int(set.Type))
	}
	return s.Vertex(set.Level(), int(set.Type))
}

// edgeNumber is how many multiply-adds of a dense product take as long as reading one number in a gather:
// 8 on a processor that multiplies at 60 GFLOP/s and gathers at 16 GB/s, and more on a GPU.
const edgeNumber = 8

// before tells whether gathering rows of in columns first and then multiplying them to out
// columns is less work than the other way round. n is the gather.
func (s *state) before(n *Node, in, out int) bool {
	e := n.in[0].shape.Set
	if z := s.opt.Sizes; z != nil && e.ID > 0 {
		src, dst := e.Ends()
		if n.op == GatherSrcOp {
			src, dst = dst, src
		}
		rows := z.Vertices[z.number(dst)-1] - z.Vertices[z.number(src)-1]
		return float64(rows)*float64(in)*float64(out) <= edgeNumber*float64(z.Edges[z.number(e)-1])*float64(out-in)
	}
	return in < out
}

// slideOut is the rule gather(linear(m, w)) = linear(gather(m), w).
func (s *state) slideOut(n *Node) *Node {
	if !sumGather(n.op) || n.attr.S != "" {
		return nil
	}
	m := n.in[0]
	if k := scaleFirst(m); k != nil {
		m = k
	}
	if edgeLinear(m) {
		return Apply(m.op, m.attr, append([]*Node{Apply(n.op, Attr{}, m.in[0])}, m.in[1:]...)...)
	}
	if !isScatter(m.op) || m.attr.S != "" || !linearProduct(m.in[0]) {
		return nil
	}
	l := m.in[0] // a product of vertex rows: worth it if gathering its operand is less work
	if !s.before(n, l.in[0].shape.Cols, l.shape.Cols) {
		return nil
	}
	return Apply(l.op, l.attr, Apply(n.op, Attr{}, Apply(m.op, m.attr, l.in[0])), l.in[1])
}

// scaleFirst is the rule s·linear(x, w) = linear(s·x, w) of edge rows, where s is a product of scalars
// per edge and the linear map is one that should leave the edges. nil: m has another form.
func scaleFirst(m *Node) *Node {
	if m.op != MulOp || m.shape.Set.Kind != Edge {
		return nil
	}
	var linear *Node
	var scalars []*Node
	for _, f := range factors(m) {
		switch {
		case f.op == WidenOp && f.in[0].shape.Cols == 1:
			scalars = append(scalars, f.in[0])
		case linear == nil && edgeLinear(f):
			linear = f
		default:
			return nil
		}
	}
	if linear == nil || len(scalars) == 0 {
		return nil
	}
	return Apply(linear.op, linear.attr, append([]*Node{scale(linear.in[0], scalars)}, linear.in[1:]...)...)
}

// scale is x multiplied by scalars per row. A row that was placed into a block is multiplied before that.
func scale(x *Node, scalars []*Node) *Node {
	if x.op == PlaceOp {
		return Apply(x.op, x.attr, scale(x.in[0], scalars), x.in[1])
	}
	for _, s := range scalars {
		x = mul(x, widen(s, x.shape.Cols))
	}
	return x
}

// edgeLinear tells whether m is a linear map of one edge tensor that should leave the edges: a
// product, a map to more columns, or a rearrangement of the columns of either.
func edgeLinear(m *Node) bool {
	d := m.Def()
	switch {
	case m.shape.Set.Kind != Edge || !d.Linear || d.Class == Move:
		return false
	case linearProduct(m):
		return true
	case len(m.in) != 1:
		return false
	case d.Class == Group:
		return m.in[0].shape.Cols < m.shape.Cols
	case d.Class == Row:
		return edgeLinear(m.in[0])
	}
	return false
}

// slideIn is the rule linear(s·gather(scatter(x)), w) = s·gather(scatter(linear(x, w))), where s
// is a product of scalars per vertex. It applies if the result is narrower, and over sampled
// blocks if that is less work. With pass invariant, a gather that does not change between epochs
// stays: it is computed once.
func (s *state) slideIn(invariant bool) Rule {
	return func(n *Node) *Node {
		if !linearProduct(n) || n.shape.Set.Kind != Vertex || n.shape.Set.ID == 0 && n.shape.Cols >= n.in[0].shape.Cols {
			return nil
		}
		var gather *Node
		fs := factors(n.in[0])
		for _, f := range fs {
			switch {
			case f.op == WidenOp && f.in[0].shape.Cols == 1:
			case gather == nil && sumGather(f.op) && f.attr.S == "" && isScatter(f.in[0].op) && f.in[0].attr.S == "":
				gather = f
			default:
				return nil
			}
		}
		if gather == nil || invariant && !gather.vary || n.shape.Set.ID > 0 && s.before(gather, n.in[0].shape.Cols, n.shape.Cols) {
			return nil
		}
		sc := gather.in[0]
		y := Apply(gather.op, Attr{}, Apply(sc.op, sc.attr, Apply(n.op, n.attr, sc.in[0], n.in[1])))
		for _, f := range fs {
			if f != gather {
				y = mul(y, widen(f.in[0], n.shape.Cols))
			}
		}
		return y
	}
}

// unscale is the rule linear(s·x, w) = s·linear(x, w) if the result is narrower, where s is a
// product of scalars per vertex. With pass invariant, s·x stays if it does not change between
// epochs: it is computed once.
func unscale(invariant bool) Rule {
	return func(n *Node) *Node {
		if !linearProduct(n) || n.shape.Set.Kind != Vertex || n.shape.Cols >= n.in[0].shape.Cols || invariant && !n.in[0].vary {
			return nil
		}
		var scalars, rest []*Node
		for _, f := range factors(n.in[0]) {
			if f.op == WidenOp && f.in[0].shape.Cols == 1 {
				scalars = append(scalars, f.in[0])
			} else {
				rest = append(rest, f)
			}
		}
		if len(scalars) == 0 || len(rest) == 0 {
			return nil
		}
		y := Apply(n.op, n.attr, product(rest, -1), n.in[1])
		for _, s := range scalars {
			y = mul(y, widen(s, n.shape.Cols))
		}
		return y
	}
}

func linearProduct(n *Node) bool {
	d := n.Def()
	return d.Linear && d.Class == Row && len(n.in) == 2 && n.in[1].shape.Set.Kind == Global
}
