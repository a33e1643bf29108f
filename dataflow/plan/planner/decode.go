package planner

import (
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/layout"
	"sagann/dataflow/plan/sim"
)

// Decoder turns rules into plans. It keeps memory from one to the next: one at a time.
type Decoder struct {
	m     *sim.Machine
	sized layout.Scratch
}

// NewDecoder is one for plans on m.
func NewDecoder(m *sim.Machine) *Decoder { return &Decoder{m: m} }

// Decoded is a plan before its tasks are emitted: what stays, and where it lies.
type Decoded struct {
	Need  int64 // bytes of the smallest choice when none fits, else 0
	spec  *plan.Spec
	cells *plan.Cells
	o     plan.Options
	ch    layout.Choice
	m     *sim.Machine
}

// Decode decides what stays. s and o.Beside are cut for o.Schedule (Options.Prepare).
func (d *Decoder) Decode(s *plan.Spec, c *plan.Cells, o plan.Options, rule plan.Rule) *Decoded {
	o.Devices = max(1, o.Devices)
	f := layout.NewFitting(s, c, o, rule, &d.sized)
	out := &Decoded{spec: s, cells: c, o: o, m: d.m}
	out.ch, out.Need = f.Fit()
	return out
}
