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
	edf   bool
	m     *sim.Machine
}

// How says how a plan is made, beside its options.
type How struct {
	Rule    plan.Rule
	Kernels []float64 // PhaseTimes, for Rule.Hidden
	EDF     bool      // loads pass each other, earliest deadline first, where that makes the step shorter by simulation
}

// Decode decides what stays. s and o.Beside are cut for o.Schedule (Cut).
func (d *Decoder) Decode(s *plan.Spec, c *plan.Cells, o plan.Options, h How) *Decoded {
	o.Devices = max(1, o.Devices)
	var e *layout.Estimate
	if h.Rule.Hidden > 0 && h.Kernels != nil && o.Devices == 1 {
		e = layout.NewEstimate(h.Rule.Hidden, h.Kernels, d.m.Rates)
	}
	f := layout.NewFitting(s, c, o, h.Rule, e, &d.sized)
	out := &Decoded{spec: s, cells: c, o: o, edf: h.EDF, m: d.m}
	out.ch, out.Need = f.Fit()
	return out
}
