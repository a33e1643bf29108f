package saga

import (
	"errors"
	"fmt"
	"slices"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/sim"
	"sagann/dataset"
	"sagann/device"
)

// Program is a model compiled for a graph, a device and a memory budget.
type Program struct {
	model     Model
	cfg       Config
	data      *dataset.Data
	in        *inputs
	dims      dims
	order     *chunk.Order
	ordered   int                      // number of intervals that order is for; 0: none yet
	sizes     map[int]*chunk.GridStats // counted, by number of intervals
	grid      *gridAt                  // built last
	want      chunk.Want
	session   *session // nil: not open
	closed    bool     // by Close, and not opened since
	train     *unit
	eval      *unit
	params    []Param
	epoch     int            // completed
	memory    memory         // how the budget of a device is divided
	shape     *Shape         // planned from statistics: nothing can run
	machine   *sim.Machine   // that plans are chosen for; nil: none
	topology  *plan.Topology // of machine's devices; nil: nothing is known of them
	predicted *sim.Timeline  // of a training epoch on machine
	saved     string         // what is stored for the backward pass
	store     []string       // and values stored beside that
	packed    bool           // cells hold far ends packed
	slices    int            // of columns that gathers are split into, where they can be
	once      []int          // by program of invariants the number of intervals; 0: it was not run
	inv       map[string][]byte
	stages    Stages

	host       *plan.HostPlan              // of the session that was planned last
	files      []*device.HostFile          // of inv
	extraDisk  map[string]bool             // invariants that lie in files
	extraFiles map[string]*device.HostFile // and those files
}

// unit is one lowered program with its plan and, once it runs, its runner.
type unit struct {
	low  *dataflow.Lowered
	plan *plan.Plan
	run  *exec.Runner
}

// Compile traces m, compiles it and plans it for d within c. A wrong shape in a
// user's function is an error that names layer, op, shapes, file and line; a budget
// that is too small is a *plan.BudgetError, of host memory a *plan.HostError, that names
// the smallest one that would do.
func Compile(m Model, d *dataset.Data, c Config) (*Program, error) {
	c.Optimizer.defaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if d == nil {
		return nil, errors.New("saga: no data")
	}
	if err := dataset.Validate(d); err != nil {
		return nil, err
	}
	if d.FeatureCols == 0 {
		return nil, fmt.Errorf("saga: %s has no features; one-hot features can be made with dataset.OneHotFeatures", d.Name)
	}
	p, err := newProgram(m, d, c)
	if err != nil {
		return nil, err
	}
	p.dims.featureGrad = c.FeatureGrad
	if err := p.outputsExist(); err != nil {
		return nil, err
	}
	if err := p.compile(); err != nil {
		return nil, err
	}
	return p, nil
}

// compile chooses the programs and their plans, and where in host memory they lie.
func (p *Program) compile() error {
	if err := p.openMachine(); err != nil {
		return err
	}
	c := p.chooser()
	x, err := c.choose()
	if err != nil {
		return p.budget(c, err)
	}
	p.train, p.eval = &unit{low: x.train, plan: x.plan}, &unit{low: x.eval}
	p.want, p.memory, p.once, p.predicted = x.want, x.memory, make([]int, len(x.once)), x.line
	p.packed, p.slices, p.saved, p.store = x.Packed, x.Slices, x.Save, x.Stored()
	o := p.planOptions()
	o.Budget, o.Schedule, o.Base = p.memory.plans(), x.plan.Schedule, x.plan
	if p.eval.plan, err = planner.New(x.eval.Spec, p.cells, o); err != nil {
		return p.budget(c, err)
	}
	if p.shape != nil {
		err = p.onceFit(x.once)
	}
	for k, l := range x.once {
		if err == nil && p.shape == nil {
			err = p.runOnce(l, k)
		}
	}
	if err != nil {
		return p.leastHost(p.budget(c, err), x.once)
	}
	if p.shape == nil {
		p.orderFor(x.plan.Cells.P)
	}
	return p.placeTraining(x.once)
}

// newProgram is a program for m on d before it is compiled: its inputs, and what a
// trace must know of them.
func newProgram(m Model, d *dataset.Data, c Config) (*Program, error) {
	e := d.Edges
	if m.SelfLoops {
		e = e.WithSelfLoops()
	}
	p := &Program{model: m, cfg: c, data: d, sizes: map[int]*chunk.GridStats{}, inv: map[string][]byte{}}
	p.dims = dims{features: d.FeatureCols, types: e.Types, data: e.DataCols, weight: e.Weight != nil, task: m.Task}
	switch m.Task {
	case EdgeTask:
		p.dims.classes, p.dims.train = d.EdgeClasses(), len(d.EdgeTrain)
		e = withLabels(e, d)
	case GraphTask:
		var err error
		if p.dims.graphs, err = graphCount(d); err != nil {
			return nil, err
		}
		p.dims.classes = d.GraphClasses()
	default:
		p.dims.classes, p.dims.multi = d.Classes, d.MultiLabels != nil
	}
	p.in = newInputs(d, e)
	p.in.graphs = m.Task == GraphTask
	return p, nil
}

// outputsExist refuses outputs of a training step that are no rows of vertices.
func (p *Program) outputsExist() error {
	if t := p.dims.taskName(); t != VertexTask && slices.Contains(p.cfg.Outputs, "logits") {
		return fmt.Errorf("saga: a step has no output \"logits\": those of a %s task are no rows of vertices", t)
	}
	return nil
}
