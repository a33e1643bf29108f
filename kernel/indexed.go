package kernel

import "slices"

// Indexed rows. An operand may be a table with more rows than a launch needs. The launch then has a list, Launch.Index: its row r
// is row Index[r] of the table. Kernels that read rows one by one read them in the table, so that no kernel must copy them first.

// Indexable tells whether rows of operand k are read one by one. A product or a sum over all rows reads them as a matrix.
func (p *Program) Indexable(k int) bool {
	for i := range p.Leaves {
		if l := &p.Leaves[i]; l.From != Cell && l.Operand == k && (l.From != Own && l.From != Other || p.matrix(l.Reg)) {
			return false
		}
	}
	return !writes(p, k) && (p.Then == nil || p.Then.Indexable(k))
}

// matrix tells whether register r is read as a matrix.
func (p *Program) matrix(r int) bool {
	return slices.ContainsFunc(p.Instrs, func(in Instr) bool { return in.Role.Apart() && slices.Contains(in.In, r) }) ||
		slices.ContainsFunc(p.Outs, func(o Out) bool { return o.Acc.Global() && (o.Reg == r || o.Acc.Pair() && o.Reg2 == r) })
}

// WithIndex is p that reads rows of operand k, which is Indexable, by the launch's list.
func (p *Program) WithIndex(k int) *Program {
	return withLeaves(p, func(l *Leaf) {
		if l.Operand == k && (l.From == Own || l.From == Other) {
			l.Indexed = true
		}
	})
}

// Indexes tells whether p reads any rows so.
func (p *Program) Indexes() bool {
	return slices.ContainsFunc(p.Leaves, func(l Leaf) bool { return l.Indexed })
}
