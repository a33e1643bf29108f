package tune

import (
	"fmt"
	"slices"
	"strings"

	"sagann/dataflow/plan"
)

// Key names one of the programs that a model can be lowered to.
type Key struct {
	Wide   int    // how many intervals cells reach over at the far end (plan.Cells.Wide)
	Packed bool   // cells store the far ends of edges with as few bits as an interval needs
	Inside bool   // rows of gradients are multiplied on edges of the backward pass (dataflow.Lowering.Inside)
	Slices int    // number of column slices; each slice is gathered in a phase of its own
	Save   string // policy that says which values are stored for the backward pass
	Store  string // more values to store, or to delay ("late:" and the name); sorted, separated by commas
}

// Stored lists the names in Store.
func (k Key) Stored() []string {
	if k.Store == "" {
		return nil
	}
	return strings.Split(k.Store, ",")
}

// With is k with Store set to names.
func (k Key) With(names []string) Key {
	k.Store = strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ",")
	return k
}

// Decision has one value for each choice of the search. The decoder (plan/planner) makes a plan from it
// that fits the budget, whatever Rule says. It fails only if no plan with the other choices fits.
type Decision struct {
	Key
	P        int    // intervals
	Schedule string // plan.Sag, plan.Stage or plan.DestOrder
	Slots    int    // least number of buffers of a streamed operand; fewer if they do not fit
	Group    int    // intervals that a device visits together
	Rule     plan.Rule
}

// String describes d. Decisions are equal exactly if their strings are.
func (d Decision) String() string {
	k := fmt.Sprintf("{%v %d %s %s}", d.Packed, d.Slices, d.Save, d.Store)
	if d.Inside {
		k = "inside " + k
	}
	if d.Wide > 0 {
		k = fmt.Sprintf("wide %d %s", d.Wide, k)
	}
	return fmt.Sprintf("%s %d %s %d %d %v", k, d.P, d.Schedule, d.Slots, d.Group, d.Rule)
}
