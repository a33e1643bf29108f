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

// Fours tells whether the matrix of product in lies so that four floats are read at once.
func (l *Layout) Fours(in *Instr) bool {
	p := l.Program
	return !slices.ContainsFunc(p.Leaves, func(f Leaf) bool { return f.Reg == in.In[1] && f.LD%4 != 0 })
}

// Tiled tells whether in is a product that is computed by tiles: four floats of its rows are read at once and, but in float32 by groups of warps, of its matrix.
func (l *Layout) Tiled(in *Instr) bool {
	p := l.Program
	if p.Edges || !in.Role.Product() || p.Widths[in.Dst] < l.Chip.LeastTiled() || p.Widths[in.In[0]] < 16 || !l.Chip.Groups && !l.Fours(in) {
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
			if f.From != Global {
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
