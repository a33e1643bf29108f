package cpu

import (
	"sagann/chunk"
	"sagann/internal/simd"
	"sagann/kernel"
)

// worker is the private memory of one goroutine in a launch.
type worker struct {
	regs  []float32   // registers of a strip
	at    [][]float32 // register -> its slice for the current strip
	gemm  []float32
	tn    []float32
	segs  []segment
	long  []longSum // by result: the current sum
	lse   []longLSE
	by    []keySum
	pairs []pairs
	far   []uint32 // far ends of the strip's edges
	ids   []uint32 // room for far ends of packed cells
	keys  []int    // room for keys of a strip's edges
	index []uint32 // room for the places of rows of indexed leaves
	args  kernel.Args
	ready bool      // spread registers are filled
	found found     // numbers of a strip's rows that stepChosen adds
	made  []float32 // room for rows that stepApart and stepChosen make
	held  held      // for four
	rank  float32   // of the edge before the strip, and whether those of its row ascend up to it
	up    bool
}

func (c *Program) newWorker() *worker {
	w := &worker{regs: make([]float32, c.floats*c.strip), at: make([][]float32, len(c.p.Widths)),
		long: make([]longSum, len(c.p.Outs)), lse: make([]longLSE, len(c.p.Outs)), by: make([]keySum, len(c.p.Outs)), pairs: make([]pairs, len(c.p.Outs))}
	g, t := 0, 0
	for i, in := range c.p.Instrs {
		if in.Role.Product() && !c.skipIn[i] {
			g = max(g, simd.GemmScratch(c.p.Widths[in.In[0]], c.p.Widths[in.Dst]))
		}
	}
	for _, i := range c.reduces {
		if o := c.p.Outs[i]; o.Acc == kernel.SumTN || o.Acc == kernel.SumTNByType {
			m, n := c.p.Widths[o.Reg], c.p.Widths[o.Reg2]
			t = max(t, simd.GemmTNScratch(c.strip, m, n), simd.GemmTNScratch(c.strip, n, m)) // products may be transposed
		}
	}
	w.gemm, w.tn = make([]float32, g), make([]float32, t)
	return w
}

// reg is the memory of register i for n rows.
func (c *Program) reg(w *worker, i, n int) []float32 {
	at := c.place[i] * c.strip
	return w.regs[at : at+n*c.p.Widths[i]]
}

// rowsOf is the indices, in the operand of leaf f, of the rows of these far ends. The result is valid until the next
// call.
func (w *worker) rowsOf(l *Launch, f *kernel.Leaf, far []uint32) []uint32 {
	if !f.Indexed {
		return far
	}
	w.index = w.index[:0]
	for _, v := range far {
		w.index = append(w.index, l.Index[v])
	}
	return w.index
}

// rowOf is the own row of entry i of the cell's row list.
func rowOf(v *chunk.View, i int) int {
	if v.RowIDs != nil {
		return int(v.RowIDs[i])
	}
	return i
}

// farIDs are the far ends of edges [lo, hi): those in the cell or, if the cell is
// packed, an unpacked copy, which is valid until the next call.
func (w *worker) farIDs(v *chunk.View, lo, hi int) (ids []uint32) {
	ids, w.ids = v.Far(w.ids, lo, hi)
	return ids
}

// row is the index of row i of leaf f in its operand.
func (l *Launch) row(f *kernel.Leaf, i int) int {
	if f.Indexed {
		return int(l.Index[i])
	}
	return i
}

// global is the leaf that loads register reg from a Global.
func (c *Program) global(reg int) *kernel.Leaf {
	for i := range c.p.Leaves {
		if c.p.Leaves[i].Reg == reg {
			return &c.p.Leaves[i]
		}
	}
	panic("kernel " + c.p.Name + ": the second operand of a product is no Global")
}
