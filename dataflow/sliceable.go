package dataflow

import "sagann/kernel"

// splits tells whether n is a gather that can be sliced: its columns do not mix.
func (p *slicing) splits(n *Node) bool {
	f := n.shape.Cols
	if !isGather(n) || n.attr != (Attr{}) || n.Def().Acc == kernel.SumExp || p.cuts(n) == nil || !p.columnwise(n.in[0], f) {
		return false
	}
	_, leaves := program(n)
	for _, l := range leaves { // a part would lose the mark Exact; slices of another gather keep it
		if isScatter(l.op) && l.shape.Cols == f && l.in[0].Def().Exact && p.group[l.in[0]] == 0 {
			return false
		}
	}
	return true
}

// columnsOf is the arguments of a call of columnwise.
type columnsOf struct {
	n *Node
	f int
}

// columnwise tells whether n has f columns and column c of it depends only on columns c of
// scattered rows and of Globals, and on narrow values of the edge or of its ends.
func (p *slicing) columnwise(n *Node, f int) bool {
	k := columnsOf{n, f}
	yes, known := p.wide[k]
	if !known {
		yes = p.ofColumns(n, f)
		p.wide[k] = yes
	}
	return yes
}

func (p *slicing) ofColumns(n *Node, f int) bool {
	switch {
	case n.shape.Cols != f:
		return false
	case n.shape.Set.Kind == Global:
		return n.shape.Rows == 1
	case isScatter(n.op):
		return n.attr.S == ""
	case n.op == WidenOp:
		return n.in[0].shape.Cols == 1 && p.narrow(n.in[0])
	case n.Def().Class != Elem:
		return false
	}
	for i, x := range n.in {
		if sliced(n, i) && !p.columnwise(x, f) || !sliced(n, i) && !p.narrow(x) {
			return false
		}
	}
	return true
}

// sliced tells whether column c of element-wise n reads only column c of operand i. If not, it
// reads the whole operand.
func sliced(n *Node, i int) bool {
	if i > 0 && (n.Def().Effect || n.op == SpreadOp) {
		return false
	}
	return n.in[i].shape.Cols == n.shape.Cols
}

// narrow tells whether edge value n reads no row as wide as a slice.
func (p *slicing) narrow(n *Node) bool {
	if n.shape.Set.Kind == Global {
		return true
	}
	if isScatter(n.op) || len(n.in) == 0 {
		return n.shape.Cols < leastSlice
	}
	yes, known := p.few[n]
	if !known {
		yes = true
		for _, x := range n.in {
			yes = yes && p.narrow(x)
		}
		p.few[n] = yes
	}
	return yes
}

// through tells whether slices of vertex value n are computed from slices of its operands.
func through(n *Node) bool {
	return n.shape.Set.Kind == Vertex && n.Def().Class == Elem || n.op == WidenOp && n.in[0].shape.Cols == 1
}

// mark finds the vertex values that must be stored as slices so that n has slices, and adds
// them to cut.
func (p *slicing) mark(n *Node) {
	if p.marked[n] {
		return
	}
	p.marked[n] = true
	switch {
	case !through(n):
		p.cut[n] = true
	case n.op != WidenOp:
		for i, x := range n.in {
			if sliced(n, i) && x.shape.Set.Kind == Vertex {
				p.mark(x)
			}
		}
	}
}
