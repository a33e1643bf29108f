package saga

import (
	"math"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
	"sagann/dataflow/tune"
	"sagann/device"
)

// Program is a model compiled for a graph, a device and a memory budget.
type Program struct {
	*definition
	on      planTarget
	grids   grids
	chosen  chosen
	train   *unit // or the forward pass
	eval    *unit // nil: a forward pass, or chosen.scorer evaluates
	host    hostPlaces
	session *session // nil: not open
	closed  bool     // Close was called, and Open not since
	epoch   int      // number of completed epochs
	mode    mode
	sampled *sampled // what only batched and scoring have
	run     updates
	plateau plateau // state of ScheduleReduce
	stages  Stages
}

// chosen is what was chosen for training, and what follows from it.
type chosen struct {
	tune.Key                // the choice of a program
	once      []int         // by program of invariants: its number of intervals; 0: it was not run
	want      chunk.Wants   // by relation: the arrays that cells carry
	memory    memory        // how the budget of a device is divided
	predicted *sim.Timeline // of a training epoch on the machine; nil: no machine
	scorer    *Program      // evaluates by sampling, or exactly over shards; nil: this program evaluates, exactly
	endAhead  func()        // ends compiling ahead; nil: nothing is compiled
}

// end ends what is compiled ahead.
func (c *chosen) end() {
	if c.endAhead != nil {
		c.endAhead()
	}
	if c.scorer != nil {
		c.scorer.chosen.end()
	}
}

// unit is one lowered program with its plan.
type unit struct {
	low  *dataflow.Lowered
	plan *plan.Plan
}

// hostPlaces says what lies in host memory and what in files: invariants, which outlive sessions, and
// what the last session needs.
type hostPlaces struct {
	plan   *plan.HostPlan              // of the session that was planned last
	onDisk map[string]bool             // by invariant: it lies in a file
	files  map[string]*device.HostFile // these files
}

// newProgram is the program of r before anything is chosen: its inputs, and what a trace must
// know of them. The error says what is wrong with r.
func newProgram(r request) (*Program, error) {
	r.cfg.Optimizer.defaults(r.cfg.Epochs)
	if r.data != nil {
		if err := r.cfg.sharded(r.data, &r.model, r.output); err != nil {
			return nil, err
		}
	}
	if err := r.cfg.Validate(); err != nil {
		return nil, err
	}
	d := &definition{request: r, goal: goalOf(r.output)}
	p := &Program{definition: d, on: planTarget{definition: d}, grids: grids{definition: d, sizes: map[gridOf]*chunk.GridStats{}, byRelation: map[gridOf][]chunk.GridStats{}}}
	p.grids.stages = &p.stages
	describe := d.describeData
	if r.data != nil && r.data.Vertices.Kinds != nil {
		describe = d.describeKinds
	}
	if r.shape != nil {
		describe = d.describeShape
	}
	if err := describe(); err != nil {
		return nil, err
	}
	p.stepDims, p.mode = p.dims, whole{p}
	return p, nil
}

// updates is how many times the parameters were updated.
func (p *Program) updates() int { return p.run.count }

// clock is the number that dropout is keyed by: the number of updates so far.
func (p *Program) clock() uint64 { return uint64(min(p.updates(), math.MaxUint32)) }

// units are training, evaluation if it is planned, and for links the forward pass of training; or
// the one forward pass of the program.
func (p *Program) units() []*unit {
	if p.eval == nil {
		return []*unit{p.train}
	}
	if p.in != nil && p.in.link != nil && p.in.link.ahead != nil {
		return []*unit{p.train, p.eval, p.in.link.ahead}
	}
	return []*unit{p.train, p.eval}
}

// plans are the plans of units that go over the full graph.
func (p *Program) plans() (list []*plan.Plan) {
	for _, u := range p.units() {
		if u.plan.Places.Sets == nil { // not over sampled blocks
			list = append(list, u.plan)
		}
	}
	return list
}

// PlannedPeak is how many bytes of memory the plans of training and evaluation need on each device.
func (p *Program) PlannedPeak() int64 {
	most := int64(0)
	for _, u := range p.units() {
		most = max(most, u.plan.Peak)
	}
	return most
}
