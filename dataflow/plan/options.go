package plan

import (
	"errors"
	"fmt"

	"sagann/internal/units"
	topology "sagann/ring"
)

// Options of planning.
type Options struct {
	Budget   int64  // bytes of device memory; 0: no bound
	P        int    // number of intervals; 0: the smallest that fits
	MinP     int    // least number of intervals if P is 0
	Slots    int    // buffers of a streamed operand (prefetch depth + 1); 0: 3 if they fit, more where memory is left
	Windows  bool   // keep parts of streamed values on the device from one phase to another where memory is left
	Diagonal bool   // the cell of an interval with itself reads the visited interval's own chunks, where they lie
	Group    int    // intervals that a device visits at the same time; 0: one, or what the search (package tune) finds fastest
	Groups   []int  // Group by phase, and last for all other phases, as in Plan.Groups; nil: Group
	More     bool   // more than Slots buffers where memory is left, to keep chunks from one visit to the next
	Serial   bool   // no overlap of copies and kernels
	Stream   bool   // keep nothing resident that can stream
	Schedule string // Sag (default), Stage or DestOrder
	Devices  int    // number of devices that share the work; 0: one
	Ring     bool   // devices pass chunks on to each other, instead of each loading all from the host
	Straight bool   // visit sources in the same order for every destination, not back and forth
	Whole    bool   // load whole chunks only, never just the rows that a cell reads
	Beside   *Spec  // another program that must also fit, planned with this plan as its Base
	Base     *Plan  // share parameters and resident inputs with this plan; P must be its P

	Host HostBudget

	// Topology says which devices load from the host and which passes chunks to which (sim.RingOf). If it
	// is nil or is for another number of devices, all load, and they pass on in the order of their numbers.
	Topology *Topology
}

// HostBudget bounds host memory. What a plan needs beyond Budget lies in files and is copied at the
// disk's rate, and Staging bytes of Budget are then buffers for these copies.
type HostBudget struct {
	Budget, Staging int64 // bytes; Budget 0: no bound
	Ranks           int   // ranks that share the devices, each on a host with this budget; 0: one
}

// The schedules (paper, section 3.1).
const (
	Sag       = "sag"        // accumulators of an interval stay on the device until its ApplyVertex has read them
	Stage     = "stage"      // all gathers of all intervals (scatter, ApplyEdge, gather: SAG), then all ApplyVertex
	DestOrder = "dest-order" // each source chunk runs over all destinations, whose accumulators are swapped in and out
)

// Auto, as schedule of a configuration, leaves the choice to the search.
const Auto = "auto"

// BudgetError says that no plan fits the device memory.
type BudgetError struct {
	Budget   int64 // bytes
	Smallest int64 // the smallest budget that works, in bytes
	P        int   // the number of intervals with which it works
}

// Error names the smallest budget that works.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("plan: a budget of %s is too small: the smallest that would do is %s, with %d intervals",
		units.Size(e.Budget), units.Least(e.Smallest), e.P)
}

// ErrNoIntervals says that there is no number of intervals to try.
var ErrNoIntervals = errors.New("plan: no number of intervals to try")

// Topology says which devices load chunks from host memory and in which order devices pass
// them on. It is a ring.Ring; device i of a plan is GPU i of the ring's tree.
type Topology = topology.Ring
