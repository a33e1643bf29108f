package dataflow

import (
	"cmp"
	"fmt"
)

// Slices of columns. A sum over neighbours does not mix columns, nor do most edge functions once
// products have left the edges. With Options.Slices = k such a gather of F columns becomes k
// gathers of about F/k columns, each in a phase of its own (phases.assign). One slice of all
// vertices may fit into device memory where whole rows do not, so a source row is loaded once per
// phase instead of once per destination interval. The price: cells are read k times, and the sums
// of the first slices wait on the host for the last. Vertex values that sliced gathers read are
// stored as slices; a reader that needs whole rows joins them.

// The two ops; package ops declares them. They only move columns, so they are computed again
// rather than stored.
const (
	PartOp Op = "part" // columns Attr.I to Attr.I+Attr.J-1
	JoinOp Op = "join" // two to eight tensors side by side
)

// leastSlice is the default width, in columns, of the narrowest slice: the least width that is packed.
const leastSlice = leastPacked

// cuts lists the first columns of the slices of a value of f columns, and then f; nil: not sliced.
// k is how many slices are wanted. Slices are cut so that their rows are padded as little as
// possible, and none is narrower than least.
func cuts(f, k, least int) []int {
	if k < 2 || f < 2*least {
		return nil
	}
	k = min(k, mostParts)
	units := []int{8, 2}
	w := max(least, (f+k-1)/k)
	switch {
	case least < leastSlice:
		units = []int{1}
	case w > 32:
		units = []int{32, 8, 2}
	}
	for _, unit := range units {
		w := (w + unit - 1) / unit * unit
		if w >= f || f%w > 0 && f%w < least {
			continue
		}
		var at []int
		for c := 0; c < f; c += w {
			at = append(at, c)
		}
		return append(at, f)
	}
	return nil
}

// slicing rewrites a program for gathers by slices.
type slicing struct {
	s      *state
	g      *Graph
	group  map[*Node]int      // sliced gathers, numbered from 1
	cut    map[*Node]bool     // vertex values that are stored as slices
	marked map[*Node]bool     // nodes that mark has seen
	wide   map[columnsOf]bool // answers of columnwise
	few    map[*Node]bool     // answers of narrow
	memo   map[*Node]*Node    // results of whole
	raws   map[*Node]*Node    // results of raw
	parts  map[partOf]*Node   // results of part
}

// partOf is slice i of a node.
type partOf struct {
	n *Node
	i int
}

// slice is the pass: it splits the gathers whose columns do not mix.
func slice(s *state) {
	nodes := s.nodes()
	p := &slicing{s: s, g: newMerged(), group: map[*Node]int{}, cut: map[*Node]bool{}, marked: map[*Node]bool{}, wide: map[columnsOf]bool{}, few: map[*Node]bool{}, memo: map[*Node]*Node{}, raws: map[*Node]*Node{}, parts: map[partOf]*Node{}}
	live := Live(nodes)
	for _, n := range live {
		if p.splits(n) {
			p.group[n] = len(p.group) + 1
		}
	}
	if len(p.group) == 0 {
		return
	}
	for _, n := range live { // not over the map, so that notes come in the program's order
		if p.group[n] == 0 {
			continue
		}
		_, leaves := program(n)
		for _, l := range leaves {
			if isScatter(l.op) && l.shape.Cols == n.shape.Cols {
				p.mark(l.in[0])
			}
		}
		at := p.cuts(n)
		s.note("slice", n, fmt.Sprintf("gathered by %d slices of up to %d columns", len(at)-1, at[1]))
	}
	for i := range s.outs {
		s.outs[i].node = p.whole(s.outs[i].node)
	}
	p.g.at = ""
}

func (p *slicing) cuts(n *Node) []int {
	return cuts(n.shape.Cols, p.s.opt.Slices, cmp.Or(p.s.opt.LeastSlice, leastSlice))
}

// whole is all columns of n in the new graph: the join of its slices if it has any.
func (p *slicing) whole(n *Node) *Node {
	if m := p.memo[n]; m != nil {
		return m
	}
	var m *Node
	if p.cut[n] || p.group[n] > 0 {
		at := p.cuts(n)
		all := make([]*Node, len(at)-1)
		for i := range all {
			all[i] = p.part(n, i)
		}
		p.g.at = n.pos
		m = join(all)
	} else {
		m = p.raw(n)
	}
	p.memo[n] = m
	return m
}

// raw is n computed from whole operands. n is no sliced gather.
func (p *slicing) raw(n *Node) *Node {
	if m := p.raws[n]; m != nil {
		return m
	}
	in := make([]*Node, len(n.in))
	for i, x := range n.in {
		// Edges that need whole rows scatter the value itself, not the join of its slices.
		if isScatter(n.op) && p.cut[x] && p.group[x] == 0 {
			in[i] = p.raw(x)
		} else {
			in[i] = p.whole(x)
		}
	}
	p.g.at = n.pos
	m := p.g.add(n.op, n.attr, n.shape, in...)
	p.raws[n] = m
	return m
}

// part is slice i of n: of a vertex or edge value, or of a Global of one row.
func (p *slicing) part(n *Node, i int) *Node {
	k := partOf{n, i}
	if m := p.parts[k]; m != nil {
		return m
	}
	at := p.cuts(n)
	from, cols := at[i], at[i+1]-at[i]
	var m *Node
	switch kind := n.shape.Set.Kind; {
	case p.group[n] > 0:
		e := p.part(n.in[0], i)
		p.g.at = n.pos
		m = Apply(n.op, Attr{I: int32(p.group[n]), J: int32(i + 1)}, e)
	case isScatter(n.op):
		x := p.part(n.in[0], i)
		p.g.at = n.pos
		m = Apply(n.op, n.attr, x)
	case n.op == WidenOp && n.in[0].shape.Cols == 1:
		x := p.whole(n.in[0])
		p.g.at = n.pos
		m = widen(x, cols)
	case kind == Edge || through(n):
		in := make([]*Node, len(n.in))
		for j, x := range n.in {
			if sliced(n, j) {
				in[j] = p.part(x, i)
			} else {
				in[j] = p.whole(x)
			}
		}
		a := n.attr
		if n.Def().Effect { // the result depends on the column number: count from the first slice
			a.J += int32(from)
		}
		p.g.at = n.pos
		m = Apply(n.op, a, in...)
	default:
		x := p.raw(n)
		p.g.at = n.pos
		m = Apply(PartOp, Attr{I: int32(from), J: int32(cols)}, x)
	}
	p.parts[k] = m
	return m
}

// mostParts is how many operands a join may have, and so how many slices there may be.
const mostParts = 8

// join puts tensors side by side.
func join(all []*Node) *Node { return Apply(JoinOp, Attr{}, all...) }

// sliceOf tells whether n gathers one slice: slice n.attr.J, from 1, of gather number n.attr.I.
func sliceOf(n *Node) bool { return isGather(n) && n.attr.S == "" && n.attr.J > 0 }

// previous maps the gather of a slice to the gather of the slice before it, among live nodes.
func previous(live []*Node) map[*Node]*Node {
	type key struct {
		op          Op
		group, part int32
	}
	at, before := map[key]*Node{}, map[*Node]*Node{}
	for _, n := range live {
		if sliceOf(n) {
			at[key{n.op, n.attr.I, n.attr.J}] = n
		}
	}
	for k, n := range at {
		for j := k.part - 1; j > 0 && before[n] == nil; j-- {
			if m := at[key{k.op, k.group, j}]; m != nil {
				before[n] = m
			}
		}
	}
	return before
}

// inTurn sorts nodes, given in topological order, so that they stay in topological order and the
// gather of each slice comes after the gather of the slice before.
func inTurn(live []*Node, before map[*Node]*Node) []*Node {
	if len(before) == 0 {
		return live
	}
	var order []*Node
	seen := map[*Node]bool{}
	var walk func(n *Node)
	walk = func(n *Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if m := before[n]; m != nil {
			walk(m)
		}
		for _, x := range n.in {
			walk(x)
		}
		order = append(order, n)
	}
	for _, n := range live {
		walk(n)
	}
	return order
}

// joined is the node whose parts n joins, all of them and in order; nil if n is no such join.
func joined(n *Node) *Node {
	if n.op != JoinOp {
		return nil
	}
	of, at := n.in[0], 0
	if of.op == PartOp {
		of = of.in[0]
	}
	for _, x := range n.in {
		if x.op != PartOp || x.in[0] != of || int(x.attr.I) != at {
			return nil
		}
		at += x.shape.Cols
	}
	if at != of.shape.Cols {
		return nil
	}
	return of
}
