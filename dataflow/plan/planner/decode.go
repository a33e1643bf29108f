package planner

import (
	"fmt"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/layout"
	"sagann/dataflow/plan/sim"
)

// Decoder turns rules into plans. It reuses its memory, so only one goroutine may use it at a time.
type Decoder struct {
	m     *sim.Machine
	sized layout.Scratch
}

// NewDecoder returns a Decoder for plans on machine m; nil: the machine is not known, and plans are not simulated.
func NewDecoder(m *sim.Machine) *Decoder { return &Decoder{m: m} }

// Decoded is a choice of what stays on the device. Build and Simulated make the plan.
type Decoded struct {
	Need  int64 // device memory in bytes that the smallest choice needs, if none fits; else 0
	spec  *plan.Spec
	cells *plan.Cells
	o     plan.Options
	ch    layout.Choice
	m     *sim.Machine
}

// Decode decides by rule what stays on the device. s and o.Beside must be prepared (Options.Prepare).
func (d *Decoder) Decode(s *plan.Spec, c *plan.Cells, o plan.Options, rule plan.Rule) *Decoded {
	o.Devices = max(1, o.Devices)
	f := layout.NewFitting(s, c, o, rule, &d.sized)
	out := &Decoded{spec: s, cells: c, o: o, m: d.m}
	out.ch, out.Need = f.Fit()
	return out
}

// Fits tells whether Decode finds a plan that fits. It takes much less time.
func (d *Decoder) Fits(s *plan.Spec, c *plan.Cells, o plan.Options, rule plan.Rule) bool {
	o.Devices = max(1, o.Devices)
	return layout.NewFitting(s, c, o, rule, &d.sized).Fits()
}

// Choice is a text of what stays on the device and how many buffers streamed operands have. Plans of one program with the same
// grid and options are equal if their choices are.
func (d *Decoded) Choice() string { return fmt.Sprint(d.ch) }
