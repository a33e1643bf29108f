package cpu

import (
	"sagann/chunk"
	"sagann/internal/simd"
	"sagann/kernel"
)

// Launch binds a program's operands for one run over one interval or cell.
type Launch struct {
	Rows        int         // own rows
	Bufs        [][]float32 // by operand; Own and Other start at row 0 of their interval
	Cell        *chunk.View // the cell's edges; nil in row programs
	First, Last bool        // edge programs: start the accumulators; finish them
}

// run is the state shared by the workers of one launch.
type run struct {
	c      *Program
	l      *Launch
	packed []simd.PackedB // by instruction
	room   [][]float32    // their memory
	sums   [][]longSum    // by result: its partial sums
	work   []*worker
}

func (c *Program) newRun(l *Launch, workers int) *run {
	r, _ := c.pool.Get().(*run)
	if r == nil {
		r = &run{c: c, packed: make([]simd.PackedB, len(c.p.Instrs)), room: make([][]float32, len(c.p.Instrs)),
			sums: make([][]longSum, len(c.p.Outs))}
	}
	r.l = l
	for len(r.work) < workers {
		r.work = append(r.work, c.newWorker())
	}
	for _, w := range r.work {
		w.ready = false
	}
	for i, in := range c.p.Instrs {
		if !in.Role.Product() || c.skipIn[i] {
			continue
		}
		g := c.global(in.In[1])
		k, n := g.Rows, g.Cols
		if in.Role == kernel.MatMulNT {
			k, n = g.Cols, g.Rows
		}
		if r.room[i] == nil {
			r.room[i] = make([]float32, simd.PackedBSize(k, n))
		}
		r.packed[i] = simd.PackB(l.Bufs[g.Operand], g.LD, k, n, in.Role == kernel.MatMulNT, r.room[i])
	}
	return r
}

// worker is the private memory of one goroutine in a launch.
type worker struct {
	regs  []float32   // registers of a strip
	at    [][]float32 // register -> its slice for the current strip
	in    [][]float32
	cols  []int
	rows  []int
	gemm  []float32
	tn    []float32
	segs  []segment
	long  []longSum // by result: the sum at hand
	lse   []longLSE
	by    []keySum
	far   []uint32 // far ends of the strip's edges
	ids   []uint32 // room for such where cells are packed
	args  kernel.Args
	ready bool // spread registers are filled
}

func (c *Program) newWorker() *worker {
	w := &worker{regs: make([]float32, c.floats*c.strip), at: make([][]float32, len(c.p.Widths)),
		long: make([]longSum, len(c.p.Outs)), lse: make([]longLSE, len(c.p.Outs)), by: make([]keySum, len(c.p.Outs))}
	g, t := 0, 0
	for i, in := range c.p.Instrs {
		if in.Role.Product() && !c.skipIn[i] {
			g = max(g, simd.GemmScratch(c.p.Widths[in.In[0]], c.p.Widths[in.Dst]))
		}
	}
	for _, i := range c.reduces {
		if o := c.p.Outs[i]; o.Acc == kernel.SumTN {
			t = max(t, simd.GemmTNScratch(c.strip, c.p.Widths[o.Reg], c.p.Widths[o.Reg2]))
		}
	}
	w.gemm, w.tn = make([]float32, g), make([]float32, t)
	return w
}

// reg is the room of register i for n rows.
func (c *Program) reg(w *worker, i, n int) []float32 {
	at := c.place[i] * c.strip
	return w.regs[at : at+n*c.p.Widths[i]]
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
