package cpu_test

import (
	"math"

	"sagann/chunk"
	"sagann/kernel"
)

// A reference runs a program one row or one edge at a time in float64, in the plainest
// way there is.
type reference struct {
	p     *kernel.Program
	bufs  [][]float64
	index []uint32
}

// run is one launch.
func (r *reference) run(rows int, cell *chunk.View, first, last bool) {
	if !r.p.Edges {
		for i := range rows {
			regs := r.registers(i, -1, nil)
			for _, o := range r.p.Outs {
				r.fold(&o, i, i, 0, regs, nil)
			}
		}
		return
	}
	if first {
		r.each(rows, func(o *kernel.Out, k, at, aux int) {
			switch o.Acc {
			case kernel.Sum:
				r.bufs[o.Operand][at] = 0
			case kernel.Max:
				r.bufs[o.Operand][at] = math.Inf(-1)
				if o.Aux >= 0 {
					r.bufs[o.Aux][aux] = math.Inf(1)
				}
			case kernel.SumExp:
				r.bufs[o.Operand][at], r.bufs[o.Aux][aux] = 0, math.Inf(-1)
			}
		})
	}
	for i := range len(cell.Ptr) - 1 {
		row := i
		if cell.RowIDs != nil {
			row = int(cell.RowIDs[i])
		}
		for e := int(cell.Ptr[i]); e < int(cell.Ptr[i+1]); e++ {
			regs := r.registers(row, e, cell)
			for _, o := range r.p.Outs {
				r.fold(&o, row, e, e, regs, cell)
			}
		}
	}
	if last {
		r.each(rows, func(o *kernel.Out, k, at, aux int) {
			x := &r.bufs[o.Operand][at]
			switch {
			case o.Acc == kernel.Max && math.IsInf(*x, -1):
				*x = 0
			case o.Acc == kernel.SumExp && *x == 0:
				*x, r.bufs[o.Aux][aux] = 1, 0
			}
		})
	}
}

// each visits every state number of the accumulators: register column k, its place in
// the buffer and in the second buffer.
func (r *reference) each(rows int, f func(o *kernel.Out, k, at, aux int)) {
	for i := range r.p.Outs {
		o := &r.p.Outs[i]
		cols := r.p.Widths[o.Reg] * max(1, o.Blocks)
		if o.Acc == kernel.Store || o.Acc == kernel.SumTN || o.Acc == kernel.SumRows {
			continue
		}
		for row := range rows {
			for k := range cols {
				f(o, k, row*o.LD+k, row*o.AuxLD+k)
			}
		}
	}
}

// fold adds the registers of a row or an edge to result o.
func (r *reference) fold(o *kernel.Out, row, store, e int, regs [][]float64, cell *chunk.View) {
	x, buf := regs[o.Reg], r.bufs[o.Operand]
	for k, y := range x {
		at, aux := row*o.LD+k, row*o.AuxLD+k
		switch o.Acc {
		case kernel.Store:
			buf[store*o.LD+k] = y
		case kernel.SumRows:
			buf[k] += y
		case kernel.SumTN:
			for j, z := range regs[o.Reg2] {
				buf[k*len(regs[o.Reg2])+j] += y * z
			}
		case kernel.Sum:
			b := key(o.Key, cell, e)
			if o.Key == kernel.NoKey || b < o.Blocks {
				buf[at+b*len(x)] += y
			}
		case kernel.Max:
			if o.Aux < 0 {
				buf[at] = max(buf[at], y)
			} else if rank := float64(cell.Rank[e]); y > buf[at] || y == buf[at] && rank < r.bufs[o.Aux][aux] {
				buf[at], r.bufs[o.Aux][aux] = y, rank
			}
		case kernel.SumExp:
			m := max(r.bufs[o.Aux][aux], y)
			buf[at] = buf[at]*math.Exp(r.bufs[o.Aux][aux]-m) + math.Exp(y-m)
			r.bufs[o.Aux][aux] = m
		}
	}
}

// key is the block that edge e selects, 0 without a key.
func key(k kernel.Key, cell *chunk.View, e int) int {
	switch k {
	case kernel.ByType:
		return int(cell.Type[e])
	case kernel.ByRank:
		return int(cell.Rank[e])
	}
	return 0
}

// registers computes all registers for own row row and, in edge programs, edge e.
func (r *reference) registers(row, e int, cell *chunk.View) [][]float64 {
	regs := make([][]float64, len(r.p.Widths))
	for _, l := range r.p.Leaves {
		x := make([]float64, l.Cols)
		at, b := row*l.LD, 0
		switch l.From {
		case kernel.Other:
			at = int(cell.Other[e]) * l.LD
		case kernel.EdgeBuf:
			at = e * l.LD
		case kernel.Global:
			at = 0 // a spread row; products read the buffer themselves
		case kernel.Cell:
			for k := range x {
				x[k] = map[kernel.CellArray]func() float64{
					kernel.Rank:   func() float64 { return float64(cell.Rank[e]) },
					kernel.Type:   func() float64 { return float64(cell.Type[e]) },
					kernel.Weight: func() float64 { return float64(cell.Weight[e]) },
					kernel.Data:   func() float64 { return float64(cell.Data[e*l.Cols+k]) },
				}[l.Array]()
			}
			regs[l.Reg] = x
			continue
		}
		if l.Indexed {
			at = int(r.index[at/l.LD]) * l.LD
		}
		if l.Key != kernel.NoKey {
			b = key(l.Key, cell, e)
		}
		if l.Key == kernel.NoKey || b < l.Blocks {
			copy(x, r.bufs[l.Operand][at+b*l.Cols:])
		}
		regs[l.Reg] = x
	}
	for _, in := range r.p.Instrs {
		out := make([]float64, r.p.Widths[in.Dst])
		if !in.Role.Product() {
			ops[in.Op].row(out, regs, in.In)
		} else {
			r.product(out, regs[in.In[0]], in)
		}
		regs[in.Dst] = out
	}
	return regs
}

func (r *reference) product(out, x []float64, in kernel.Instr) {
	for _, l := range r.p.Leaves {
		if l.Reg != in.In[1] {
			continue
		}
		w := r.bufs[l.Operand]
		for j := range out {
			for k, y := range x {
				if in.Role == kernel.MatMul {
					out[j] += y * w[k*l.LD+j]
				} else {
					out[j] += y * w[j*l.LD+k]
				}
			}
		}
	}
}

// op is an operation of the test programs, over strips and over a row.
type op struct {
	strip kernel.StripFunc
	row   func(out []float64, regs [][]float64, in []int)
}

// roles are those that the CPU's short cuts ask for.
var roles = map[string]kernel.Role{"mul": kernel.Mul, "widen": kernel.Widen}

var ops = map[string]op{
	"mul": {func(a *kernel.Args) {
		for i := range a.Out {
			a.Out[i] = a.In[0][i] * a.In[1][i]
		}
	}, func(out []float64, regs [][]float64, in []int) {
		for k := range out {
			out[k] = regs[in[0]][k] * regs[in[1]][k]
		}
	}},
	"sub": {func(a *kernel.Args) {
		for i := range a.Out {
			a.Out[i] = a.In[0][i] - a.In[1][i]
		}
	}, func(out []float64, regs [][]float64, in []int) {
		for k := range out {
			out[k] = regs[in[0]][k] - regs[in[1]][k]
		}
	}},
	"widen": {func(a *kernel.Args) {
		d := a.OutCols / a.InCols[0]
		for i := range a.Out {
			a.Out[i] = a.In[0][i/d]
		}
	}, func(out []float64, regs [][]float64, in []int) {
		d := len(out) / len(regs[in[0]])
		for k := range out {
			out[k] = regs[in[0]][k/d]
		}
	}},
	"group": {func(a *kernel.Args) { // sum of groups of columns
		clear(a.Out)
		d := a.InCols[0] / a.OutCols
		for i, x := range a.In[0] {
			a.Out[i/d] += x
		}
	}, func(out []float64, regs [][]float64, in []int) {
		d := len(regs[in[0]]) / len(out)
		for k, x := range regs[in[0]] {
			out[k/d] += x
		}
	}},
	"reverse": {func(a *kernel.Args) { // needs the whole row
		for r := range a.Rows {
			for k := range a.OutCols {
				a.Out[r*a.OutCols+k] = a.In[0][r*a.OutCols+a.OutCols-1-k]
			}
		}
	}, func(out []float64, regs [][]float64, in []int) {
		for k := range out {
			out[k] = regs[in[0]][len(out)-1-k]
		}
	}},
	"snap": {func(a *kernel.Args) { // to one of -1, -1/2, 0, 1/2, 1
		for i, x := range a.In[0] {
			a.Out[i] = float32(snap(float64(x)))
		}
	}, func(out []float64, regs [][]float64, in []int) {
		for k := range out {
			out[k] = snap(regs[in[0]][k])
		}
	}},
}

func snap(x float64) float64 { return max(-1, min(1, math.Round(2*x)/2)) }
