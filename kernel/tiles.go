package kernel

import "slices"

// Products of a row program that a GPU computes by tiles, in a kernel of its own in place of the library's. The instructions
// that follow such a product, if each column of theirs needs no other, are computed where the tile is: a product then
// writes what they make of it, and its own result never reaches memory.

// LeastTiled is the columns that the result of a product by tiles has at least: a tile is 128 wide. By groups of warps it may be narrower.
const (
	LeastTiled   = 96
	leastGrouped = 64
)

// LeastTiled is LeastTiled of a chip.
func (c Chip) LeastTiled() int {
	if c.Groups {
		return leastGrouped
	}
	return LeastTiled
}

// Tiled tells whether in is a product that is computed by tiles: its rows and columns lie so that four floats are read at once.
func (l *Layout) Tiled(in *Instr) bool {
	p := l.Program
	if p.Edges || !in.Role.Product() || p.Widths[in.Dst] < l.Chip.LeastTiled() || p.Widths[in.Dst]%4 != 0 || p.Widths[in.In[0]] < 16 {
		return false
	}
	for i := range p.Leaves {
		f := &p.Leaves[i]
		switch {
		case f.Reg == in.In[0]:
			if f.From != Own || f.LD%4 != 0 || f.Key != NoKey || f.Half || f.Indexed || f.Padded {
				return false
			}
		case f.Reg == in.In[1]:
			if f.From != Global || f.LD%4 != 0 {
				return false
			}
		}
	}
	for _, o := range p.Outs {
		if o.Acc == Store && (o.Reg == in.Dst || o.Reg == in.In[0]) && o.LD%4 != 0 {
			return false
		}
		if slices.ContainsFunc(p.Leaves, func(f Leaf) bool { return f.Reg == in.In[0] && f.Operand == o.Operand }) {
			return false // other tiles of the row still read it
		}
	}
	return true
}

// follow finds, by level, the products by tiles whose kernel computes the level's instructions, too: one, or two that are added.
func (l *Layout) follow() {
	p := l.Program
	l.After = make([][]int, l.Levels)
	for v := 1; v < l.Levels && !p.Edges; v++ {
		var of []int // products that the level's instructions read
		ok := true
		for i := range p.Instrs {
			if in := &p.Instrs[i]; in.Role.Apart() && l.Level[in.Dst] == v && l.readAt(in.Dst, v) {
				of = append(of, i)
				ok = ok && l.Tiled(in) && l.onlyAt(in.Dst, v)
			}
		}
		if len(of) == 0 || len(of) > 2 || !ok || !l.columnwise(v, p.Widths[p.Instrs[of[0]].Dst]) || len(of) == 2 && l.Added(of) < 0 {
			continue
		}
		l.After[v] = of
	}
}

// Added is the instruction that adds two products of which nothing else reads one; -1: there is none.
func (l *Layout) Added(of []int) int {
	p := l.Program
	a, b := p.Instrs[of[0]].Dst, p.Instrs[of[1]].Dst
	if p.Instrs[of[0]].Role != p.Instrs[of[1]].Role {
		return -1
	}
	reads := func(in *Instr, r int) bool { return slices.Contains(in.In, r) }
	at := -1
	for i := range p.Instrs {
		in := &p.Instrs[i]
		if !reads(in, a) && !reads(in, b) {
			continue
		}
		if at >= 0 || in.Role != Plus || !reads(in, a) || !reads(in, b) {
			return -1
		}
		at = i
	}
	return at
}

// readAt tells whether an instruction of level v that is no product reads register r.
func (l *Layout) readAt(r, v int) bool {
	return slices.ContainsFunc(l.Program.Instrs, func(in Instr) bool {
		return !in.Role.Apart() && l.Level[in.Dst] == v && slices.Contains(in.In, r)
	})
}

// onlyAt tells whether nothing but instructions of level v reads register r.
func (l *Layout) onlyAt(r, v int) bool {
	p := l.Program
	return !slices.ContainsFunc(p.Instrs, func(in Instr) bool {
		return slices.Contains(in.In, r) && (in.Role.Apart() || l.Level[in.Dst] != v)
	}) && !slices.ContainsFunc(p.Outs, func(o Out) bool { return o.Reg == r || o.Acc.Pair() && o.Reg2 == r })
}

// columnwise tells whether the instructions of level v but products compute columns of width each from the same columns, or
// numbers of a row from such.
func (l *Layout) columnwise(v, width int) bool {
	p := l.Program
	for i := range p.Instrs {
		in := &p.Instrs[i]
		if in.Role.Apart() || l.Level[in.Dst] != v {
			continue
		}
		if !p.Columnwise(in, width) {
			return false
		}
	}
	return true
}

// within tells whether r is the result of a product that only instructions of its own kernel read.
func (l *Layout) within(r int) bool {
	return slices.ContainsFunc(l.After, func(of []int) bool {
		return slices.ContainsFunc(of, func(i int) bool { return l.Program.Instrs[i].Dst == r })
	})
}

// time is when the kernel of level v writes (scratch_alloc.go): with the products that it follows.
func (l *Layout) time(v int) int {
	if v < len(l.After) && len(l.After[v]) > 0 {
		return 2*v - 1
	}
	return 2 * v
}
