package dataflow

import (
	"slices"

	"sagann/dataflow/plan"
	"sagann/kernel"
)

// Finishing. What the rows that follow a gather make of its sums, column by column, becomes a part of the gather (kernel.Program.Then): the last
// cell of a row has all its edges, and its results go to memory and not the sums.

// finish moves such instructions from the steps over rows to the gathers before them.
func (l *lowering) finish() {
	for q := range l.out.Spec.Phases {
		ph := &l.out.Spec.Phases[q]
		for j := range ph.Steps {
			for i := j - 1; i >= 0; i-- {
				f := finishing{l: l, steps: ph.Steps, from: i, rows: j}
				if f.fits() && f.find() {
					f.move()
				}
			}
		}
		ph.Steps = slices.DeleteFunc(ph.Steps, func(st plan.Step) bool { return st.Kind == plan.Rows && len(st.Calls) == 0 })
	}
}

// finishing is a gather, a step over rows that follows it, and what moves from one to the other.
type finishing struct {
	l          *lowering
	steps      []plan.Step
	from, rows int // the two steps
	gather, of *plan.Call
	p, r       *kernel.Program // their programs

	width int    // columns of the sums
	sums  []int  // by register of r: the result of p that it is, or -1
	after []bool // by register of r: it is computed from sums, and moves
	free  []bool // by register of r: it may be read or computed after the gather
	out   []int  // registers that move and that r, or its results, read
	place int    // the one of them that takes the place of its sum in memory; -1: none
}

// fits tells whether the steps are such a pair.
func (f *finishing) fits() bool {
	g, r := &f.steps[f.from], &f.steps[f.rows]
	if g.Kind != plan.Stream || r.Kind != plan.Rows || len(g.Calls) != 1 || len(r.Calls) != 1 {
		return false
	}
	if g.Set == 0 && kernel.LayingOf(f.l.out.Kernels[g.Calls[0].Kernel]).Row() > 0 { // a full graph: laid out anew, which gathers with something behind them are not
		return false
	}
	own := plan.Operand{Kind: plan.OwnValue}
	if g.SetOf(&own) != int(r.Set) || g.Type != r.Type {
		return false
	}
	f.gather, f.of = &g.Calls[0], &r.Calls[0]
	if slices.ContainsFunc(f.of.Operands, func(o plan.Operand) bool { // takes the place of what gathers may still read
		return o.Kind == plan.OwnValue && o.Write && f.l.out.Spec.Values[o.ID].State
	}) {
		return false
	}
	f.p, f.r = f.l.out.Kernels[f.gather.Kernel], f.l.out.Kernels[f.of.Kernel]
	return f.p.Then == nil && !slices.ContainsFunc(f.p.Instrs, func(in kernel.Instr) bool { return in.Role.Apart() }) &&
		!slices.ContainsFunc(f.p.Outs, func(o kernel.Out) bool {
			return o.Acc != kernel.Sum && o.Acc != kernel.Max && o.Acc != kernel.SumExp || o.Key != kernel.NoKey
		})
}

// find finds what moves; false: nothing.
func (f *finishing) find() bool {
	n := len(f.r.Widths)
	f.sums, f.after, f.free = slices.Repeat([]int{-1}, n), make([]bool, n), make([]bool, n)
	for i := range f.r.Leaves {
		f.leaf(&f.r.Leaves[i])
	}
	if f.width < 2 {
		return false
	}
	for i := range f.r.Instrs {
		in := &f.r.Instrs[i]
		if !f.r.Columnwise(in, f.width) || slices.ContainsFunc(in.In, func(r int) bool { return !f.free[r] }) {
			continue
		}
		f.free[in.Dst] = true
		f.after[in.Dst] = slices.ContainsFunc(in.In, func(r int) bool { return f.sums[r] >= 0 || f.after[r] })
	}
	f.place = -1
	for r := range f.after {
		if !f.after[r] || !f.readLater(r) {
			continue
		}
		f.out = append(f.out, r)
		if f.stored(r) < 0 {
			if f.place >= 0 {
				return false
			}
			f.place = r
		}
	}
	return len(f.out) > 0 && (f.place < 0 || f.home() >= 0)
}

// leaf finds out what a leaf of the rows is.
func (f *finishing) leaf(x *kernel.Leaf) {
	o := &f.of.Operands[x.Operand]
	switch {
	case x.From == kernel.Global:
		f.free[x.Reg] = true
		return
	case x.From != kernel.Own || x.Key != kernel.NoKey || o.Kind != plan.OwnValue:
		return
	}
	if k := f.sum(o.ID); k >= 0 && (f.width == 0 || f.width == x.Cols) {
		f.width, f.sums[x.Reg], f.free[x.Reg] = x.Cols, k, true
		return
	}
	f.free[x.Reg] = true
	for i := range f.rows + 1 { // other gathers of a full graph may end later
		if i < f.from && (f.steps[i].Kind != plan.Stream || f.steps[i].Set > 0) {
			continue
		}
		for _, c := range f.steps[i].Calls {
			if slices.ContainsFunc(c.Operands, func(w plan.Operand) bool { return w.Kind == plan.OwnValue && w.ID == o.ID && w.Write }) {
				f.free[x.Reg] = false
			}
		}
	}
}

// sum is the result of the gather that writes value id; -1: none.
func (f *finishing) sum(id int) int {
	return slices.IndexFunc(f.p.Outs, func(o kernel.Out) bool {
		w := &f.gather.Operands[o.Operand]
		return w.Kind == plan.OwnValue && w.ID == id
	})
}

// readLater tells whether something that stays reads register r, or a result.
func (f *finishing) readLater(r int) bool {
	return slices.ContainsFunc(f.r.Instrs, func(in kernel.Instr) bool { return !f.after[in.Dst] && slices.Contains(in.In, r) }) ||
		slices.ContainsFunc(f.r.Outs, func(o kernel.Out) bool { return o.Reg == r || o.Acc.Pair() && o.Reg2 == r })
}

// stored is the result that stores register r; -1: none.
func (f *finishing) stored(r int) int {
	return slices.IndexFunc(f.r.Outs, func(o kernel.Out) bool { return o.Acc == kernel.Store && o.Reg == r })
}

// home is the result of the gather in whose place f.place can be written; -1: there is none. Its sum is read by nothing else, and by no
// instruction behind that of f.place.
func (f *finishing) home() int {
	for k, o := range f.p.Outs {
		if o.Acc != kernel.Sum || f.p.Widths[o.Reg] != f.width || !f.quiet(k) {
			continue
		}
		done, late := false, false
		for i := range f.r.Instrs {
			in := &f.r.Instrs[i]
			late = late || done && f.after[in.Dst] && slices.ContainsFunc(in.In, func(r int) bool { return f.sums[r] == k })
			done = done || in.Dst == f.place
		}
		if !late {
			return k
		}
	}
	return -1
}

// quiet tells whether only instructions that move read result k of the gather.
func (f *finishing) quiet(k int) bool {
	id := f.gather.Operands[f.p.Outs[k].Operand].ID
	if v := &f.l.out.Spec.Values[id]; v.Output || v.State || !slices.Contains(f.sums, k) {
		return false
	}
	for r, s := range f.sums {
		if s == k && f.readLater(r) {
			return false
		}
	}
	reads := func(o plan.Operand) bool { return o.Reads(id) }
	for i := range f.l.out.Spec.Values { // what is made of it on arrival
		if d := f.l.out.Spec.Values[i].Derive; d != nil && slices.ContainsFunc(d.Operands, reads) {
			return false
		}
	}
	for q := range f.l.out.Spec.Phases {
		for i := range f.l.out.Spec.Phases[q].Steps {
			for n := range f.l.out.Spec.Phases[q].Steps[i].Calls {
				c := &f.l.out.Spec.Phases[q].Steps[i].Calls[n]
				if c != f.of && slices.ContainsFunc(c.Operands, reads) {
					return false
				}
			}
		}
	}
	return true
}

// move makes the two programs.
func (f *finishing) move() {
	home := -1
	if f.place >= 0 {
		home = f.home()
	}
	p, t := *f.p, &kernel.Program{Name: f.r.Name, Widths: slices.Clone(f.r.Widths)}
	p.Outs, p.Then = slices.Clone(p.Outs), t
	for k := range p.Outs {
		p.Outs[k].Quiet = f.quiet(k)
	}
	operands := slices.Clone(f.gather.Operands)
	at := func(k int) int { return operandOf(&operands, f.of.Operands[k]) }
	need := make([]bool, len(f.r.Widths))
	for _, r := range f.out {
		need[r] = true
		if k := f.stored(r); k >= 0 {
			o := f.r.Outs[k]
			o.Operand = at(o.Operand)
			t.Outs = append(t.Outs, o)
		} else {
			t.Outs = append(t.Outs, kernel.Out{Acc: kernel.Store, Reg: r, Operand: p.Outs[home].Operand, LD: p.Outs[home].LD, Aux: -1})
		}
	}
	for _, in := range slices.Backward(f.r.Instrs) {
		if need[in.Dst] {
			t.Instrs = append(t.Instrs, in)
			for _, r := range in.In {
				need[r] = true
			}
		}
	}
	slices.Reverse(t.Instrs)
	for _, x := range f.r.Leaves {
		if !need[x.Reg] {
			continue
		}
		if k := f.sums[x.Reg]; k >= 0 {
			x.Operand = p.Outs[k].Operand
		} else {
			x.Operand = at(x.Operand)
		}
		t.Leaves = append(t.Leaves, x)
	}
	f.rest(home, &p)
	p.Operands, t.Operands = len(operands), len(operands)
	f.gather.Operands = operands
	f.l.replace(f.gather, &p)
}

// operandOf is the number of operand o in a list, to which it is added if it is not there.
func operandOf(list *[]plan.Operand, o plan.Operand) int {
	o.Indexable, o.Paddable = false, false
	i := slices.IndexFunc(*list, func(x plan.Operand) bool { return x.Kind == o.Kind && x.ID == o.ID && x.Write == o.Write })
	if i < 0 {
		i = len(*list)
		*list = append(*list, o)
	}
	return i
}

// rest makes the program of what stays.
func (f *finishing) rest(home int, p *kernel.Program) {
	r := *f.r
	var operands []plan.Operand
	need := make([]bool, len(r.Widths))
	r.Leaves, r.Instrs, r.Outs = nil, nil, nil
	for _, o := range f.r.Outs {
		if o.Acc == kernel.Store && f.after[o.Reg] {
			continue
		}
		need[o.Reg] = true
		if o.Acc.Pair() {
			need[o.Reg2] = true
		}
		o.Operand = operandOf(&operands, f.of.Operands[o.Operand])
		if o.Aux >= 0 {
			o.Aux = operandOf(&operands, f.of.Operands[o.Aux])
		}
		r.Outs = append(r.Outs, o)
	}
	for _, in := range slices.Backward(f.r.Instrs) {
		if need[in.Dst] && !f.after[in.Dst] {
			r.Instrs = append(r.Instrs, in)
			for _, x := range in.In {
				need[x] = true
			}
		}
	}
	slices.Reverse(r.Instrs)
	for _, x := range f.r.Leaves {
		if need[x.Reg] {
			x.Operand = operandOf(&operands, f.of.Operands[x.Operand])
			r.Leaves = append(r.Leaves, x)
		}
	}
	for _, x := range f.out {
		if !need[x] {
			continue
		}
		leaf := kernel.Leaf{Cols: f.width, Reg: x}
		var o plan.Operand
		if k := f.stored(x); k >= 0 {
			o, leaf.LD = f.of.Operands[f.r.Outs[k].Operand], f.r.Outs[k].LD
		} else {
			o, leaf.LD = f.gather.Operands[p.Outs[home].Operand], p.Outs[home].LD
		}
		o.Write = false
		leaf.Operand = operandOf(&operands, o)
		r.Leaves = append(r.Leaves, leaf)
	}
	if len(r.Outs) == 0 {
		f.steps[f.rows].Calls = nil
		return
	}
	r.Operands, f.of.Operands = len(operands), operands
	f.l.replace(f.of, &r)
}

// replace makes p the program of c.
func (l *lowering) replace(c *plan.Call, p *kernel.Program) {
	l.out.Kernels[c.Kernel] = p
	sums := c.Cost.More.Sums > 0
	if c.Cost = CostOf(p); sums {
		c.Cost.More.Sums = betweenSums(p)
	}
	readings(c, p)
}

// readings sets in what ways p, the program of c, reads operands.
func readings(c *plan.Call, p *kernel.Program) {
	for k := range c.Operands {
		c.Operands[k].Indexable, c.Operands[k].Paddable = p.Indexable(k), p.Paddable(k)
	}
}
