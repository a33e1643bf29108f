package dataflow

import (
	"math/bits"
	"slices"
	"strings"

	"sagann/dataflow/plan"
	"sagann/kernel"
)

// CostOf counts the operations and bytes of a call of p: per own row, per edge and per call. They
// follow from the program alone, whatever the backend. How fast a device does them is in the
// machine model (package sim).
func CostOf(p *kernel.Program) plan.Cost {
	c := &costing{p: p}
	c.leaves()
	c.passes()
	for i := range p.Instrs {
		c.instr(&p.Instrs[i])
	}
	for i := range p.Outs {
		c.out(&p.Outs[i])
	}
	c.again()
	if p.Then != nil {
		c.then(p.Then)
	}
	if l := kernel.LayingOf(p); l.Row() > 0 {
		c.cost.Laid = plan.Laid{Row: l.Row(), Terms: l.Terms, Edges: kernel.LaidEdges}
	}
	return c.cost
}

// costing adds up the cost of p.
type costing struct {
	cost   plan.Cost
	p      *kernel.Program
	matrix map[int]bool // registers that hold a whole matrix
}

// again counts what products and sums of products read once more: each is a kernel.
func (c *costing) again() {
	reads := make([]int, len(c.p.Widths))
	for _, in := range c.p.Instrs {
		if in.Role.Product() {
			reads[in.In[0]]++
		}
	}
	for _, o := range c.p.Outs {
		if o.Acc == kernel.SumTN {
			reads[o.Reg]++
		}
	}
	for r, n := range reads {
		if n > 1 && !c.p.Edges {
			c.cost.More.Again += int64(n-1) * 4 * int64(c.p.Widths[r])
		}
	}
}

// elem counts element-wise operations, per edge in an edge program, else per row.
func (c *costing) elem() *float64 {
	if c.p.Edges {
		return &c.cost.EdgeElem
	}
	return &c.cost.RowElem
}

// hard counts those of them that take exponentials, divisions or the like.
func (c *costing) hard() *float64 {
	if c.p.Edges {
		return &c.cost.EdgeHard
	}
	return &c.cost.RowHard
}

// dense counts floating-point operations of products, likewise.
func (c *costing) dense() *float64 {
	if c.p.Edges {
		return &c.cost.EdgeDense
	}
	return &c.cost.RowDense
}

// leaves counts what p loads.
func (c *costing) leaves() {
	c.matrix = map[int]bool{}
	seen := map[int]bool{} // operands at the streamed interval
	widest, numbers := 0, 0
	for _, f := range c.p.Leaves {
		if f.From == kernel.Other {
			widest = max(widest, f.Cols)
		}
	}
	for _, f := range c.p.Leaves {
		n := 4 * int64(f.Cols)
		switch f.From {
		case kernel.Own:
			// Each edge of a row reads one block of a keyed leaf; together they read all blocks once.
			c.cost.RowBytes += n * blocks(f.Key, f.Blocks)
		case kernel.Other:
			c.cost.GatherBytes += n
			c.cost.GatherPad += 4*int64(lanes(f.Cols)) - n
			if !seen[f.Operand] {
				if seen[f.Operand] = true; n < piece && widest >= wideRow {
					if numbers++; numbers > 1 {
						c.cost.GatherPad += asPiece(n) - n
					}
				}
				if f.Cols == 1 && widest >= wideRow { // a number beside a row: in the cache
					continue
				}
				c.cost.OtherBytes += 4 * int64(f.LD)
				c.cost.Others++
			}
		case kernel.Cell, kernel.EdgeBuf:
			c.cost.EdgeBytes += n
		case kernel.Global:
			c.cost.FixedBytes += 4 * int64(f.LD) * int64(f.Rows)
			c.matrix[f.Reg] = !f.Spread
		}
		if f.Key != kernel.NoKey {
			c.cost.EdgeBytes += 4
		}
	}
	if len(seen) > 0 {
		c.cost.EdgeBytes += 4 // the number of the far row
		c.cost.Packed = c.p.Packed
	}
}

// piece is how many bytes memory is read in. Where edges read several far operands of fewer bytes beside a wide row, each but the first takes as long as
// asPiece bytes: attention's gradients, that read four numbers a head and relation, took half as long again as their bytes on an H200, and a quarter
// longer with numbers of one head, which the cache holds.
const piece = 64

// asPiece is as how many bytes an operand of n bytes, fewer than piece, counts.
func asPiece(n int64) int64 {
	if n == 4 {
		return piece / 2
	}
	return piece
}

// wideRow is how many columns a row has at least beside which a number of the same row does not count for the cache.
const wideRow = 32

// lanes is how many floats of a row of w a GPU's gather has lanes for: slices of 32, or a power of two below.
func lanes(w int) int {
	if w >= 32 {
		return (w + 31) / 32 * 32
	}
	return 1 << bits.Len(uint(w-1))
}

// isHard tells whether CUDA text of an op takes an exponential, a division or the like.
func isHard(text string) bool {
	return slices.ContainsFunc([]string{"exp", "log", "tanh", "sigmoid", "erf", "sqrt", " / "}, func(word string) bool { return strings.Contains(text, word) })
}

// betweenSums is how many bytes per own row the sums over rows of p write to device memory and
// read again, since no other kernel of the program keeps those rows there.
func betweenSums(p *kernel.Program) (bytes int64) {
	kept := map[int]bool{}
	for _, f := range p.Leaves {
		kept[f.Reg] = true
	}
	for _, in := range p.Instrs {
		if in.Role.Product() {
			kept[in.In[0]], kept[in.Dst] = true, true
		}
	}
	for _, o := range p.Outs {
		if o.Acc == kernel.SumRows {
			continue
		}
		kept[o.Reg] = true
		if o.Acc.Pair() {
			kept[o.Reg2] = true
		}
	}
	for _, o := range p.Outs {
		if !kept[o.Reg] {
			kept[o.Reg] = true
			bytes += 2 * 4 * int64(p.Widths[o.Reg])
		}
	}
	return bytes
}

// returning are the Globals that rows are computed from later in the step, such as the sums of
// batch norm.
func (l *lowering) returning() map[*Node]bool {
	to := map[*Node]bool{}
	for _, n := range slices.Backward(l.live) {
		for _, x := range n.in {
			if x.shape.Set.Kind == Global && (n.shape.Set.Kind != Global || to[n]) {
				to[x] = true
			}
		}
	}
	return to
}

// passes counts the products, each a kernel, and the other kernels: the program is split where an
// instruction needs a product, so one more than the longest chain of products.
func (c *costing) passes() {
	level := make([]int, len(c.p.Widths)) // by register: the longest chain of products that it needs
	c.cost.Passes = 1
	for _, in := range c.p.Instrs {
		for _, r := range in.In {
			level[in.Dst] = max(level[in.Dst], level[r])
		}
		if in.Role.Product() {
			c.cost.Products++
			level[in.Dst]++
			c.cost.Passes = max(c.cost.Passes, level[in.Dst]+1)
		}
	}
}

// instr counts the operations of an instruction.
func (c *costing) instr(in *kernel.Instr) {
	out := float64(c.p.Widths[in.Dst])
	wide, whole := out, in.Role.Product()
	for _, r := range in.In {
		if c.matrix[r] {
			whole = true
			continue
		}
		wide = max(wide, float64(c.p.Widths[r]))
	}
	if whole {
		*c.dense() += 2 * float64(c.p.Widths[in.In[0]]) * out
	} else {
		*c.elem() += wide
		if isHard(in.CUDA) {
			*c.hard() += wide
		}
	}
}

// out counts the operations and bytes of a result.
func (c *costing) out(o *kernel.Out) {
	n := 4 * int64(c.p.Widths[o.Reg])
	ops := float64(c.p.Widths[o.Reg])
	switch o.Acc {
	case kernel.Store:
		if c.p.Edges {
			c.cost.EdgeBytes += n
		} else {
			c.cost.RowBytes += n
		}
	case kernel.Sum:
		if o.Quiet {
			c.cost.More.Last -= n * blocks(o.Key, o.Blocks)
		}
		c.cost.AccBytes += 2 * n * blocks(o.Key, o.Blocks)
		*c.elem() += ops
	case kernel.SumByType:
		out := c.p.Widths[o.Reg2]
		if o.Trans {
			out = o.LD
		}
		c.cost.AccBytes += 8 * int64(out)
		*c.elem() += ops
		*c.dense() += 2 * ops * float64(out)
	case kernel.SumTNByType:
		*c.elem() += ops
		*c.dense() += 2 * ops * float64(c.p.Widths[o.Reg2])
		c.cost.FixedBytes += 2 * n * int64(c.p.Widths[o.Reg2]) * int64(o.Blocks)
	case kernel.Max:
		c.cost.AccBytes += 2 * n
		if o.Aux >= 0 {
			c.cost.AccBytes += 2 * n
		}
		*c.elem() += ops
	case kernel.SumExp:
		c.cost.AccBytes += 4 * n // the sum and the maximum
		*c.elem() += 3 * ops     // compare, exp, add
		*c.hard() += ops
	case kernel.SumTN:
		c.cost.Products++
		*c.dense() += 2 * ops * float64(c.p.Widths[o.Reg2])
		c.cost.FixedBytes += 2 * n * int64(c.p.Widths[o.Reg2])
	case kernel.SumRows:
		c.cost.Passes += sumKernels
		*c.elem() += ops
		c.cost.FixedBytes += 2 * n
	case kernel.SumSparse:
		c.cost.Passes += sumKernels
		*c.elem() += ops * float64(c.p.Widths[o.Reg2]) / 2
		c.cost.FixedBytes += 2 * n * int64(o.Blocks)
	case kernel.SumBy, kernel.MaxBy:
		c.cost.Passes += sumKernels
		*c.elem() += ops
		c.cost.FixedBytes += 2 * n * int64(o.Blocks)
	}
	if o.Key != kernel.NoKey {
		c.cost.EdgeBytes += 4
	}
}

// sumKernels is how many kernels a sum over rows takes: one for partial sums, one to add them.
const sumKernels = 2

// SetTile sets how many rows kernel k works on at a time; the simulator counts launches by it.
func (l *Lowered) SetTile(k, tile int) {
	l.Kernels[k].Tile = tile
	l.costs(func(c *plan.Call) {
		if c.Kernel == k {
			c.Cost.Tile = tile
		}
	})
}

// SetScratch has plans keep scratch memory for kernels. They lay rows out anew in at most room bytes of it. need gives what a kernel takes
// (kernel.Renderer.Need).
func (l *Lowered) SetScratch(room int64, need []kernel.Need) {
	l.Spec.Scratch = func(k, rows, edges, far int) int64 { return need[k].Bytes(rows, edges, far) }
	l.costs(func(c *plan.Call) {
		x := &need[c.Kernel]
		m := &x.Moved
		c.Cost.More.Moved = plan.Moved{Known: m.Known, Products: m.Products, Kernels: m.Kernels, Bytes: m.Bytes,
			Groups: plan.Flow(m.Groups), Sums: plan.Flow(m.Sums), Library: plan.Flow(m.Library), Rest: plan.Flow(m.Rest)}
		c.Cost.Laid.Room, c.Cost.More.Scratch, c.Cost.More.Between = room, x.Bytes(c.Cost.Tile, c.Cost.Tile, 0), x.Between
	})
}

// costs calls set for every call that has a cost.
func (l *Lowered) costs(set func(c *plan.Call)) {
	for i := range l.Spec.Phases {
		for s := range l.Spec.Phases[i].Steps {
			calls := l.Spec.Phases[i].Steps[s].Calls
			for n := range calls {
				set(&calls[n])
			}
		}
	}
	for i := range l.Spec.Values {
		if c := l.Spec.Values[i].Derive; c != nil {
			set(c)
		}
	}
}

// blocks is how many blocks of a row an operand touches: n if it is keyed, else 1.
func blocks(k kernel.Key, n int) int64 {
	if k == kernel.NoKey {
		return 1
	}
	return int64(max(1, n))
}

// then counts what follows a gather, per own row.
func (c *costing) then(t *kernel.Program) {
	for i := range t.Leaves {
		switch f := &t.Leaves[i]; {
		case f.From == kernel.Global:
			c.cost.FixedBytes += 4 * int64(f.LD) * int64(f.Rows)
		case c.p.Summed(f) < 0:
			c.cost.More.Last += 4 * int64(f.Cols)
		}
	}
	for _, in := range t.Instrs {
		c.cost.More.LastElem += float64(t.Widths[in.Dst])
	}
	for _, o := range t.Outs {
		c.cost.More.Last += 4 * int64(t.Widths[o.Reg])
	}
}
