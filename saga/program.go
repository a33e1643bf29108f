package saga

import (
	"errors"
	"fmt"
	"slices"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
	"sagann/dataflow/tune"
	"sagann/dataset"
	"sagann/device"
	"sagann/saga/rows"
)

// Program is a model compiled for a graph, a device and a memory budget.
type Program struct {
	model   Model
	cfg     Config // validated: nothing assigns to it
	data    *dataset.Data
	shape   *Shape // planned from statistics: there is no data, and nothing can run; nil: from data
	output  string // the output of a program for one forward pass; "": training and evaluation
	in      *inputs
	dims    dims
	params  []Param
	on      planTarget
	grids   grids
	chosen  chosen
	train   *unit // or the forward pass
	eval    *unit // nil: a forward pass, or chosen.scorer evaluates
	host    hostPlaces
	session *session // nil: not open
	closed  bool     // Close was called, and Open not since
	epoch   int      // number of completed epochs
	sampled *sampled // nil: every step is over the full graph
	plateau plateau  // state of ScheduleReduce
	stages  Stages
}

// inputs are the vertex inputs of a program's data, and what only some programs have of them.
type inputs struct {
	*rows.Inputs
	link *linker // nil: the task is not LinkTask
}

// planTarget is what plans are chosen for.
type planTarget struct {
	machine *sim.Machine   // nil: no model
	ring    *plan.Topology // of its devices; nil: nothing is known of them
	cards   cards          // what GPUs have
}

// chosen is what was chosen for training, and what follows from it.
type chosen struct {
	tune.Key                // the choice of a program
	once      []int         // by program of invariants: its number of intervals; 0: it was not run
	want      chunk.Want    // the arrays that cells carry
	memory    memory        // how the budget of a device is divided
	predicted *sim.Timeline // of a training epoch on the machine; nil: no machine
	scorer    *Program      // evaluates by sampling, or exactly over shards; nil: this program evaluates, exactly
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

// request is what Compile, Plan and Predict ask for.
type request struct {
	model  Model
	data   *dataset.Data // nil: shape
	shape  *Shape        // nil: data
	cfg    Config
	output string // "hidden" or "logits" of one forward pass; "": training and evaluation
}

// newProgram is the program of r before anything is chosen: its inputs, and what a trace must
// know of them. The error says what is wrong with r.
func newProgram(r request) (*Program, error) {
	p := &Program{model: r.model, data: r.data, shape: r.shape, output: r.output, grids: grids{sizes: map[int]*chunk.GridStats{}}}
	r.cfg.Optimizer.defaults(r.cfg.Epochs)
	if r.data != nil {
		if err := r.cfg.sharded(r.data, &r.model, r.output); err != nil {
			return nil, err
		}
	}
	if err := r.cfg.Validate(); err != nil {
		return nil, err
	}
	p.cfg = r.cfg
	if r.shape != nil {
		return p, p.describeShape()
	}
	if err := p.describeData(); err != nil {
		return nil, err
	}
	if t := p.dims.taskName(); t != VertexTask && r.output == "" && slices.Contains(p.cfg.Outputs, "logits") {
		return nil, fmt.Errorf("saga: a step has no output \"logits\": those of a %s task are no rows of vertices", t)
	}
	return p, nil
}

// describeRows finds the dims of rows that are learned in place of features of v vertices: an
// embedding, or the rows of weights that features would be multiplied with.
func (p *Program) describeRows(v int) error {
	d := &p.dims
	d.vertices, d.embedding = v, p.model.Embedding
	if d.identity = d.embedding == 0 && d.features == 0; d.identity {
		d.features = v
	}
	switch {
	case d.identity && p.model.Average > 0:
		return &FeaturesError{errors.New("Model.Average averages no rows of vertices")}
	case d.embedding == 0 && !d.identity:
		return nil
	case p.cfg.Optimizer.ClipNorm > 0:
		return errors.New("saga: gradients are not clipped together with rows that are learned a vertex at a time; leave Optimizer.ClipNorm 0")
	case d.featureGrad:
		return errors.New("saga: there are no features to compute the gradient of")
	case d.embedding > 0:
		d.features = d.embedding
	}
	return nil
}

// describeData finds the inputs and dims of a program with data. The error says what of the data
// does not fit the model.
func (p *Program) describeData() error {
	d, m := p.data, &p.model
	switch {
	case d == nil:
		return fmt.Errorf("saga: no data")
	case dataset.Validate(d) != nil:
		return dataset.Validate(d)
	case !(m.Average >= 0 && m.Average < 1):
		return fmt.Errorf("saga: the share %v of averages of parameters; from 0 to below 1", m.Average)
	case m.MeanLoops && m.SelfLoops && d.Shard != nil:
		return errors.New("saga: the self loops of shards have numbers 0, and Model.MeanLoops is for means")
	case m.Embedding < 0:
		return fmt.Errorf("saga: rows of %d columns cannot be learned", m.Embedding)
	}
	e := d.Edges
	if m.SelfLoops && d.Shard == nil { // a shard has them already
		if e = e.WithSelfLoops(); m.MeanLoops {
			e = e.MeanLoops(d.Edges.E())
		}
	}
	p.dims = dims{features: d.FeatureCols, types: e.Types, data: e.DataCols, weight: e.Weight != nil, task: m.Task, loss: m.Loss, featureGrad: p.cfg.featureGrad() && p.output == ""}
	if err := p.describeRows(e.V); err != nil {
		return err
	}
	wide := d.Sets(p.dims.taskName()) // labels that are rows of numbers
	if m.Loss.numbers() {
		wide = d.Targets.Of(p.dims.taskName())
	}
	switch m.Task {
	case EdgeTask:
		p.dims.classes = d.EdgeClasses()
		if p.output == "" {
			p.dims.labels.targets = wide.Cols
		}
		e = withLabels(e, d, wide, p.dims.labels.targets)
	case GraphTask:
		var err error
		if p.dims.graphs, err = graphCount(d); err != nil {
			return err
		}
		p.dims.classes = d.GraphClasses()
	case LinkTask:
	default:
		p.dims.classes = d.Classes
	}
	p.dims.labels.multi = !m.Loss.numbers() && wide.Rows != nil
	p.dims.labels.partial = p.dims.labels.multi && !wide.AllKnown()
	if m.Loss.numbers() {
		p.dims.classes = wide.Cols
	}
	if p.output != "" { // there may be no labels
		p.dims.classes, p.dims.labels.multi, p.dims.labels.partial = 0, false, false
	} else if err := p.checkLoss(); err != nil {
		return err
	}
	meaning := rows.Meaning{Numbers: m.Loss.numbers(), Rows: wide, Partial: p.dims.labels.partial, Graphs: m.Task == GraphTask, ClassWeights: m.Loss.ClassWeights, PosWeights: m.Loss.PosWeights}
	p.in = &inputs{Inputs: rows.New(d, e, meaning, m.SelfLoops && m.OneLoop)}
	p.dims.labels.share = p.in.Mean(d.EdgeSplit.Train)
	if m.Task == LinkTask {
		return p.describeLinks()
	}
	return p.describeSparse(d)
}
