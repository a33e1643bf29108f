package layout

import "sagann/dataflow/plan"

// Layout is a plan with what its maker knows of its memory: where the tasks that are emitted next find things.
type Layout struct {
	Plan      *plan.Plan
	Usage     *plan.Usage
	Largest   *largest
	Slots     []PhaseSlots  // by phase
	Places    []WindowPlace // of p.Windows
	Scratch   int64         // where a Global of another device arrives
	ZeroAt    int64         // the sums, cleared at the start of a step
	ZeroBytes int64
	sizing    bool // only measured (size.go)
}

// WindowPlace is where a window lies.
type WindowPlace struct {
	At    int64
	Cells []int64 // offset of each cell
}

// Choice is one point of the space that planning searches.
type Choice struct {
	resident []bool  // by value
	cells    [2]bool // by direction
	Slots    int     // buffers of a streamed operand
	group    int     // intervals that a device visits at the same time, at least; 0: one
	groups   []int   // by phase, at least group; nil: group
	more     []int   // by phase, at least slots; nil: slots
	windows  []plan.Window
	ahead    int  // more buffers of a streamed cell
	All      bool // everything is resident
}

// phase is the number of slots in a phase.
func (c *Choice) phase(q int) int {
	if c.more != nil {
		return c.more[q]
	}
	return c.Slots
}
