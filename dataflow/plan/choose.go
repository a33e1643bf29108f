package plan

import (
	"errors"
	"fmt"
	"math"
)

// Options of planning.
type Options struct {
	Budget   int64  // bytes of device memory; 0: no bound
	P        int    // number of intervals; 0: the smallest that fits
	MinP     int    // lower bound of an automatic P
	Quick    bool   // Search: a rough one, without what takes longest
	Near     int    // Search: numbers of intervals around this one, instead of all
	Slots    int    // buffers of a streamed operand (prefetch depth + 1); 0: 3 when they fit, more where memory is left
	Windows  bool   // keep parts of what streams from one phase to another where memory is left
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

	// Early lets loads pass each other where that makes the step shorter on this machine,
	// by simulation; nil, several devices or Serial: loads come in the order of their use.
	Early *Machine

	taste taste // what Search tries to keep first, and what not at all

	// Topology says which devices load and which hands on to which (RingOf); nil, or that
	// of another number of devices: all load and hand on in the order of their numbers.
	Topology *Topology
}

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

// candidates are the numbers of intervals that an automatic choice tries.
var candidates = []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128}

// New plans s. cells gives the sizes of the grid for a number of intervals.
func New(s *Spec, cells func(p int) (*Cells, error), o Options) (*Plan, error) {
	if o.P < 0 || o.Slots < 0 || o.Budget < 0 {
		return nil, errors.New("plan: negative option")
	}
	switch o.Schedule {
	case "":
		o.Schedule = Sag
	case Sag:
	case Stage, DestOrder:
		s = staged(s, o.Schedule == DestOrder)
	default:
		return nil, fmt.Errorf("plan: unknown schedule %q; there are %s, %s, %s", o.Schedule, Sag, Stage, DestOrder)
	}
	if o.Beside != nil && o.Schedule != Sag {
		o.Beside = staged(o.Beside, o.Schedule == DestOrder)
	}
	o.Devices = max(1, o.Devices)
	o.MinP = max(o.MinP, o.Devices)
	try := candidates
	if o.P > 0 {
		try = []int{o.P}
	}
	if o.Base != nil {
		try = []int{o.Base.Cells.P}
	}
	var tooSmall *BudgetError
	var only *Cells // fits with single slots, which overlap nothing
	var single choice
	for _, p := range try {
		if o.P == 0 && o.Base == nil && p < o.MinP {
			continue
		}
		c, err := cells(p)
		if err != nil {
			return nil, err
		}
		ch, need := fit(s, c, o)
		switch {
		case need > 0:
			if tooSmall == nil || need < tooSmall.Smallest {
				tooSmall = &BudgetError{o.Budget, need, p}
			}
		case ch.slots > 1 || ch.all || len(try) == 1 || o.Slots == 1:
			return build(s, c, ch, o), nil
		case only == nil:
			only, single = c, ch
		}
		if p > c.V {
			break
		}
	}
	if only != nil {
		return build(s, only, single, o), nil
	}
	if tooSmall == nil {
		return nil, fmt.Errorf("plan: at least %d intervals asked for; an automatic choice tries at most %d", o.MinP, candidates[len(candidates)-1])
	}
	return nil, tooSmall
}

// fit finds the best choice for c that stays within the budget: as many slots as
// asked for, then resident what saves most transfer per byte. It returns the bytes
// that the smallest choice needs when none fits, else 0.
func fit(s *Spec, c *Cells, o Options) (choice, int64) {
	acc, most := accesses(s), c.largest()
	var beside []map[int]access
	if o.Beside != nil {
		beside = accesses(o.Beside)
	}
	size := func(ch choice) int64 {
		p := &Plan{Spec: s, Cells: c, Devices: o.Devices, sizing: true, acc: acc, most: most}
		p.place(ch, o.Base)
		if o.Beside == nil {
			return p.Peak
		}
		q := &Plan{Spec: o.Beside, Cells: c, Devices: o.Devices, sizing: true, acc: beside, most: most}
		q.place(choice{resident: make([]bool, len(o.Beside.Values)), slots: 1}, p)
		return max(p.Peak, q.Peak)
	}
	ok := func(n int64) bool { return o.Budget == 0 || n <= o.Budget }
	ch := choice{resident: make([]bool, len(s.Values)), slots: 3}
	if o.Slots > 0 { // more than cells would change nothing
		ch.slots = min(o.Slots, c.P*c.P)
	}
	ch.ahead = o.taste.ahead * c.P / 8
	smallest := int64(math.MaxInt64)
	if !o.Stream {
		all := choice{resident: make([]bool, len(s.Values)), cells: [2]bool{true, true}, slots: 1, all: true}
		for i := range all.resident {
			all.resident[i] = s.Values[i].Kind != Temp
		}
		if smallest = size(all); ok(smallest) {
			if o.Budget > 0 && (o.Slots == 0 || o.More) { // what is made on arrival is made once
				widen(s, c, &all, func() bool { return ok(size(all)) })
			}
			return all, 0
		}
	}
	need := size(ch)
	for !ok(need) && ch.slots > 1 && (o.Slots == 0 || ch.slots > 1) {
		ch.slots--
		need = size(ch)
	}
	if !ok(need) && !o.Stream {
		need = shrink(s, &ch, need, size)
	}
	if !ok(need) {
		return ch, min(need, smallest)
	}
	if !o.Stream {
		keep(s, c, acc, &ch, o.taste, func() bool { return ok(size(ch)) })
		windows := o.Windows && o.Budget > 0 && o.Devices == 1 && o.Schedule != DestOrder
		if windows && o.taste.part {
			fillIn(s, c, acc, &ch, o.taste, func() bool { return ok(size(ch)) })
		}
		if o.Slots == 0 || o.More {
			widen(s, c, &ch, func() bool { return ok(size(ch)) })
		}
		if windows {
			fillIn(s, c, acc, &ch, o.taste, func() bool { return ok(size(ch)) })
		}
	}
	return ch, 0
}

// shrink makes resident what takes no more room so than in slots, as with few intervals.
func shrink(s *Spec, ch *choice, need int64, size func(choice) int64) int64 {
	try := func(on *bool) {
		*on = true
		if n := size(*ch); n <= need {
			need = n
		} else {
			*on = false
		}
	}
	for id := range s.Values {
		if s.Values[id].Kind != Temp {
			try(&ch.resident[id])
		}
	}
	for d := range ch.cells {
		try(&ch.cells[d])
	}
	return need
}

func build(s *Spec, c *Cells, ch choice, o Options) *Plan {
	p := &Plan{Spec: s, Cells: c, Budget: o.Budget, Schedule: o.Schedule, Devices: o.Devices, taste: o.taste}
	slots := p.place(ch, o.Base)
	p.shareHost()
	if o.Early != nil && p.Devices == 1 && !o.Serial {
		p.trail = &trail{}
	}
	p.emit(slots, o)
	if p.trail != nil {
		p = p.early(o.Early)
	}
	if err := p.Verify(); err != nil {
		panic(err)
	}
	return p
}
