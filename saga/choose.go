package saga

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/sim"
	"sagann/dataflow/tune"
)

// This file chooses what training runs: the program (which values are stored, in how many slices of columns,
// with which cells) and its plan. With a machine model, package tune searches for both. Without one, the
// plan has the fewest intervals that fit, and simulation picks the fastest save policy, with values for far ends computed on arrival or stored.

// Save policies (Config.Save): whether values of the forward pass that the backward pass needs are stored
// or computed again.
const (
	SaveAuto = "auto" // the fastest by simulation; the default
	SaveAll  = dataflow.SaveAll
	SaveNone = dataflow.SaveNone
	saveSome = "some" // element-wise values are computed again: dataflow.SaveSome
)

var saves = []string{"", SaveAuto, SaveAll, SaveNone, saveSome}

// Packings of Outcome.Packing.
const (
	PackingOn  = "on"
	PackingOff = "off"
)

var packings = []string{"", PackingOn, PackingOff}

// mostSlices is the largest Outcome.Slices. The search tries at most triedSlices: more slices take long to plan
// and gain little.
const (
	mostSlices  = 8
	triedSlices = 4
)

// choice is what training will run.
type choice struct {
	*compiled
	decision tune.Decision
	plan     *plan.Plan
	line     *sim.Timeline // nil: no machine model
}

// chooser makes programs and chooses one.
type chooser struct {
	*planTarget
	grids     *grids
	optimized map[int]*optimized // by slices
	made      map[tune.Key]*making
	sizes     map[likely]*plan.Cells
	// A search makes programs side by side. These are for optimized and all that passes set, for made, and for sizes and grids.
	passed      sync.RWMutex
	kept, sized sync.Mutex
	expected    *Shape // sizes of cells are estimated from this shape; nil: they are counted
	degrees     *Shape // what estimates take
	spared      int64  // plans leave one part in so many of the memory free; 0: none
	only        int    // the number of intervals; 0: Config decides, or any
}

func (p *Program) chooser() *chooser {
	return &chooser{planTarget: &p.on, grids: &p.grids, optimized: map[int]*optimized{}, made: map[tune.Key]*making{}, sizes: map[likely]*plan.Cells{}, expected: p.shape}
}

// choose chooses what will run.
func (c *chooser) choose() (*choice, error) {
	defer c.grids.stages.planned(*c.grids.stages, time.Now())
	return c.goal.plan(c)
}

// plan chooses what training will run.
func (learning) plan(c *chooser) (*choice, error) { return c.estimating(c.decide) }

// searches tells whether package tune chooses. A search over the devices of several hosts takes too long. One host of such a
// machine is planned in the same way, so that it compares with several.
func (c *chooser) searches() bool { return c.machine != nil && c.machine.NICs == "" }

// decide chooses a program and its plan. If from is not nil, it gives the program, the number of intervals and the
// schedule; without a search it gives the number of intervals only.
func (c *chooser) decide(from *tune.Decision) (*choice, error) {
	if !c.searches() {
		return c.fewest(from)
	}
	q := &tune.Problem{Machine: c.machine, Options: c.planOptions(), Packed: c.packed(), Wide: c.wide(), Inside: c.inside(), Slices: c.slices(), Saves: c.saves(), Store: c.cfg.Outcome.Store,
		Program: func(k tune.Key) (*tune.Program, error) {
			x, err := c.lower(k)
			if x == nil || err != nil {
				return nil, err
			}
			return &tune.Program{Spec: x.train.Spec, Beside: x.eval.Spec, Budget: c.within(x.memory.plans()), Store: slices.Concat(x.train.Again, x.train.Early, x.train.Arriving, x.train.Anew, x.train.Far), Arriving: x.train.Arriving, Cells: c.cellsOf(x.want)}, nil
		}}
	q.Mix = len(q.Saves) > 1
	if p := c.of; p != nil {
		q.Work, q.Memo = p.work, p.memo
	}
	q.Options.P = cmp.Or(c.only, q.Options.P)
	if from != nil {
		q.Begin, q.Packed, q.Wide, q.Slices, q.Saves, q.Mix = from, []bool{from.Packed}, []int{from.Wide}, []int{from.Slices}, []string{from.Save}, false
		q.Options.P, q.Options.Schedule, q.Inside = from.P, from.Schedule, []bool{from.Inside}
	}
	pl, line, d, err := tune.Search(q)
	if err != nil {
		return nil, err
	}
	return &choice{c.made[d.Key].compiled, d, pl, line}, nil
}

// faster is how many per cent faster than the best so far another save policy must be to be taken.
const faster = 1

// fewest plans with the fewest intervals that fit, and takes the save policy that is the fastest with that many.
// Plans are simulated on Config.Machine or, without one, on the default machine model of the kind of device.
func (c *chooser) fewest(from *tune.Decision) (*choice, error) {
	o, saves := c.planOptions(), c.saves()
	if len(saves) > 1 { // they are compared in this order
		saves = []string{saveSome, SaveAll, SaveNone}
	}
	m := c.machine
	if m == nil {
		var err error
		if m, err = sim.LoadMachine(backend.Of(c.cfg.Device).Model); err != nil {
			return nil, err
		}
	}
	known := c.cfg.devices() <= len(m.Devices) // else plans cannot be compared
	k := tune.Key{Packed: c.packed()[0], Wide: c.wide()[0], Inside: c.cfg.Outcome.Inside, Slices: max(1, c.cfg.Outcome.Slices)}.With(c.cfg.Outcome.Store)
	o.P = cmp.Or(c.only, o.P)
	if from != nil {
		o.P = from.P
	}
	if o.Schedule == plan.Auto {
		o.Schedule = plan.Sag
	}
	var best *choice
	var first error
	try := func(k tune.Key) error {
		y, err := c.one(k, o)
		var small *plan.BudgetError
		switch {
		case errors.As(err, &small):
			first = cmp.Or(first, err)
			return nil
		case err != nil:
			return err
		case known:
			y.line = sim.Simulate(y.plan, m)
		}
		if best == nil || 100*y.line.Wall <= (100-faster)*best.line.Wall {
			best, o.P, o.Schedule = y, y.plan.Cells.P, y.plan.Schedule
		}
		return nil
	}
	for _, k.Save = range saves {
		if err := try(k); err != nil {
			return nil, err
		}
		if !known && best != nil {
			break
		}
	}
	if best == nil {
		return nil, first
	}
	if far := best.train.Far; known && len(saves) > 1 && len(far) > 0 {
		if err := try(best.decision.With(append(best.decision.Stored(), far...))); err != nil {
			return nil, err
		}
	}
	if c.machine == nil {
		best.line = nil
	}
	return best, nil
}

// one plans the program of k without a search.
func (c *chooser) one(k tune.Key, o plan.Options) (*choice, error) {
	x, err := c.lower(k)
	if err != nil {
		return nil, err
	}
	if o.Budget = x.memory.plans(); x.eval != nil {
		o.Beside = x.eval.Spec
	}
	pl, err := planner.New(x.train.Spec, c.cellsOf(x.want), o)
	if err != nil {
		return nil, err
	}
	return &choice{compiled: x, decision: tune.Decision{Key: k, P: pl.Cells.P, Schedule: pl.Schedule}, plan: pl}, nil
}

// plan plans one forward pass with the fewest intervals that fit. Where Config leaves it open, cells are packed on a
// GPU if the plan without packing does not fit or copies anything to the device.
func (pass) plan(c *chooser) (*choice, error) {
	return c.estimating(func(from *tune.Decision) (x *choice, err error) {
		k, o := tune.Key{Slices: max(1, c.cfg.Outcome.Slices)}, c.onceOptions(0, 0)
		if o.P = cmp.Or(c.only, o.P); from != nil {
			o.P = from.P
		}
		var small *plan.BudgetError
		for _, k.Save = range passSaves {
			for _, k.Packed = range c.packed() {
				if x, err = c.one(k, o); err == nil && (x.plan.H2D == 0 || !backend.Of(c.cfg.Device).GPU()) {
					break
				}
			}
			if !errors.As(err, &small) {
				break
			}
		}
		return x, err
	})
}

// packed lists the packings to try: cells packed (true) or not. On a CPU cells are not packed: it reads whole words
// faster, and its memory is the host's, so there is no copy to shorten.
func (c *chooser) packed() []bool {
	p := c.planTarget
	switch {
	case p.cfg.Outcome.Packing != "":
		return []bool{p.cfg.Outcome.Packing == PackingOn}
	case p.cfg.without("pack"):
		return []bool{false}
	case p.output != "" && (backend.Of(p.cfg.Device).GPU() && p.mem() > 0 || p.cfg.HostMem > 0):
		return []bool{false, true}
	case p.machine == nil:
		return []bool{backend.Of(p.cfg.Device).GPU() && p.cfg.Mem > 0}
	case p.machine.Kind(0).Serial: // a model stands for the device that it describes
		return []bool{false}
	}
	return []bool{true, false}
}

// AllFar, as Outcome.Wide, has cells reach over all intervals of a type.
const AllFar = chunk.AllFar

// wide lists how many intervals cells may reach over (plan.Cells.Wide). On a GPU a row that reads its far ends from several cells takes longer. On a CPU the
// rows of an interval at the far end stay in the cache. Over several types all intervals of one are not too many for the cache of a GPU.
func (c *chooser) wide() []int {
	p := c.planTarget
	switch {
	case p.cfg.Outcome.Packing != "" || p.cfg.Outcome.Wide > 0:
		return []int{p.cfg.Outcome.Wide}
	case p.cfg.without("wide") || p.cfg.Stream || p.cfg.without("residency") || p.cfg.devices() > 1 || p.machine == nil || p.machine.Kind(0).Serial || p.data != nil && p.data.Shard != nil:
		return []int{0}
	case p.in != nil && p.in.kinds != nil || p.shape != nil && p.shape.kinds != nil:
		return []int{0, chunk.AllFar}
	}
	return []int{0, 4, 2, 3, chunk.AllFar}
}

// inside lists whether rows of gradients may be multiplied on edges of the backward pass.
func (c *chooser) inside() []bool {
	switch {
	case c.cfg.Outcome.Packing != "" || c.cfg.Outcome.Inside:
		return []bool{c.cfg.Outcome.Inside}
	case !c.searches():
		return []bool{false}
	}
	return []bool{false, true}
}

func (c *chooser) slices() (list []int) {
	if k := c.cfg.Outcome.Slices; k > 0 || c.cfg.without("slice") {
		return []int{max(1, k)}
	}
	for k := 1; k <= triedSlices; k *= 2 {
		list = append(list, k)
	}
	return list
}

// saves lists the save policies that may be chosen, the one that needs the least memory first.
func (c *chooser) saves() []string {
	if s := c.cfg.Save; s != "" && s != SaveAuto {
		return []string{s}
	}
	return []string{SaveNone, saveSome, SaveAll}
}

// making is what chooser.lower makes once.
type making struct {
	sync.Once
	*compiled
	err error
}

// lower makes the programs of k and keeps them. The result is nil if no gather of the model can be sliced as k says. It may be called
// concurrently.
func (c *chooser) lower(k tune.Key) (*compiled, error) {
	o, err := c.optimizedFor(k.Slices)
	if err != nil {
		return nil, err
	}
	c.kept.Lock()
	m := c.made[k]
	if m == nil {
		m = &making{}
		c.made[k] = m
	}
	c.kept.Unlock()
	m.Do(func() {
		if k.Wide > 0 { // only cells differ
			narrow := k
			narrow.Wide = 0
			x, err := c.lower(narrow)
			if m.err = err; x != nil {
				y := *x
				y.want = x.want.Widened(k.Wide)
				m.compiled = &y
			}
			return
		}
		c.passed.RLock()
		defer c.passed.RUnlock()
		if k.Inside && !o.train.Inside() && !c.cfg.Outcome.Inside {
			return
		}
		if k.Slices == 1 || o.sliced || c.cfg.Outcome.Slices == k.Slices {
			how := dataflow.Lowering{Save: k.Save, Store: k.Stored(), Packed: k.Packed, Inside: k.Inside}
			if k.Save == saveSome {
				how.Save = dataflow.SaveSome
			}
			m.compiled, m.err = c.planTarget.lower(o, how)
		}
	})
	return m.compiled, m.err
}

// optimizedFor is the program after the passes, for so many slices. It is made once.
func (c *chooser) optimizedFor(slices int) (*optimized, error) {
	c.passed.Lock()
	defer c.passed.Unlock()
	if o := c.optimized[slices]; o != nil {
		return o, nil
	}
	o, err := c.optimize(slices)
	if err == nil {
		c.optimized[slices] = o
	}
	return o, err
}

// likely is the key of chooser.sizes: n intervals, the parts of cells, and the shape that sizes are estimated from.
type likely struct {
	n    int
	want string // the parts
	of   *Shape
}

// cellsOf returns a function that gives the sizes of the cells of n intervals. It builds no grid, and may be called concurrently.
func (c *chooser) cellsOf(want chunk.Wants) func(n int) (*plan.Cells, error) {
	return func(n int) (*plan.Cells, error) {
		c.sized.Lock()
		defer c.sized.Unlock()
		k := likely{n, fmt.Sprint(want), c.expected}
		if c.sizes[k] == nil {
			if c.expected != nil {
				c.sizes[k] = c.expected.sizes(n, want)
				return c.sizes[k], nil
			}
			var err error
			if c.sizes[k], err = c.grids.counted(n, want); err != nil {
				return nil, err
			}
		}
		return c.sizes[k], nil
	}
}
