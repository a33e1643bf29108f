package kernel

import "slices"

// Rows of bfloat16 on GPUs. A leaf of words that only Unpack reads becomes a leaf of
// the columns themselves (Leaf.Half): two bytes a column are loaded, and no instruction
// and no shared memory stands between them and the sum. What else reads words runs the
// op's own expression. The CPU runs the op.

// halves is p with such leaves; p itself where there are none.
func halves(p *Program) *Program {
	q := *p
	q.Leaves, q.Instrs = slices.Clone(p.Leaves), nil
	gone := map[int]bool{} // registers of words that nothing reads any more
	for i := range q.Leaves {
		l := &q.Leaves[i]
		k := onlyUnpacked(p, l)
		if k < 0 {
			continue
		}
		gone[l.Reg] = true
		l.Cols, l.Reg, l.Half = p.Widths[p.Instrs[k].Dst], p.Instrs[k].Dst, true
	}
	if len(gone) == 0 {
		return p
	}
	for _, in := range p.Instrs {
		if in.Role != Unpack || !gone[in.In[0]] {
			q.Instrs = append(q.Instrs, in)
		}
	}
	return &q
}

// onlyUnpacked is the instruction that unpacks leaf l, -1 where something else reads it or
// its rows are not aligned for loads of eight columns.
func onlyUnpacked(p *Program, l *Leaf) int {
	if l.From != Own && l.From != Other || l.Half || l.LD%4 != 0 || l.Key != NoKey && l.Cols%4 != 0 {
		return -1
	}
	at := -1
	for i, in := range p.Instrs {
		if slices.Contains(in.In, l.Reg) {
			if at >= 0 || in.Role != Unpack {
				return -1
			}
			at = i
		}
	}
	if slices.ContainsFunc(p.Outs, func(o Out) bool { return o.Reg == l.Reg || o.Acc.Pair() && o.Reg2 == l.Reg }) {
		return -1
	}
	return at
}
