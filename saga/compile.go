package saga

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
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
	ordered   int                 // number of intervals that order is for; 0: none yet
	sizing    *sync.Mutex         // of the next two
	sizes     map[int]*plan.Cells // by number of intervals
	likely    map[likely]*plan.Cells
	grid      *gridAt // built last
	want      chunk.Want
	session   *session // nil: not open
	closed    bool     // by Close, and not opened since
	train     *unit
	eval      *unit
	params    []Param
	epoch     int            // completed
	kept      int64          // bytes of the budget that the machine keeps for itself
	context   int64          // and of its memory, budget or not
	reserve   int64          // bytes of each GPU that kernels need beside the plans
	expected  *Shape         // while statistics choose: what cells of the graph are expected
	guess     guess          // what they have chosen
	shape     *Shape         // planned from statistics: nothing can run
	machine   *plan.Machine  // that plans are chosen for; nil: none
	topology  *plan.Topology // of machine's devices; nil: nothing is known of them
	predicted *plan.Timeline // of a training epoch on machine
	saved     string         // what is stored for the backward pass
	store     []string       // and values stored beside that
	asked     int64          // Config.Mem as it was given
	packed    bool           // cells hold far ends packed
	base      *saved         // the plan that chose so; nil: none did
	slices    int            // of columns; 0: as cfg says
	near      int            // intervals of the plan that chose them; 0: none did
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
	p, err := compile(m, d, c)
	if p.packedMayFit(err) {
		c.Packing = PackingOn
		p, err = compile(m, d, c)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// compile is Compile for one choice of packing; with an error the program, where there is
// one, tells which that was.
func compile(m Model, d *dataset.Data, c Config) (*Program, error) {
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
	if err := p.openMachine(); err != nil {
		return nil, err
	}
	once, err := p.lower()
	if err != nil {
		return nil, err
	}
	p.machineMemory()
	if err := p.keepForGPU(p.train.low.Spec); err != nil {
		return nil, err
	}
	if err := p.reserveScratch(once); err != nil {
		return nil, err
	}
	if once, err = p.choosePacking(once); err != nil {
		return nil, err
	}
	if once, err = p.chooseSlices(once); err != nil {
		return nil, err
	}
	if err := p.makeAll(func() error {
		for k, l := range once {
			if err := p.runOnce(l, k); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return p, p.leastHost(p.budget(err, once), once)
	}
	return p, p.placeTraining(once)
}

// newProgram is a program for m on d before it is compiled: its inputs, and what a
// trace must know of them.
func newProgram(m Model, d *dataset.Data, c Config) (*Program, error) {
	e := d.Edges
	if m.SelfLoops {
		e = e.WithSelfLoops()
	}
	p := &Program{model: m, cfg: c, asked: c.Mem, data: d, sizing: new(sync.Mutex), sizes: map[int]*plan.Cells{}, likely: map[likely]*plan.Cells{}, inv: map[string][]byte{}, store: c.Store}
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
