package kernel

// A GPU runs a program as kernels over tiles of rows, or over tiles of a cell's edges.
// Element-wise and row-wise instructions are fused; a product and a sum over all rows are
// commands of their own, which read and write memory. So the program falls into levels: level
// l is the fused kernel that runs after l products in a row. A gather program without products and
// such sums is one kernel and has no levels.

// Layout is the levels of a program and where its registers lie in memory between kernels.
type Layout struct {
	Program *Program // with rows of bfloat16 read as such (halves.go)
	Chip    Chip
	Dense   bool // an edge program with products or sums over all edges: runs by tiles
	Levels  int
	Level   []int      // register -> level whose kernel makes it available
	After   [][]Follow // level -> products whose kernels compute instructions of the level, too (follow.go)
	Home    []Home     // register -> where it lies in memory, if it does
	Order   []int      // registers with scratch memory
	Slot    []int      // register -> its place there
	Room    []int      // place -> floats a row
}

// Home is the memory that holds a register: rows of LD floats, row i of the tile at i
// from the tile's start.
type Home struct {
	Kind    HomeKind
	Operand int // of InOperand
	Array   CellArray
	LD      int
}

// HomeKind is a kind of memory.
type HomeKind uint8

// The kinds of memory.
const (
	NoHome    HomeKind = iota
	InOperand          // an operand, from its first row on
	InCell             // an array of the cell
	InScratch          // scratch memory
)

// NewLayout lays out p, which Check accepts, for a chip.
func NewLayout(p *Program, chip Chip) *Layout {
	p = halves(p)
	l := &Layout{Program: p, Chip: chip, Dense: p.Edges && p.dense(), Level: make([]int, len(p.Widths)), Home: make([]Home, len(p.Widths))}
	leaf := l.operandHomes()
	l.levels()
	l.widenAgain()
	l.follow()
	if p.Edges && !l.Dense {
		l.Levels = 0
	} else {
		l.scratchHomes(l.passed(append(leaf, make([]bool, len(l.Level)-len(leaf))...)))
	}
	l.place()
	return l
}

// dense tells whether p has products or sums over all rows.
func (p *Program) dense() bool {
	for i := range p.Instrs {
		if p.Instrs[i].Role.Apart() {
			return true
		}
	}
	for i := range p.Outs {
		if p.Outs[i].Acc.Global() {
			return true
		}
	}
	return false
}

// operandHomes finds the registers that lie in operands or in the cell, and those of leaves.
func (l *Layout) operandHomes() (leaf []bool) {
	p := l.Program
	leaf = make([]bool, len(p.Widths))
	for _, f := range p.Leaves {
		leaf[f.Reg] = true
		switch {
		case f.Half, f.Indexed, f.Padded: // products read floats, side by side
		case f.From == Own && !p.Edges && f.Key == NoKey, f.From == EdgeBuf:
			l.Home[f.Reg] = Home{Kind: InOperand, Operand: f.Operand, LD: f.LD}
		case f.From == Cell && f.Array != Type:
			l.Home[f.Reg] = Home{Kind: InCell, Array: f.Array, LD: f.Cols}
		}
	}
	for _, o := range p.Outs {
		if o.Acc == Store && !leaf[o.Reg] && l.Home[o.Reg].Kind == NoHome {
			l.Home[o.Reg] = Home{Kind: InOperand, Operand: o.Operand, LD: o.LD}
		}
	}
	return leaf
}

// levels finds the level of every register.
func (l *Layout) levels() {
	l.Levels = 1
	for _, in := range l.Program.Instrs {
		for _, r := range in.In {
			l.Level[in.Dst] = max(l.Level[in.Dst], l.Level[r])
		}
		if in.Role.Apart() {
			l.Level[in.Dst] = l.Level[in.In[0]] + 1
		}
		l.Levels = max(l.Levels, l.Level[in.Dst]+1)
	}
}

// passed finds the registers that pass from one kernel to another.
func (l *Layout) passed(leaf []bool) []bool {
	p := l.Program
	need := make([]bool, len(p.Widths))
	for _, in := range p.Instrs {
		for k, r := range in.In {
			switch apart := in.Role.Apart(); {
			case apart && k == 0:
				need[r], need[in.Dst] = true, need[in.Dst] || !l.within(in.Dst)
			case in.Role == SparseDrop && k == 2:
				need[r] = true
			case !apart && !leaf[r] && l.Level[in.Dst] == l.Level[r] && l.InTile(r) && !l.InTile(in.Dst):
				need[r] = need[r] || !l.repeated(r)
			case !apart && !leaf[r] && !l.within(r) && l.Level[in.Dst] > l.Level[r]:
				need[r] = true
			}
		}
	}
	for _, o := range p.Outs {
		switch {
		case o.Acc.Pair():
			need[o.Reg], need[o.Reg2] = true, true
		case o.Acc == SumRows, l.Dense && o.Acc != Store && !leaf[o.Reg]:
			need[o.Reg] = true
		}
	}
	return need
}

// scratchHomes gives scratch memory to registers that need memory and have none.
func (l *Layout) scratchHomes(need []bool) {
	for r := range need {
		if need[r] && l.Home[r].Kind == NoHome {
			ld := l.Program.Widths[r]
			if ld > 1 {
				ld = (ld + 3) &^ 3
			}
			l.Home[r] = Home{Kind: InScratch, LD: ld}
			l.Order = append(l.Order, r)
		}
	}
}

// Between is how many bytes a row of l the level's kernels write to scratch memory and read there, without products and sums, whose rates include what they
// read and write, and without what only sums over rows read.
func Between(l *Layout) (bytes int64) {
	p := l.Program
	only, here := make([]bool, len(p.Widths)), make([]bool, len(p.Widths)) // registers that only sums over rows read, and those that a level's kernel computes
	for i := range p.Outs {
		only[p.Outs[i].Reg] = p.Outs[i].Acc == SumRows
	}
	type read struct{ level, reg int }
	seen := map[read]bool{}
	for _, in := range p.Instrs {
		for _, r := range in.In {
			only[r] = false
			x := read{l.Level[in.Dst], r}
			if in.Role.Apart() || l.Home[r].Kind != InScratch || seen[x] || here[r] && l.Level[r] == x.level {
				continue
			}
			seen[x] = true
			bytes += 4 * int64(l.Home[r].LD)
		}
		here[in.Dst] = !in.Role.Apart()
	}
	for _, in := range p.Instrs {
		if r := in.Dst; !in.Role.Apart() && !only[r] && l.Home[r].Kind == InScratch {
			bytes += 4 * int64(l.Home[r].LD)
		}
	}
	return bytes
}
