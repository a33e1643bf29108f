package kernel

// Run executes the program over one interval (row programs) or one cell. It uses
// all processors; the result does not depend on how many there are.
func (c *CPU) Run(l *Launch) {
	var blocks []block
	if c.p.Edges {
		blocks = edgeBlocks(l, c.lanes)
	} else {
		blocks = rowBlocks(l.Rows, c.lanes)
	}
	if len(blocks) == 0 {
		return
	}
	r := c.newRun(l, len(blocks))
	r.startReduce(len(blocks))
	parallel(len(blocks), func(w, i int) {
		wk := r.work[w]
		r.fillGlobals(wk)
		if c.p.Edges {
			r.edges(wk, blocks[i], i)
		} else {
			r.rows(wk, blocks[i], i)
		}
	})
	r.finishReduce(len(blocks))
	r.l = nil
	c.pool.Put(r)
}

// block is a range of own rows, and in edge programs of entries of the row list.
type block struct{ lo, hi, from, to int }

// rowBlocks splits rows evenly. With sums into a Global (lanes > 0) the split is fixed
// at that many parts, whatever the number of workers.
func rowBlocks(rows, lanes int) []block {
	size := 1024
	if lanes > 0 {
		size = max(rowStrip, (rows+lanes-1)/lanes)
	}
	var out []block
	for lo := 0; lo < rows; lo += size {
		out = append(out, block{lo: lo, hi: min(rows, lo+size)})
	}
	return out
}

func (r *run) rows(w *worker, b block, lane int) {
	c, l := r.c, r.l
	for lo := b.lo; lo < b.hi; lo += c.strip {
		n := min(c.strip, b.hi-lo)
		for _, f := range c.p.Leaves {
			if f.From == Global || c.skip[f.Reg] {
				continue
			}
			buf := l.Bufs[f.Operand]
			if f.LD == f.Cols {
				w.at[f.Reg] = buf[lo*f.LD : (lo+n)*f.LD]
				continue
			}
			dst := c.reg(w, f.Reg, n)
			for i := range n {
				copy(dst[i*f.Cols:(i+1)*f.Cols], buf[(lo+i)*f.LD:])
			}
			w.at[f.Reg] = dst
		}
		r.execute(w, lo, n)
		for _, i := range c.outs {
			o := &c.p.Outs[i]
			switch o.Acc {
			case Store:
				r.store(w, o, lo, n)
			case SumTN, SumRows, SumBy, MaxBy:
				r.reduce(w, i, lane, n)
			default:
				panic("kernel " + c.p.Name + ": a gather in a row program")
			}
		}
		r.stripDone(lane)
	}
}

// store writes a register that was not computed in place.
func (r *run) store(w *worker, o *Out, lo, n int) {
	c := r.c
	cols := c.p.Widths[o.Reg]
	if s := c.stored[o.Reg]; s >= 0 && &c.p.Outs[s] == o {
		return
	}
	buf, src := r.l.Bufs[o.Operand], w.at[o.Reg]
	if o.LD == cols {
		copy(buf[lo*cols:(lo+n)*cols], src[:n*cols])
		return
	}
	for i := range n {
		copy(buf[(lo+i)*o.LD:(lo+i)*o.LD+cols], src[i*cols:])
	}
}
