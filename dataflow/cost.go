package dataflow

import (
	"sagann/dataflow/plan"
	"sagann/kernel"
)

// CostOf counts what one call of p works: an own row, an edge, a call. It is the
// program's own arithmetic and the bytes its operands name, whatever the backend:
// how fast a device does them stands in the machine's model.
func CostOf(p *kernel.Program) plan.Cost {
	var c plan.Cost
	elem, dense := &c.RowElem, &c.RowDense
	if p.Edges {
		elem, dense = &c.EdgeElem, &c.EdgeDense
	}
	matrix := map[int]bool{} // registers that hold a whole matrix
	seen := map[int]bool{}   // operands of the streamed interval
	indexed := false
	for _, f := range p.Leaves {
		n := 4 * int64(f.Cols)
		switch f.From {
		case kernel.Own:
			// A keyed leaf reads one block an edge; a row's edges share its blocks.
			c.RowBytes += n * blocks(f.Key, f.Blocks)
		case kernel.Other:
			indexed = true
			c.GatherBytes += n
			if !seen[f.Operand] {
				seen[f.Operand] = true
				c.OtherBytes += 4 * int64(f.LD)
				c.Others++
			}
		case kernel.Cell:
			c.EdgeBytes += n
		case kernel.EdgeBuf:
			c.EdgeBytes += n
		case kernel.Global:
			c.FixedBytes += 4 * int64(f.LD) * int64(f.Rows)
			matrix[f.Reg] = !f.Spread
		}
		if f.Key != kernel.NoKey {
			c.EdgeBytes += 4
		}
	}
	if indexed {
		c.EdgeBytes += 4 // the row's number
		c.Packed = p.Packed
	}
	level := make([]int, len(p.Widths)) // products that a register waits for, one after the other
	c.Passes = 1
	for _, in := range p.Instrs {
		for _, r := range in.In {
			level[in.Dst] = max(level[in.Dst], level[r])
		}
		if in.Role.Product() {
			c.Products++
			level[in.Dst]++
			c.Passes = max(c.Passes, level[in.Dst]+1)
		}
	}
	for _, in := range p.Instrs {
		out := float64(p.Widths[in.Dst])
		wide, whole := out, false
		for _, r := range in.In {
			if matrix[r] {
				whole = true
				continue
			}
			wide = max(wide, float64(p.Widths[r]))
		}
		switch {
		case in.Role.Product() || whole:
			*dense += 2 * float64(p.Widths[in.In[0]]) * out
		default:
			*elem += wide
		}
	}
	for _, o := range p.Outs {
		n := 4 * int64(p.Widths[o.Reg])
		ops := float64(p.Widths[o.Reg])
		switch o.Acc {
		case kernel.Store:
			if p.Edges {
				c.EdgeBytes += n
			} else {
				c.RowBytes += n
			}
		case kernel.Sum:
			c.AccBytes += 2 * n * blocks(o.Key, o.Blocks)
			*elem += ops
		case kernel.Max:
			c.AccBytes += 2 * n
			if o.Aux >= 0 {
				c.AccBytes += 2 * n
			}
			*elem += ops
		case kernel.LSE:
			c.AccBytes += 4 * n // the sum and the running maximum
			*elem += 3 * ops    // compare, exp, add
		case kernel.SumTN:
			c.Products++
			*dense += 2 * ops * float64(p.Widths[o.Reg2])
			c.FixedBytes += 2 * n * int64(p.Widths[o.Reg2])
		case kernel.SumRows:
			c.Passes += sumKernels
			*elem += ops
			c.FixedBytes += 2 * n
		case kernel.SumBy, kernel.MaxBy:
			c.Passes += sumKernels
			*elem += ops
			c.FixedBytes += 2 * n * int64(o.Blocks)
		}
		if o.Key != kernel.NoKey {
			c.EdgeBytes += 4
		}
	}
	return c
}

// sumKernels are the kernels of a sum over rows: parts, and their sum.
const sumKernels = 2

// SetTile says how many rows kernel k works on at a time; the simulator counts its calls by it.
func (l *Lowered) SetTile(k, tile int) {
	l.Kernels[k].Tile = tile
	set := func(c *plan.Call) {
		if c != nil && c.Kernel == k {
			c.Cost.Tile = tile
		}
	}
	for i := range l.Spec.Phases {
		for s := range l.Spec.Phases[i].Steps {
			calls := l.Spec.Phases[i].Steps[s].Calls
			for n := range calls {
				set(&calls[n])
			}
		}
	}
	for i := range l.Spec.Values {
		set(l.Spec.Values[i].Derive)
	}
}

// blocks of a row that a keyed operand touches.
func blocks(k kernel.Key, n int) int64 {
	if k == kernel.NoKey {
		return 1
	}
	return int64(max(1, n))
}
