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
	Index       []uint32    // by row: its row in the operands of indexed leaves; nil: the program has none
	Live        []int       // by operand: the rows that are there of one that is padded (Leaf.Padded); nil: none is
	First, Last bool        // edge programs: start the accumulators; finish them
}

// run is the state shared by the workers of one launch.
type run struct {
	c      *Program
	l      *Launch
	packed []simd.PackedB // by instruction
	room   [][]float32    // their memory
	types  []typeMatrices // by result
	sums   [][]longSum    // by result: its partial sums
	work   []*worker
}

// takeSpare is what an earlier run has left, or nil. Spare runs are no sync.Pool: it would hold those of programs that are gone
// until garbage is collected twice, which with much garbage at a time is most of the heap.
func (c *Program) takeSpare() *run {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.spare)
	if n == 0 {
		return nil
	}
	r := c.spare[n-1]
	c.spare[n-1], c.spare = nil, c.spare[:n-1]
	return r
}

func (c *Program) newRun(l *Launch, workers int) *run {
	r := c.takeSpare()
	if r == nil {
		r = &run{c: c, packed: make([]simd.PackedB, len(c.p.Instrs)), room: make([][]float32, len(c.p.Instrs)),
			sums: make([][]longSum, len(c.p.Outs)), types: make([]typeMatrices, len(c.p.Outs))}
	}
	r.l = l
	for len(r.work) < workers {
		r.work = append(r.work, c.newWorker())
	}
	for _, w := range r.work {
		w.ready = false
	}
	for i := range c.p.Outs {
		if o := &c.p.Outs[i]; o.Acc == kernel.SumByType {
			r.types[i].pack(o, c.global(o.Reg2), l.Bufs)
		}
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

// Run executes the program over one interval (row programs) or one cell. It uses
// all processors; the result does not depend on how many there are.
func (c *Program) Run(l *Launch) {
	c.run(l)
	if c.then != nil && l.Last {
		c.then.Run(&Launch{Rows: l.Rows, Bufs: l.Bufs, Index: l.Index, Live: l.Live})
	}
}

func (c *Program) run(l *Launch) {
	var blocks []block
	if c.p.Edges {
		blocks = edgeBlocks(l, len(c.reduces) > 0)
	} else {
		blocks = rowBlocks(l.Rows, len(c.reduces) > 0)
	}
	if len(blocks) == 0 {
		return
	}
	parts := (len(blocks) + c.chain - 1) / c.chain
	workers := workersFor(parts)
	r := c.newRun(l, workers)
	r.startReduce(len(blocks))
	parallel(workers, parts, func(w, k int) {
		wk := r.work[w]
		r.fillGlobals(wk)
		for i := k * c.chain; i < min((k+1)*c.chain, len(blocks)); i++ {
			if c.p.Edges {
				r.edges(wk, blocks[i], i)
			} else {
				r.rows(wk, blocks[i], i)
			}
		}
	})
	r.finishReduce(len(blocks))
	r.l = nil
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spare = append(c.spare, r)
}
