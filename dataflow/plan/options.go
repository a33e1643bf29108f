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
	MinP     int    // lower bound of an automatic P
	Slots    int    // buffers of a streamed operand (prefetch depth + 1); 0: 3 when they fit, more where memory is left
	Windows  bool   // keep parts of what streams from one phase to another where memory is left
	Diagonal bool   // the cell of an interval with itself reads the chunks that the visit has loaded where they lie
	Group    int    // intervals that a device visits at the same time, for each chunk that comes to it; 0: one, or what the search (package tune) finds fastest
	Groups   []int  // the same by phase and last for all others, as Plan.Groups gave it; nil: as Group says
	More     bool   // more than Slots buffers where memory is left: they keep chunks from one visit to the next
	Serial   bool   // no overlap of transfers and kernels
	Stream   bool   // keep nothing resident that can stream
	Schedule string // Sag (default), Stage or DestOrder
	Devices  int    // that share the work; 0: one
	Ring     bool   // devices hand chunks on to each other instead of each loading its own
	Straight bool   // visit sources in the same order for every destination, not in serpentines
	Whole    bool   // load whole chunks only, never sorted rows
	Beside   *Spec  // another program that must fit, too, with this plan as its Base
	Base     *Plan  // share parameters and resident inputs with this plan; P must be its P

	Host HostBudget

	// Topology says which devices load and which hands on to which (RingOf); nil, or that
	// of another number of devices: all load and hand on in the order of their numbers.
	Topology *Topology
}

// HostBudget bounds host memory, in bytes: what a plan needs there beyond that lies in files,
// where copies take the time of the disk, and Staging bytes for buffers then; Budget 0: no bound.
type HostBudget struct {
	Budget, Staging int64
	Ranks           int // that share the devices, each with such a host; 0: one
}

// The schedules (paper, section 3.1).
const (
	Sag       = "sag"        // a destination's accumulator stays until ApplyVertex has eaten it
	Stage     = "stage"      // all SAG phases, then all ApplyVertex
	DestOrder = "dest-order" // one source chunk over all destinations, accumulators swapped
)

// Auto as Options.Schedule leaves the schedule to a search.
const Auto = "auto"

// BudgetError says that no plan fits.
type BudgetError struct {
	Budget   int64
	Smallest int64 // the smallest budget that would do
	P        int   // with this many intervals
}

// Error names the smallest budget that would do.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("plan: a budget of %s is too small: the smallest that would do is %s, with %d intervals",
		units.Size(e.Budget), units.Least(e.Smallest), e.P)
}

// ErrNoIntervals says that there is no number of intervals to try.
var ErrNoIntervals = errors.New("plan: no number of intervals to try")

// Topology says which devices load chunks from host memory and in which order they are
// handed on: a ring.Ring, device i of a plan being GPU i of its tree.
type Topology = topology.Ring
