package cuda

import (
	"slices"

	"sagann/kernel"
)

// work is what a kernel moves and computes for one row or edge: bytes of operands, each time that one is used, and one
// operation per column of each instruction.
type work struct{ bytes, flops int64 }

func (w work) times(n int) work { return work{w.bytes * int64(n), w.flops * int64(n)} }
func (w work) plus(v work) work { return work{w.bytes + v.bytes, w.flops + v.flops} }

// dropoutOps is how many operations drawing whether a number is dropped takes: a hash of its place.
const dropoutOps = 20

// wide is the work of reading or writing a register once.
func (c *Program) wide(r int) work { return work{bytes: 4 * int64(c.p.Widths[r])} }

// read is the work of loading a register: two bytes a column of rows of bfloat16, and where an indexed row lies.
func (c *Program) read(r int) work {
	w := c.wide(r)
	if k := slices.IndexFunc(c.p.Leaves, func(l kernel.Leaf) bool { return l.Reg == r }); k >= 0 {
		if c.p.Leaves[k].Half {
			w.bytes /= 2
		}
		if c.p.Leaves[k].Indexed { // its place
			w.bytes += 4
		}
	}
	return w
}

// shared tells whether a register is the same for all rows, so that it counts nothing.
func (c *Program) shared(r int) bool {
	return slices.ContainsFunc(c.p.Leaves, func(l kernel.Leaf) bool { return l.Reg == r && l.From == kernel.Global })
}

// instrWork is the work of an instruction for one row: one operation per column of its widest register.
func (c *Program) instrWork(in *kernel.Instr) work {
	w := c.p.Widths[in.Dst]
	for _, r := range in.In {
		if !c.shared(r) {
			w = max(w, c.p.Widths[r])
		}
	}
	return work{flops: int64(w)}
}

// countRows is the work of a row kernel for a row: what it reads, computes, writes.
func (c *Program) countRows(used []int, instrs []*kernel.Instr, puts []int) work {
	var w work
	done := map[int]bool{}
	for _, r := range used {
		if !done[r] && !c.shared(r) {
			done[r] = true
			w = w.plus(c.read(r))
		}
	}
	for _, in := range instrs {
		w = w.plus(c.instrWork(in))
	}
	for _, r := range puts {
		w = w.plus(c.wide(r))
	}
	return w
}

// countGather is the work of a gather, per entry of its row list and per edge. Rows that are read only where a mask is not
// zero (predicated_load.go) are not counted.
func (c *Program) countGather(used []int, instrs []*kernel.Instr, outs []*kernel.Out) (row, edge work) {
	edge.bytes = 4 // the far end's index
	row.bytes = 4
	for _, r := range used {
		k := slices.IndexFunc(c.p.Leaves, func(l kernel.Leaf) bool { return l.Reg == r })
		switch {
		case k >= 0 && c.p.Leaves[k].From == kernel.Global:
		case k >= 0 && c.p.Leaves[k].From == kernel.Own && c.p.Leaves[k].Key == kernel.NoKey:
			row = row.plus(c.read(r))
		default:
			edge = edge.plus(c.read(r))
		}
	}
	for _, in := range instrs {
		edge = edge.plus(c.instrWork(in))
	}
	for _, o := range outs {
		w := c.wide(o.Reg)
		if o.Acc == kernel.Store {
			edge = edge.plus(w)
			continue
		}
		edge.flops += int64(c.p.Widths[o.Reg])
		if !o.Quiet {
			row = row.plus(w)
		}
		if o.Aux >= 0 {
			row = row.plus(w)
		}
	}
	return row.plus(countThen(c)), edge
}

// gemmWork is the work of a matrix product.
func gemmWork(g *kernel.GPUGemm) work {
	m, n, k := int64(g.M), int64(g.N), int64(g.K)
	w := work{bytes: 4 * (m*k + k*n + m*n), flops: 2 * m * n * k}
	if g.Add {
		w.bytes += 4 * m * n
	}
	return w
}

// countThen is the work, per row, of what follows a gather.
func countThen(c *Program) work {
	if c.p.Then == nil {
		return work{}
	}
	var used, puts []int
	var instrs []*kernel.Instr
	for i := range c.p.Then.Leaves {
		if l := &c.p.Then.Leaves[i]; c.p.Summed(l) < 0 {
			used = append(used, l.Reg)
		}
	}
	for i := range c.p.Then.Instrs {
		instrs = append(instrs, &c.p.Then.Instrs[i])
	}
	for _, o := range c.p.Then.Outs {
		puts = append(puts, o.Reg)
	}
	return c.countRows(used, instrs, puts)
}
