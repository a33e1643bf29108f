package layout

import "sagann/dataflow/plan"

// Layout is a plan without tasks, and the addresses that package order needs to emit them.
type Layout struct {
	Plan      *plan.Plan
	Usage     *plan.Usage
	Largest   *largest
	Slots     []PhaseSlots  // by phase
	Places    []WindowPlace // by window, as in Plan.Places.Windows
	Scratch   int64         // device offset where a Global of another device arrives
	ZeroAt    int64         // device offset of the Globals of kind Sum, cleared at the start of a step
	ZeroBytes int64
	sizing    bool // only Peak is wanted, no names and no setup (size.go)
}

// WindowPlace says where a window lies in device memory.
type WindowPlace struct {
	At    int64
	Cells []int64 // of a window of cells: the offset of each cell from At
}

// Choice says what stays on the device and how many buffers streamed operands have. Fit makes it, Place lays it out.
type Choice struct {
	resident []bool  // by value
	cells    [2]bool // by direction: all its cells are resident
	Slots    int     // buffers of a streamed operand
	group    int     // least number of intervals that a device visits together; 0: one
	groups   []int   // by phase: the number, at least group; nil: group
	more     []int   // by phase: slots for chunks at the far end, at least Slots; nil: Slots
	windows  []plan.Window
	ahead    int  // buffers of streamed cells beyond Slots
	All      bool // everything is resident
}

// phase is the number of slots for chunks at the far end in phase q.
func (c *Choice) phase(q int) int {
	if c.more != nil {
		return c.more[q]
	}
	return c.Slots
}
