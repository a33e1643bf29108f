package tune

import (
	"fmt"
	"slices"
	"strings"

	"sagann/dataflow/plan"
)

// Key names one of the programs that a model can be lowered to.
type Key struct {
	Packed bool   // cells hold far ends of edges packed
	Slices int    // of columns that gathers are split into
	Save   string // what is stored for the backward pass
	Store  string // values stored, or made late, beside that: names with commas between, sorted
}

// Stored lists the names in Store.
func (k Key) Stored() []string {
	if k.Store == "" {
		return nil
	}
	return strings.Split(k.Store, ",")
}

// With is k with names stored, or made late, beside.
func (k Key) With(names []string) Key {
	k.Store = strings.Join(slices.Sorted(slices.Values(names)), ",")
	return k
}

// Decision is everything that is chosen. The decoder (plan/planner) makes a plan of it that fits,
// whatever it says.
type Decision struct {
	Key
	P        int    // intervals
	Schedule string // plan.Sag, plan.Stage or plan.DestOrder
	Slots    int    // buffers of a streamed operand, at least, where they fit
	Group    int    // intervals that a device visits at the same time
	Rule     plan.Rule
}

// String names d: equal decisions have equal names.
func (d Decision) String() string {
	return fmt.Sprintf("%v %d %s %d %d %v", d.Key, d.P, d.Schedule, d.Slots, d.Group, d.Rule)
}
