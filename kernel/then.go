package kernel

import (
	"slices"
	"strconv"
	"strings"
)

// What follows a gather whose launches have all edges of their rows (Program.Then): a row program over the same operands. Its
// instructions are columnwise, it reads the sums where the gather would write them, and it has one result. A GPU computes it
// where the sums are, in registers, so that sums that nothing else reads (Out.Quiet) never reach memory.

// Columnwise tells whether in computes columns of width each from the same columns, or a number of a row from such.
func (p *Program) Columnwise(in *Instr, width int) bool {
	switch {
	case in.Role.Apart(), in.Role == GroupSum, in.Role == Concat, in.Role == Unpack:
		return false
	}
	if w := p.Widths[in.Dst]; w != width && w != 1 {
		return false
	}
	for k, r := range in.In {
		f := slices.IndexFunc(p.Leaves, func(f Leaf) bool { return f.Reg == r })
		switch w := p.Widths[r]; {
		case f >= 0 && p.Leaves[f].From == Global, w == 1: // read where it lies, or a number
		case w != width, p.Widths[in.Dst] != width, strings.Contains(in.CUDA, "$"+strconv.Itoa(k)+"["):
			return false
		case f >= 0 && (p.Leaves[f].Half || p.Leaves[f].Key != NoKey):
			return false
		}
	}
	return true
}

// Join is p with the registers and leaves of Then behind its own, and Then by those.
func (p *Program) Join() *Program {
	if p.Then == nil {
		return p
	}
	q, t, by := *p, *p.Then, len(p.Widths)
	q.Widths = slices.Concat(p.Widths, t.Widths)
	q.Leaves, t.Instrs, t.Outs = slices.Clone(p.Leaves), slices.Clone(t.Instrs), slices.Clone(t.Outs)
	for _, l := range t.Leaves {
		l.Reg += by
		q.Leaves = append(q.Leaves, l)
	}
	t.Widths, t.Leaves = q.Widths, q.Leaves[len(p.Leaves):]
	for i := range t.Instrs {
		in := &t.Instrs[i]
		in.Dst, in.In = in.Dst+by, slices.Clone(in.In)
		for k := range in.In {
			in.In[k] += by
		}
	}
	for i := range t.Outs {
		t.Outs[i].Reg += by
	}
	q.Then = &t
	return &q
}

// Summed is the number of the result of a gather that leaf l of Then reads; -1: none.
func (p *Program) Summed(l *Leaf) int {
	if l.From != Own {
		return -1
	}
	return slices.IndexFunc(p.Outs, func(o Out) bool { return o.Operand == l.Operand })
}

// WithPadding is p that reads rows of operand k, which is Paddable, as zeros from the launch's count of them on.
func (p *Program) WithPadding(k int) *Program {
	return withLeaves(p, func(l *Leaf) {
		if l.Operand == k && l.From == Own {
			l.Padded = true
		}
	})
}

// withLeaves is p with leaves that are changed.
func withLeaves(p *Program, change func(l *Leaf)) *Program {
	q := *p
	q.Leaves = slices.Clone(p.Leaves)
	for i := range q.Leaves {
		if q.Leaves[i].From != Cell {
			change(&q.Leaves[i])
		}
	}
	if p.Then != nil {
		q.Then = withLeaves(p.Then, change)
	}
	return &q
}

// Paddable tells whether operand k is read by its own rows, one by one, by programs of rows only: these need no zeros in memory.
func (p *Program) Paddable(k int) bool {
	for i := range p.Leaves {
		if l := &p.Leaves[i]; l.From != Cell && l.Operand == k && (p.Edges || l.From != Own || l.Key != NoKey || p.matrix(l.Reg)) {
			return false
		}
	}
	return !writes(p, k) && (p.Then == nil || p.Then.Paddable(k))
}

// writes tells whether operand k is a result.
func writes(p *Program, k int) bool {
	return slices.ContainsFunc(p.Outs, func(o Out) bool { return o.Operand == k || o.Aux == k })
}

// Pads tells whether p reads rows of operand k as zeros behind those that are there.
func (p *Program) Pads(k int) bool {
	return slices.ContainsFunc(p.Leaves, func(l Leaf) bool { return l.Padded && l.Operand == k })
}
