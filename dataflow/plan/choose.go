package plan

import (
	"errors"
	"fmt"
	"slices"
)

// Options of planning.
type Options struct {
	Budget   int64  // bytes of device memory; 0: no bound
	P        int    // number of intervals; 0: the smallest that fits
	MinP     int    // lower bound of an automatic P
	Slots    int    // buffers of a streamed operand (prefetch depth + 1); 0: 3 when they fit, more where memory is left
	Windows  bool   // keep parts of what streams from one phase to another where memory is left
	Diagonal bool   // the cell of an interval with itself reads the chunks that the visit has loaded where they lie
	Group    int    // intervals that a device visits at the same time, for each chunk that comes to it; 0: one, or what Search finds fastest
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
type HostBudget struct{ Budget, Staging int64 }

// The schedules (paper, section 3.1).
const (
	Sag       = "sag"        // a destination's accumulator stays until ApplyVertex has eaten it
	Stage     = "stage"      // all SAG phases, then all ApplyVertex
	DestOrder = "dest-order" // one source chunk over all destinations, accumulators swapped
)

// BudgetError says that no plan fits.
type BudgetError struct {
	Budget   int64
	Smallest int64 // the smallest budget that would do
	P        int   // with this many intervals
}

// Error names the smallest budget that would do.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("plan: a budget of %d bytes is too small: the smallest that would do is %d bytes (with %d intervals)",
		e.Budget, e.Smallest, e.P)
}

// intervalCounts are the numbers of intervals that an automatic choice tries.
var intervalCounts = []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128}

// New plans s. cells gives the sizes of the grid for a number of intervals. Loads come in the order of
// their use, and what stays is chosen by the zero Rule.
func New(s *Spec, cells func(p int) (*Cells, error), o Options) (*Plan, error) {
	return NewDecoder(nil).New(s, cells, o, How{})
}

// New plans s as h says.
func (d *Decoder) New(s *Spec, cells func(p int) (*Cells, error), o Options, h How) (*Plan, error) {
	if o.P < 0 || o.Slots < 0 || o.Budget < 0 {
		return nil, errors.New("plan: negative option")
	}
	s, err := o.prepare(s)
	if err != nil {
		return nil, err
	}
	o.MinP = max(o.MinP, o.Devices)
	if o.P > 0 || o.Base != nil {
		p := o.P
		if o.Base != nil {
			p, o.Group, o.Groups = o.Base.Cells.P, o.Base.Groups[len(o.Base.Groups)-1], nil
		}
		return d.first(s, cells, o, h, []int{p})
	}
	pl, err := d.first(s, cells, o, h, evenly(intervalCounts, o.Devices))
	var small *BudgetError
	if o.Devices > 1 && errors.As(err, &small) {
		return d.first(s, cells, o, h, intervalCounts)
	}
	return pl, err
}

// evenly rounds numbers of intervals up, so that each of k devices owns as many.
func evenly(ps []int, k int) []int {
	var out []int
	for _, p := range ps {
		out = append(out, (p+k-1)/k*k)
	}
	return slices.Compact(out)
}

// prepare fills in what o leaves out and cuts s, and what is planned beside it, by the schedule.
func (o *Options) prepare(s *Spec) (*Spec, error) {
	o.Devices = max(1, o.Devices)
	switch o.Schedule {
	case "":
		o.Schedule = Sag
	case Sag:
	case Stage, DestOrder:
		s = staged(s, o.Schedule == DestOrder)
		if o.Beside != nil {
			o.Beside = staged(o.Beside, o.Schedule == DestOrder)
		}
	default:
		return nil, fmt.Errorf("plan: unknown schedule %q; there are %s, %s, %s", o.Schedule, Sag, Stage, DestOrder)
	}
	return s, nil
}

// first plans with the first number of intervals of try that leaves room for two slots,
// or else the first that fits.
func (d *Decoder) first(s *Spec, cells func(p int) (*Cells, error), o Options, h How, try []int) (*Plan, error) {
	var tooSmall *BudgetError
	var only *Decoded // fits with single slots, which overlap nothing
	for _, p := range try {
		if o.P == 0 && o.Base == nil && p < o.MinP {
			continue
		}
		c, err := cells(p)
		if err != nil {
			return nil, err
		}
		x := d.Decode(s, c, o, h)
		switch {
		case x.Need > 0:
			if tooSmall == nil || x.Need < tooSmall.Smallest {
				tooSmall = &BudgetError{o.Budget, x.Need, p}
			}
		case x.ch.slots > 1 || x.ch.all || len(try) == 1 || o.Slots == 1:
			return x.Build(), nil
		case only == nil:
			only = x
		}
		if p > c.V {
			break
		}
	}
	if only != nil {
		return only.Build(), nil
	}
	if tooSmall == nil {
		return nil, fmt.Errorf("plan: at least %d intervals asked for; an automatic choice tries at most %d", o.MinP, intervalCounts[len(intervalCounts)-1])
	}
	return nil, tooSmall
}

// build emits the tasks of ch; edf: in the order of deadlines on this machine, nil: in the order of use.
func build(s *Spec, c *Cells, ch choice, o Options, edf *Machine) *Plan {
	p := &Plan{Spec: s, Cells: c, Budget: o.Budget, Schedule: o.Schedule, Devices: o.Devices}
	l := placed(p, ch, o.Base)
	p.shareHost()
	p.lend(o.Base)
	var t *trail
	if edf != nil && p.Devices <= len(edf.Devices) && !o.Serial {
		t = &trail{}
	}
	l.emit(o, t)
	p.Host.Short = o.Host.Budget > 0 && !p.spill(&o)
	if t != nil {
		p = p.early(edf, t)
	}
	if err := p.Verify(); err != nil {
		panic(err)
	}
	return p
}
