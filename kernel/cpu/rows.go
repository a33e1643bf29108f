package cpu

import "sagann/kernel"

// block is a range of own rows, and in edge programs of entries of the row list.
type block struct{ lo, hi, from, to int }

// rowBlocks splits rows evenly. With sums into a Global there are at most as many parts as
// lanes, for any number of workers.
func rowBlocks(rows int, sums bool) []block {
	size := 1024
	if sums {
		size = max(rowStrip, (rows+lanes-1)/lanes)
	}
	var out []block
	for lo := 0; lo < rows; lo += size {
		out = append(out, block{lo: lo, hi: min(rows, lo+size)})
	}
	return out
}

func (r *run) rows(w *worker, b block, number int) {
	c, l := r.c, r.l
	for lo := b.lo; lo < b.hi; lo += c.strip {
		n := min(c.strip, b.hi-lo)
		for i := range c.p.Leaves {
			f := &c.p.Leaves[i]
			if f.From == kernel.Global || c.skip[f.Reg] {
				continue
			}
			buf := l.Bufs[f.Operand]
			there := l.there(f, lo, n)
			if f.LD == f.Cols && !f.Indexed && there == n {
				w.at[f.Reg] = buf[lo*f.LD : (lo+n)*f.LD]
				continue
			}
			dst := c.reg(w, f.Reg, n)
			for i := range there {
				copy(dst[i*f.Cols:(i+1)*f.Cols], buf[l.row(f, lo+i)*f.LD:])
			}
			clear(dst[there*f.Cols:])
			w.at[f.Reg] = dst
		}
		r.execute(w, lo, n)
		for _, i := range c.outs {
			o := &c.p.Outs[i]
			switch o.Acc {
			case kernel.Store:
				r.store(w, o, lo, n)
			case kernel.SumTN, kernel.SumRows, kernel.SumBy, kernel.MaxBy, kernel.SumSparse:
				r.reduce(w, i, number, n)
			default:
				panic("kernel " + c.p.Name + ": a gather in a row program")
			}
		}
	}
}

// store writes a register that was not computed in place.
func (r *run) store(w *worker, o *kernel.Out, lo, n int) {
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

// there is how many of n rows of leaf f from row lo on are in its operand.
func (l *Launch) there(f *kernel.Leaf, lo, n int) int {
	if f.Padded {
		return max(0, min(n, l.Live[f.Operand]-lo))
	}
	return n
}
