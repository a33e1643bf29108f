package dataflow

// Commute: a linear map slides through a sum gather. It gathers the narrower of
// its two widths, and a product that stays on the edges always slides to the
// vertices.

// Sizes are how many rows the sets of a program over blocks are expected to have, by level
// and by block.
type Sizes struct{ Vertices, Edges []int }

// edgeNumber is how many multiply-adds of a dense product take as long as it takes a gather to read
// one number: 8 on a processor that multiplies at 60 GFLOP/s and gathers at 16 GB/s, and more on a GPU.
const edgeNumber = 8

// before tells whether it is less work to gather first and multiply rows of in columns to out
// columns then, by the gather n from level to level of blocks.
func (s *state) before(n *Node, in, out int) bool {
	e := n.in[0].shape.Set
	if z := s.opt.Sizes; z != nil && e.ID > 0 {
		src, dst := e.Ends()
		if n.op == GatherSrcOp {
			src, dst = dst, src
		}
		rows := z.Vertices[dst.Level()] - z.Vertices[src.Level()]
		return float64(rows)*float64(in)*float64(out) <= edgeNumber*float64(z.Edges[e.Level()])*float64(out-in)
	}
	return in < out
}

// slideOut: gather(linear(m, w)) = linear(gather(m), w).
func (s *state) slideOut(n *Node) *Node {
	if !sumGather(n.op) || n.attr.S != "" {
		return nil
	}
	m := n.in[0]
	if edgeLinear(m) {
		return Apply(m.op, m.attr, append([]*Node{Apply(n.op, Attr{}, m.in[0])}, m.in[1:]...)...)
	}
	if !isScatter(m.op) || m.attr.S != "" || !linearProduct(m.in[0]) {
		return nil
	}
	l := m.in[0] // a product hoisted to the vertices: worth it when its operand is narrower
	if !s.before(n, l.in[0].shape.Cols, l.shape.Cols) {
		return nil
	}
	return Apply(l.op, l.attr, Apply(n.op, Attr{}, Apply(m.op, Attr{}, l.in[0])), l.in[1])
}

// edgeLinear: a linear map of one edge tensor that should leave the edges: a product,
// something narrow made wide, or a rearrangement of the columns of such.
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

// slideIn: linear(s·gather(scatter(x)), w) = s·gather(scatter(linear(x, w))) when the
// result is narrower, in sampled blocks when that is less work; s are scalars a vertex. What
// does not change between epochs is better gathered once (the invariant pass), so it stays.
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
		y := Apply(gather.op, Attr{}, Apply(sc.op, Attr{}, Apply(n.op, n.attr, sc.in[0], n.in[1])))
		for _, f := range fs {
			if f != gather {
				y = mul(y, widen(f.in[0], n.shape.Cols))
			}
		}
		return y
	}
}

// unscale: linear(s·x, w) = s·linear(x, w) when the result is narrower; s are scalars a
// vertex. What does not change between epochs is scaled once (the invariant pass).
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
