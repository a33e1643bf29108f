package plantest

import (
	"fmt"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
)

// A drawer makes random specs that keep the rules of lowering: a value is written by
// one step; own rows are read in the phase that makes them, after that, or later; rows of
// other intervals only in later phases.
type drawer struct {
	t       *rapid.T
	s       *plan.Spec
	own     []int // values whose own rows a step may read now
	other   []int // values whose other rows the phase may read
	made    []int // values that the phase made
	globals []int // that a step may read
	sums    []int // that may be read from the next phase on
	kernels int
}

func (d *drawer) int(what string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(d.t, what) }

// DrawSpec draws a program.
func DrawSpec(t *rapid.T) *plan.Spec {
	d := &drawer{t: t, s: &plan.Spec{}}
	for range d.int("inputs", 1, 3) {
		id := d.value(plan.Input)
		d.own, d.other = append(d.own, id), append(d.other, id)
	}
	for range d.int("parameters", 0, 2) {
		d.globals = append(d.globals, d.global(plan.Param))
	}
	if d.int("constants", 0, 1) == 1 {
		d.globals = append(d.globals, d.global(plan.Const))
	}
	for range d.int("phases", 1, 4) {
		d.phase()
	}
	if len(d.sums) > 0 {
		for i, g := range d.s.Globals {
			if g.Kind == plan.Param {
				d.s.Updates = append(d.s.Updates, plan.Move{Param: i, Grad: d.sums[0]})
			}
		}
		d.s.Results = append(d.s.Results, d.sums[0])
	}
	if rapid.Bool().Draw(t, "scratch") {
		d.s.Scratch = func(kernel, rows, _, far int) int64 { return int64(kernel % 3 * (100*rows + 10*far)) }
	}
	return d.s
}

func (d *drawer) value(k plan.ValueKind) int {
	id, cols := len(d.s.Values), rapid.SampledFrom([]int{1, 2, 4, 8, 40, 64}).Draw(d.t, "width")
	// Plans share values by name: the name says all.
	d.s.Values = append(d.s.Values, plan.Value{Name: fmt.Sprintf("%s%d[%d]", [...]string{"x", "h", "t"}[k], id, cols),
		Kind: k, Cols: cols, RowBytes: int64(4 * cols)})
	return id
}

func (d *drawer) global(k plan.GlobalKind) int {
	id, rows, cols := len(d.s.Globals), d.int("rows", 1, 9), d.int("cols", 1, 9)
	d.s.Globals = append(d.s.Globals, plan.Global{Name: fmt.Sprintf("%s%d[%d×%d]", [...]string{"w", "c", "sum", "made"}[k], id, rows, cols),
		Kind: k, Rows: rows, Cols: cols})
	return id
}

func (d *drawer) phase() {
	ph := plan.Phase{Label: "phase"}
	d.globals = append(d.globals, d.sums...)
	sums := d.sums
	d.sums = nil
	if len(d.globals) > 0 && d.int("globals", 0, 3) == 0 {
		c := d.call()
		d.reads(c, plan.GlobalRef, d.globals)
		id := d.global(plan.Made)
		c.Operands = append(c.Operands, plan.Operand{Kind: plan.GlobalRef, ID: id, Write: true})
		c.Rows = 1
		d.globals = append(d.globals, id)
		ph.Steps = append(ph.Steps, plan.Step{Kind: plan.Globals, Calls: []plan.Call{*c}, Label: "globals"})
	}
	for range d.int("steps", 1, 3) {
		if d.int("stream", 0, 1) == 1 {
			ph.Steps = append(ph.Steps, d.stream())
		} else {
			c := d.call()
			d.reads(c, plan.OwnValue, d.own)
			d.reads(c, plan.GlobalRef, d.globals)
			d.writes(c)
			ph.Steps = append(ph.Steps, plan.Step{Kind: plan.Rows, Calls: []plan.Call{*c}, Label: "rows"})
		}
	}
	if len(d.sums) == 0 {
		d.sums = sums
	}
	d.s.Phases = append(d.s.Phases, ph)
	d.other = append(d.other, d.made...)
	var own []int // temporaries end with the phase
	for _, id := range d.own {
		if d.s.Values[id].Kind != plan.Temp {
			own = append(own, id)
		}
	}
	d.own, d.made = own, nil
}

func (d *drawer) call() *plan.Call {
	d.kernels++
	return &plan.Call{Kernel: d.kernels - 1, Cost: plan.Cost{More: plan.More{Scratch: 1}}}
}

// reads adds up to three operands.
func (d *drawer) reads(c *plan.Call, k plan.OperandKind, from []int) {
	for range d.int("reads", 0, 3) {
		if len(from) == 0 {
			return
		}
		o := plan.Operand{Kind: k, ID: rapid.SampledFrom(from).Draw(d.t, "operand")}
		seen := false
		for _, p := range c.Operands {
			seen = seen || p == o
		}
		if !seen {
			c.Operands = append(c.Operands, o)
		}
	}
}

// writes adds a result or two.
func (d *drawer) writes(c *plan.Call) {
	for range d.int("writes", 1, 2) {
		switch d.int("kind", 0, 3) {
		case 0:
			id := d.global(plan.Sum)
			c.Operands = append(c.Operands, plan.Operand{Kind: plan.GlobalRef, ID: id, Write: true})
			d.sums = append(d.sums, id)
			continue
		case 1:
			id := d.value(plan.Temp)
			c.Operands = append(c.Operands, plan.Operand{Kind: plan.OwnValue, ID: id, Write: true})
			d.own = append(d.own, id)
			continue
		}
		id := d.value(plan.Stored)
		d.s.Values[id].Output = d.int("output", 0, 2) == 0
		c.Operands = append(c.Operands, plan.Operand{Kind: plan.OwnValue, ID: id, Write: true})
		d.own, d.made = append(d.own, id), append(d.made, id)
	}
}

// stream draws a step over cells: one call, or two with an edge buffer between them.
func (d *drawer) stream() plan.Step {
	st := plan.Step{Kind: plan.Stream, Dir: plan.Dir(d.int("direction", 0, 1)), Label: "gather"}
	c := d.call()
	d.reads(c, plan.OwnValue, d.own)
	d.reads(c, plan.OtherValue, d.other)
	d.reads(c, plan.GlobalRef, d.globals)
	var bases []int
	for _, o := range c.Operands {
		if o.Kind == plan.OtherValue {
			bases = append(bases, o.ID)
		}
	}
	for len(bases) > 0 && d.int("derived", 0, 2) == 0 {
		id := d.value(plan.Temp)
		call := d.call()
		d.reads(call, plan.OtherValue, bases)
		d.reads(call, plan.GlobalRef, d.globals)
		call.Operands = append(call.Operands, plan.Operand{Kind: plan.OtherValue, ID: id, Write: true})
		d.s.Values[id].Derive = call
		c.Operands = append(c.Operands, plan.Operand{Kind: plan.OtherValue, ID: id})
		bases = append(bases, id)
	}
	if d.int("unfused", 0, 2) == 0 {
		e := plan.Operand{Kind: plan.EdgeTemp, ID: len(d.s.EdgeTemps), Write: true}
		d.s.EdgeTemps = append(d.s.EdgeTemps, int64(4*d.int("edge width", 1, 5)))
		c.Operands = append(c.Operands, e)
		st.Calls = append(st.Calls, *c)
		c = d.call()
		e.Write = false
		c.Operands = append(c.Operands, e)
	}
	d.writes(c)
	st.Calls = append(st.Calls, *c)
	return st
}

// DrawCells draws a grid: some cells empty, trailing intervals perhaps without rows.
func DrawCells(t *rapid.T) *plan.Cells {
	v, p := rapid.IntRange(1, 40).Draw(t, "vertices"), rapid.IntRange(1, 6).Draw(t, "P")
	c := plan.NewCells(v, p, (v+p-1)/p, 2)
	for j := range c.P {
		for i := range c.P {
			for d := range 2 {
				nnz := int64(0)
				if c.Rows(i) > 0 && c.Rows(j) > 0 {
					nnz = int64(max(0, rapid.IntRange(-2, 9).Draw(t, "edges of a cell")))
				}
				c.NNZ[d] = append(c.NNZ[d], nnz)
				c.Bytes[d] = append(c.Bytes[d], 64*(2+nnz))
				c.Needs[d] = append(c.Needs[d], min(nnz, int64(c.Rows(i)), int64(1+rapid.IntRange(0, 9).Draw(t, "rows that a cell needs"))))
			}
		}
	}
	return c
}

// Wide has the cells of c reach over so many intervals at their far ends.
func Wide(c *plan.Cells, wide int) *plan.Cells {
	w := plan.NewCells(c.V, c.P, c.Width, len(c.Bytes))
	w.Wide = wide
	for d := range c.Bytes {
		w.NNZ[d], w.Bytes[d] = make([]int64, c.P*c.P), make([]int64, c.P*c.P)
		for j := range c.P {
			for i := range c.P {
				first, _ := w.Reached(w.Span(0), i)
				w.NNZ[d][j*c.P+first] += c.NNZ[d][j*c.P+i]
			}
			for i := range c.P {
				if w.Begins(w.Span(0), i) {
					w.Bytes[d][j*c.P+i] = 64 * (2 + w.NNZ[d][j*c.P+i])
				}
			}
		}
	}
	return w
}

// Always gives c for every number of intervals.
func Always(c *plan.Cells) func(int) (*plan.Cells, error) {
	return func(int) (*plan.Cells, error) { return c, nil }
}
