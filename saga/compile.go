package saga

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/device"
	"sagann/ops"
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
	devices   []device.Device
	arena     *exec.Arena
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
	packed    bool           // cells hold far ends packed
	base      *saved         // the plan that chose so; nil: none did
	slices    int            // of columns; 0: as cfg says
	near      int            // intervals of the plan that chose them; 0: none did
	once      []int          // by program of invariants the number of intervals; 0: it was not run
	inv       map[string][]byte
	constsOf  *unit // whose constants are in device memory
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

type gridAt struct {
	order *chunk.Order
	grid  *chunk.Grid
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
		return nil, p.leastHost(p.budget(err, once), once)
	}
	if err := p.placeTraining(once); err != nil {
		return nil, err
	}
	return p, nil
}

// lower makes the training and the evaluation program, and returns what computes
// their invariants.
func (p *Program) lower() (once []*dataflow.Lowered, err error) {
	train, onceTrain, err := p.lowerTrain()
	if err != nil {
		return nil, err
	}
	eval, onceEval, err := p.lowerEval()
	if err != nil {
		return nil, err
	}
	p.train, p.eval = &unit{low: train}, &unit{low: eval}
	for _, l := range []*dataflow.Lowered{onceTrain, onceEval} {
		if l != nil {
			once, p.once = append(once, l), append(p.once, 0)
		}
	}
	for _, l := range append([]*dataflow.Lowered{train, eval}, once...) {
		p.want = union(p.want, l.Want)
	}
	return once, nil
}

// budget completes a *plan.BudgetError: the smallest budget must do for the training
// and the evaluation plan and for what is computed once.
func (p *Program) budget(err error, once []*dataflow.Lowered) error {
	var small *plan.BudgetError
	if !errors.As(err, &small) {
		return err
	}
	o := p.planOptions()
	schedules := []string{o.Schedule}
	if o.Schedule == plan.Auto {
		schedules = []string{plan.Sag, plan.Stage, plan.DestOrder}
	}
	trains := []*dataflow.Lowered{p.train.low}
	if other, wrong := p.otherSave(); wrong != nil {
		return wrong
	} else if other != nil {
		trains = append(trains, other)
	}
	var least *plan.BudgetError
	for _, o.Schedule = range schedules {
		for _, train := range trains {
			all := &plan.BudgetError{Budget: p.cfg.Mem}
			ask := func(s *plan.Spec, o plan.Options) {
				var e *plan.BudgetError
				if _, err := plan.New(s, p.cells, o); errors.As(err, &e) && e.Smallest > all.Smallest {
					all.Smallest, all.P = e.Smallest, e.P
				}
			}
			o.Budget, o.Beside = 1, p.eval.low.Spec
			ask(train.Spec, o)
			for k, l := range once {
				ask(l.Spec, p.onceOptions(1, k))
			}
			if least == nil || all.Smallest < least.Smallest {
				least = all
			}
		}
	}
	least.Smallest += p.reserve + p.kept
	least.Budget += p.kept
	return least
}

// onceOptions are those of the plan of the k-th program that is run once: it need not be
// fast.
func (p *Program) onceOptions(budget int64, k int) plan.Options {
	o := p.planOptions()
	o.Budget = budget
	if k < len(p.cfg.Once) && p.cfg.Once[k] > 0 {
		o.P = p.cfg.Once[k]
	}
	if o.Schedule == plan.Auto {
		o.Schedule = plan.Sag
	}
	return o
}

// newProgram is a program for m on d before it is compiled: its inputs, and what a
// trace must know of them.
func newProgram(m Model, d *dataset.Data, c Config) (*Program, error) {
	e := d.Edges
	if m.SelfLoops {
		e = e.WithSelfLoops()
	}
	p := &Program{model: m, cfg: c, data: d, sizing: new(sync.Mutex), sizes: map[int]*plan.Cells{}, likely: map[likely]*plan.Cells{}, inv: map[string][]byte{}, store: c.Store}
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

func union(a, b chunk.Want) chunk.Want {
	return chunk.Want{Rank: a.Rank || b.Rank, Type: a.Type || b.Type, Weight: a.Weight || b.Weight,
		Data: a.Data || b.Data, CSC: a.CSC || b.CSC, CSR: a.CSR || b.CSR, Pack: a.Pack || b.Pack}
}

func (p *Program) options() dataflow.Options {
	o := dataflow.Options{Without: map[string]bool{}, Save: p.cfg.saveOption(), Storage: p.cfg.Storage, Slices: p.sliceCount(), Packed: p.packed}
	for _, w := range p.cfg.Without {
		o.Without[w] = true
	}
	return o
}

func (p *Program) lowerTrain() (main, once *dataflow.Lowered, err error) {
	tr, err := trace(p.model, p.dims, true)
	if err != nil {
		return nil, nil, err
	}
	p.params = tr.t.list
	prog := &dataflow.Program{Names: []string{"loss"}, Outs: []Tensor{tr.loss()}}
	for _, o := range p.cfg.Outputs {
		prog.Names = append(prog.Names, o)
		prog.Outs = append(prog.Outs, map[string]Tensor{"hidden": tr.rows, "logits": tr.logits}[o])
	}
	for _, q := range p.params {
		prog.Wrt = append(prog.Wrt, tr.t.params[q.Name])
	}
	if p.dims.featureGrad {
		prog.Wrt = append(prog.Wrt, tr.features)
	}
	o := p.options()
	o.Store = p.store
	main, once, err = dataflow.Compile(prog, o)
	if err != nil {
		return nil, nil, err
	}
	p.addUpdate(main)
	return main, once, nil
}

// addUpdate gives every parameter that has a gradient its optimiser state.
func (p *Program) addUpdate(l *dataflow.Lowered) {
	s := l.Spec
	for _, q := range p.params {
		w, used := l.Globals[q.Name]
		if !used {
			s.Globals = append(s.Globals, plan.Global{Name: q.Name, Kind: plan.Param, Rows: q.Rows, Cols: q.Cols})
			w = len(s.Globals) - 1
			l.Globals[q.Name] = w
		}
		g, ok := l.Globals["grad:"+q.Name]
		if !ok {
			continue
		}
		s.Updates = append(s.Updates, plan.Move{Param: w, Grad: g})
		for k := range p.cfg.Optimizer.moments() {
			name := fmt.Sprintf("moment%d:%s", k+1, q.Name)
			s.Globals = append(s.Globals, plan.Global{Name: name, Kind: plan.Param, Rows: q.Rows, Cols: q.Cols})
			l.Globals[name] = len(s.Globals) - 1
		}
	}
	s.Results = append(s.Results, l.Globals["loss"])
}

// lowerEval is the forward pass without dropout, with counts by split.
func (p *Program) lowerEval() (main, once *dataflow.Lowered, err error) {
	tr, err := trace(p.model, p.dims, false)
	if err != nil {
		return nil, nil, err
	}
	splits := tr.target.splits()
	rowLoss := tr.rowLoss(ops.RowSum(splits)) // what is in no split may have no label
	prog := &dataflow.Program{Loss: -1}
	add := func(name string, x Tensor) {
		prog.Names, prog.Outs = append(prog.Names, name), append(prog.Outs, ops.MatMulTN(splits, x))
	}
	add("losses", rowLoss)
	if p.dims.multi {
		y, pos := tr.target.labels(), ops.Positive(tr.logits)
		add("hits", ops.Mul(pos, y))
		add("said", pos)
		add("true", y)
	} else {
		add("hits", ops.Correct(tr.logits, tr.target.labels()))
	}
	main, once, err = dataflow.Compile(prog, p.options())
	if err != nil {
		return nil, nil, err
	}
	for _, n := range prog.Names {
		main.Spec.Results = append(main.Spec.Results, main.Globals[n])
	}
	return main, once, nil
}

// likely names expected cells.
type likely struct {
	n    int
	want chunk.Want
	of   *Shape
}

// cells are the sizes of the grid for n intervals, which need not be built for that. Plans
// that are made side by side ask for them.
func (p *Program) cells(n int) (*plan.Cells, error) {
	p.sizing.Lock()
	defer p.sizing.Unlock()
	if s := cmp.Or(p.shape, p.expected); s != nil {
		k := likely{n, p.want, s}
		if p.likely[k] == nil {
			p.likely[k] = s.cells(n, p.want)
		}
		return p.likely[k], nil
	}
	if c := p.sizes[n]; c != nil {
		return c, nil
	}
	o := p.orderFor(n)
	defer since(&p.stages.Count, time.Now())
	st := chunk.Stats(p.in.edges, o, n)
	if st.P != n {
		return nil, fmt.Errorf("saga: %d intervals; a grid has at most %d", n, chunk.MaxIntervals)
	}
	c := &plan.Cells{V: st.V, P: n, Width: st.Width}
	for d, at := range [2]func(own, other int, w chunk.Want) chunk.Cell{plan.CSC: st.CSC, plan.CSR: st.CSR} {
		if ![2]bool{plan.CSC: p.want.CSC, plan.CSR: p.want.CSR}[d] {
			continue
		}
		for i := range n * n {
			cell := at(i/n, i%n, p.want)
			c.Bytes[d] = append(c.Bytes[d], cell.Bytes)
			c.NNZ[d] = append(c.NNZ[d], cell.NNZ)
			c.Needs[d] = append(c.Needs[d], int64(cell.Needs))
		}
	}
	p.sizes[n] = c
	return c, nil
}

// orderFor is the vertex order for n intervals; the last one is kept.
func (p *Program) orderFor(n int) *chunk.Order {
	if p.ordered != n {
		defer since(&p.stages.Order, time.Now())
		p.ordered = n
		switch {
		case p.cfg.without("balance"):
			p.order = chunk.Identity(p.in.edges.V)
		case p.cfg.without("degree-sort"):
			p.order = chunk.Deal(p.in.edges, n)
		default:
			p.order = chunk.Balance(p.in.edges, n)
		}
	}
	return p.order
}

// gridFor builds the grid for n intervals, one at a time.
func (p *Program) gridFor(n int) (*gridAt, error) {
	if p.grid != nil && p.grid.grid.P == n {
		return p.grid, nil
	}
	p.grid = nil
	g := &gridAt{order: p.orderFor(n)}
	defer since(&p.stages.Grid, time.Now())
	var err error
	memory := chunk.Memory{Scratch: device.Scratch, Fresh: device.Fresh}
	if g.grid, err = memory.Build(p.in.edges, g.order, n, p.want); err != nil {
		return nil, err
	}
	p.grid = g
	return g, nil
}

func (p *Program) planOptions() plan.Options {
	o := plan.Options{Budget: p.planBudget(), Devices: p.cfg.devices(), Ring: !p.cfg.NoRing, Topology: p.topology, P: p.cfg.Chunks, MinP: p.cfg.MinChunks, Schedule: p.cfg.Schedule,
		Stream: p.cfg.Stream || p.cfg.without("residency"), Serial: p.cfg.without("stream"), Straight: p.cfg.without("serpentine"),
		Whole: p.cfg.without("row-gather")}
	if p.guess.p > 0 {
		if o.P = p.guess.p; o.Schedule == plan.Auto {
			o.Schedule = p.guess.schedule
		}
	}
	if p.machine != nil {
		o.HostMem, o.Staging = p.cfg.HostMem, device.Staging(p.cfg.Device)
	}
	if p.cfg.Prefetch > 0 {
		o.Slots = p.cfg.Prefetch + 1
	}
	return o
}

func (p *Program) makePlans() error {
	var err error
	o := p.planOptions()
	o.Beside, o.Near = p.eval.low.Spec, p.near
	if p.machine != nil {
		o.Quick = p.cfg.Save == "" || p.cfg.Save == SaveAuto // chooseSave has the last word
		p.train.plan, p.predicted, err = plan.Search(p.train.low.Spec, p.cells, o, p.machine)
		var small *plan.BudgetError
		if o.Near > 0 && errors.As(err, &small) { // other numbers than expected cells let hope for
			o.Near = 0
			p.train.plan, p.predicted, err = plan.Search(p.train.low.Spec, p.cells, o, p.machine)
		}
	} else {
		p.train.plan, err = plan.New(p.train.low.Spec, p.cells, o)
	}
	if err != nil {
		return err
	}
	if err := p.chooseSave(o); err != nil {
		return err
	}
	o.Schedule = p.train.plan.Schedule
	if p.shape == nil && p.expected == nil {
		p.orderFor(p.train.plan.Cells.P)
	}
	o.Beside, o.Near, o.Base = nil, 0, p.train.plan
	p.eval.plan, err = plan.New(p.eval.low.Spec, p.cells, o)
	return err
}
