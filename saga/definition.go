package saga

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataflow/tune"
	"sagann/dataset"
	"sagann/saga/batches"
	"sagann/saga/rows"
)

// request is what Compile, Plan and Predict ask for.
type request struct {
	model  Model
	data   *dataset.Data    // nil: shape
	shape  *Shape           // nil: data
	cfg    Config           // once there is a program, it is validated: nothing assigns to it
	output string           // "hidden" or "logits" of one forward pass; "": training and evaluation
	typ    string           // with "hidden": the vertex type that has the rows; "": the target
	part   *portion         // data is a part of a graph; nil: all of it
	at     *batches.Moments // what is answered, in place of vertices at their own times; nil: these
	ends   []int            // of several types: numbers of those that the model gives rows of, target or not; nil: as the task says
	names  int              // layers that gather of the model by which parameters are named; 0: those of model
	of     *Planner         // with which the search shares what it finds; nil: none
}

// inputs are the vertex inputs of a program's data, and what only some programs have of them.
type inputs struct {
	*rows.Inputs
	link  *linker // nil: the task is not LinkTask
	kinds *kinds  // nil: there is one vertex type and one relation
}

// goal is what the programs of a definition are for: learning trains and evaluates, pass is one forward pass for an output,
// and scores a forward pass that scores every split.
type goal interface {
	labels(p *definition) error // an error if the data's labels do not suit
	trace(p *definition) (*dataflow.Program, error)
	beside(p *definition, o dataflow.Options, x *optimized) error // adds what is optimised beside the traced program
	results(p *definition, x *compiled)                           // says which Globals a step brings to the host
	plan(c *chooser) (*choice, error)
	keys(c *chooser) []tune.Key      // programs that plan may choose among
	options(c *chooser) plan.Options // for the smallest budget of one of them
	searched() bool                  // plans are searched by a machine model, if there is one
}

type (
	learning struct{}
	pass     struct{ output string }
	scores   struct{ pass }
)

// goalOf is the goal of a request for an output; "" asks for training.
func goalOf(output string) goal {
	switch output {
	case "":
		return learning{}
	case outputScores:
		return scores{}
	}
	return pass{output}
}

// outputScores is the output of a program that scores every split.
const outputScores = "scores"

// labels checks the loss and the outputs.
func (learning) labels(p *definition) error {
	if err := p.checkLoss(); err != nil {
		return err
	}
	if t := p.dims.taskName(); t != VertexTask && slices.Contains(p.cfg.Outputs, "logits") {
		return fmt.Errorf("saga: a step has no output \"logits\": those of a %s task are no rows of vertices", t)
	}
	return nil
}

// labels takes away what is known of labels: there may be none.
func (pass) labels(p *definition) error {
	p.dims.classes, p.dims.labels.multi, p.dims.labels.partial = 0, false, false
	return nil
}

// definition is what a program is made of, and what is known of it before anything is chosen. It makes the programs that
// are planned.
type definition struct {
	request
	goal     goal
	given    *Shape // shape, before self loops were added
	in       *inputs
	dims     dims           // of the data
	stepDims dims           // of a training step: dims, or in sampled training those of a batch
	rooms    *batches.Rooms // sizes of batches; nil: steps are over the full graph
	params   []Param
}

// totals are the numbers of vertices and of edges, with the self loops that the model adds.
func (p *definition) totals() (vertices int, edges int64) {
	if s := p.shape; s != nil {
		return s.Vertices, s.Edges
	}
	if p.in.kinds != nil {
		return p.in.kinds.totals()
	}
	return p.in.Edges.V, int64(p.in.EdgeCount())
}

// ranks is the number of ranks over which the devices of a plan are spread. In sampled training it is 1, since each
// device has a plan of its own.
func (p *definition) ranks() int {
	if p.stepDims.levels > 0 {
		return 1
	}
	return p.cfg.Net.Ranks()
}

// describeLinks sets up what only programs of a LinkTask have.
func (p *definition) describeLinks() error {
	m, d := &p.model, p.data
	if m.LinkHead == "" {
		m.LinkHead = LinkDot
	}
	if l := d.Targets.Links; l != nil {
		p.dims.link.types = l.Types
	}
	if err := m.LinkHead.check(); err != nil || p.output != "" {
		return err
	}
	switch {
	case p.dims.link.types > 0 && m.LinkHead != LinkDistMult:
		return fmt.Errorf("saga: links of all relations need a head that tells relations apart, as %s; this is %s", LinkDistMult, m.LinkHead)
	case d.Targets.Links == nil:
		return fmt.Errorf("saga: %s does not say which links to predict; dataset.SplitLinks does", d.Name)
	case m.Loss.Kind != "" && m.Loss.Kind != LossCrossEntropy || m.Loss.ClassWeights != nil || m.Loss.PosWeights != nil:
		return errors.New("saga: links are learned by the cross-entropy of edge and no edge, without weights")
	}
	p.in.link = &linker{links: d.Targets.Links, head: m.LinkHead}
	none := func() rows.Source { return rows.Source{Row: func(_ int, to []float32) { clear(to) }} }
	p.in.Make(linkSeed, 1, none)
	if k := p.in.kinds; k != nil && len(k.ends) > 1 {
		p.in.farEnd().Make(linkFar, 1, none)
	}
	return nil
}

// describeSparse makes d's features a sparse input if they are sparse and the model reads them.
func (p *definition) describeSparse(d *dataset.Data) error {
	if d.Features != nil || d.Late.Sparse == nil || p.model.Embedding > 0 {
		return nil
	}
	if p.dims.featureGrad {
		return errors.New("saga: there is no gradient of sparse features; Data.HoldFeatures makes them dense")
	}
	p.dims.sparse = true
	p.in.MakeSparse()
	return nil
}

// agreed is err, or the error of another rank; what is what it is about. If only one rank stopped, the others would wait for it for ever.
func (p *definition) agreed(what string, err error) error { return p.cfg.Net.Agree(what, err) }

// describeShape finds the dims of a program that is planned from statistics.
func (p *definition) describeShape() error {
	s, m := p.shape, &p.model
	if s.Vertices < 1 || s.Edges < 0 || s.Features < 1 || s.Classes < 1 || !(s.Skew >= 0 && s.Skew <= 2) {
		return fmt.Errorf("saga: shape %+v: vertices, features and classes are at least 1, skew is from 0 to 2", *s)
	}
	if m.Task != "" && m.Task != VertexTask {
		return fmt.Errorf("saga: planning from statistics knows labels of vertices only, not of a %s task", m.Task)
	}
	given := *s
	if p.given = &given; m.SelfLoops {
		s.Edges += int64(s.Vertices)
	}
	p.dims = dims{features: s.Features, classes: s.Classes, featureGrad: p.cfg.featureGrad()}
	return p.describeRows(s.Vertices)
}

// describeRows finds the dims of rows that are learned in place of features of v vertices: an
// embedding, or the rows of weights that features would be multiplied with.
func (p *definition) describeRows(v int) error {
	d := &p.dims
	d.vertices, d.embedding, d.embeddingInit = v, p.model.Embedding, p.model.EmbeddingInit
	if d.identity = d.embedding == 0 && d.features == 0; d.identity {
		d.features = v
	}
	if err := p.model.embeds(); err != nil {
		return err
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
func (p *definition) describeData() error {
	d, m := p.data, &p.model
	switch {
	case d == nil:
		return fmt.Errorf("saga: no data")
	case p.invalid() != nil:
		return p.invalid()
	case !(m.Average >= 0 && m.Average < 1):
		return fmt.Errorf("saga: the share %v of averages of parameters; from 0 to below 1", m.Average)
	}
	e := d.Edges
	if m.SelfLoops && d.Shard == nil { // a shard has them already
		if p.part != nil {
			e = e.WithSelfLoopsOf(p.part.vertices)
		} else {
			e = e.WithSelfLoops()
		}
		if m.MeanLoops {
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
		p.targetCols(wide)
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
	if err := p.goal.labels(p); err != nil {
		return err
	}
	meaning := rows.Meaning{Numbers: m.Loss.numbers(), Rows: wide, Partial: p.dims.labels.partial, Graphs: m.Task == GraphTask, ClassWeights: m.Loss.ClassWeights, PosWeights: m.Loss.PosWeights}
	p.in = &inputs{Inputs: rows.New(d, e, meaning, m.SelfLoops && m.OneLoop)}
	if p.part != nil {
		p.in.Whole, p.in.Degrees = p.part.degrees(m), p.part.inDegrees(m)
	}
	switch m.Task {
	case EdgeTask:
		p.dims.labels.share = p.in.Mean(d.EdgeSplit.Train)
	case LinkTask:
		return p.describeLinks()
	}
	return p.describeSparse(d)
}

// invalid is what is wrong with the data of p.
func (p *definition) invalid() error {
	if p.part != nil {
		return dataset.ValidateFor(p.data, p.part.vertices)
	}
	return dataset.Validate(p.data)
}

// describeKinds finds the inputs and dims of a graph of several types and relations. The error says what is not there for them.
func (p *definition) describeKinds() error {
	d, m := p.data, &p.model
	graph := d.Vertices.Kinds
	no := func(what string) error {
		return fmt.Errorf("saga: %s has several types of vertices or relations; with them there is no %s yet", d.Name, what)
	}
	switch {
	case m.Task == GraphTask:
		return no(fmt.Sprintf("task %s, only %s, %s and %s", m.Task, VertexTask, EdgeTask, LinkTask))
	case m.Task == EdgeTask && graph.PairV == 0:
		return fmt.Errorf("saga: %s does not say of which relation the edges have labels; dataset.Hetero.Edges does", d.Name)
	case p.cfg.featureGrad() && p.output == "":
		return no("gradient of the features")
	}
	if err := errors.Join(dataset.ValidateHetero(graph.Graph), dataset.Validate(d)); err != nil {
		return err
	}
	k := kindsOf(d, m, cmp.Or(p.names, m.gathers()), p.ends)
	if err := k.shardsFit(d, cmp.Or(p.names, m.gathers())); err != nil {
		return err
	}
	if n := len(k.types); p.cfg.Chunks > 0 && p.cfg.Chunks < n {
		return fmt.Errorf("saga: %d intervals (--chunks); %d vertex types need at least one each: %s", p.cfg.Chunks, n, strings.Join(k.typeNames(), ", "))
	}
	for i := range k.types {
		if k.types[i].in.Edges.V == 0 {
			return fmt.Errorf("saga: %s has no vertices of type %s", d.Name, k.types[i].name)
		}
	}
	task := cmp.Or(m.Task, VertexTask)
	wide, classes := d.Sets(task), task.ClassesOf(d)
	if m.Loss.numbers() && task != LinkTask {
		wide = d.Targets.Of(task)
	}
	if err := k.embed(m); err != nil {
		return err
	}
	t := &k.types[k.target]
	p.dims = dims{features: t.features, identity: t.identity, task: m.Task, loss: m.Loss, vertices: d.Edges.V, classes: classes, kinds: k, embedding: m.Embedding, embeddingInit: m.EmbeddingInit}
	p.dims.labels.multi = !m.Loss.numbers() && wide.Rows != nil
	p.dims.labels.partial = p.dims.labels.multi && !wide.AllKnown()
	if m.Loss.numbers() {
		p.dims.classes = wide.Cols
	}
	if err := p.goal.labels(p); err != nil {
		return err
	}
	t.in.Meaning = rows.Meaning{Numbers: m.Loss.numbers(), Rows: wide, Partial: p.dims.labels.partial, ClassWeights: m.Loss.ClassWeights, PosWeights: m.Loss.PosWeights}
	p.in = &inputs{Inputs: t.in, kinds: k}
	switch task {
	case LinkTask:
		if err := p.describeLinks(); err != nil {
			return err
		}
	case EdgeTask:
		k.label(p, wide)
	}
	return k.learnsRows(m, &p.cfg)
}

// trainable is an error if the data has no labels to train on, or no split that the configuration needs.
func (p *definition) trainable() error {
	d, task := p.data, p.dims.taskName()
	if task == LinkTask { // dataset.Validate has checked the splits
		return nil
	}
	splits := d.Splits(task)
	switch {
	case !d.Labelled(task) && task == VertexTask:
		return fmt.Errorf("saga: %s has no labels to train on", d.Name)
	case !d.Labelled(task):
		return fmt.Errorf("saga: %s has no %s labels to train on", d.Name, task)
	case len(splits[0]) == 0:
		return fmt.Errorf("saga: %s has no training %s; dataset.RandomSplitOf makes a split", d.Name, task.Plural())
	case p.cfg.Optimizer.Schedule.Kind == ScheduleReduce && len(splits[1]) == 0:
		return fmt.Errorf("saga: the schedule %s needs validation %s, and %s has none", ScheduleReduce, task.Plural(), d.Name)
	case p.cfg.Patience > 0 && len(splits[1]) == 0:
		return fmt.Errorf("saga: early stopping needs validation %s, and %s has none", task.Plural(), d.Name)
	}
	return nil
}

// checkLoss says what of the model's loss does not fit the data.
func (p *definition) checkLoss() error {
	d, l := p.data, &p.model.Loss
	if err := l.check(&p.dims, d.Name); err != nil {
		return err
	}
	task := p.dims.taskName()
	if task == LinkTask {
		return nil
	}
	t := d.Targets.Of(task)
	classes := d.Classed(task)
	switch {
	case !l.numbers() && !classes && t.Rows != nil:
		return fmt.Errorf("saga: %s has targets, which are numbers, and no labels, which are classes; the losses %s, %s and %s are for numbers", d.Name, LossMSE, LossMAE, LossHuber)
	case l.numbers() && t.Rows == nil && classes:
		return fmt.Errorf("saga: the labels of %s are classes, and the loss %s compares numbers: it needs targets; the loss %s is for classes", d.Name, l.Kind, LossCrossEntropy)
	case l.numbers() && t.Rows == nil:
		return fmt.Errorf("saga: %s has no targets of %s for the loss %s", d.Name, task.Plural(), l.Kind)
	case l.numbers():
		return t.Cover(task, d.Splits(task))
	}
	return nil
}
