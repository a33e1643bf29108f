package saga

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/ops"
	"sagann/saga/rows"
)

// optimize traces training and evaluation, or the forward pass, and runs the passes, for k slices of columns.
func (p *definition) optimize(k int) (*optimized, error) {
	o := p.options(k)
	train, err := p.goal.trace(p)
	if err != nil {
		return nil, err
	}
	x := &optimized{train: dataflow.Optimize(train, o)}
	x.sliced = slices.ContainsFunc(x.train.Notes(), func(n dataflow.Note) bool { return n.Pass == "slice" })
	return x, p.goal.beside(p, o, x)
}

func (learning) trace(p *definition) (*dataflow.Program, error) { return p.traceTrain() }

func (g pass) trace(p *definition) (*dataflow.Program, error) { return p.traceForward(g.output) }

func (scores) trace(p *definition) (*dataflow.Program, error) { return p.traceScores(p.stepDims) }

// beside adds evaluation, and the forward pass of a LinkTask.
func (learning) beside(p *definition, o dataflow.Options, x *optimized) error {
	eval, err := p.traceEval()
	if err != nil {
		return err
	}
	x.eval = dataflow.Optimize(eval, o)
	if p.in != nil && p.in.link != nil && p.stepDims.levels == 0 {
		ahead, err := p.traceLinks(true)
		if err != nil {
			return err
		}
		x.ahead = dataflow.Optimize(ahead, o)
	}
	return nil
}

func (pass) beside(*definition, dataflow.Options, *optimized) error { return nil }

// results are those of evaluation; training has its own (addUpdate).
func (learning) results(p *definition, x *compiled) { p.addResults(x.eval) }

func (pass) results(*definition, *compiled) {}

func (scores) results(p *definition, x *compiled) { p.addResults(x.train) }

// addResults makes the results of evaluation those of l.
func (p *definition) addResults(l *dataflow.Lowered) {
	for _, n := range p.evalNames() {
		l.Spec.Results = append(l.Spec.Results, l.Globals[n])
	}
}

// lower lowers o. It finds the arrays that cells must carry, and divides the budget of a device.
func (p *planTarget) lower(o *optimized, how dataflow.Lowering) (*compiled, error) {
	x := &compiled{}
	how.Finish = backend.Of(p.cfg.Device).GPU()
	add := func(o *dataflow.Optimized) (*dataflow.Lowered, error) {
		l, once, err := o.Lower(how)
		if once != nil {
			x.once = append(x.once, once)
		}
		return l, err
	}
	var err error
	if x.train, err = add(o.train); err != nil {
		return nil, err
	}
	if o.eval != nil {
		p.addUpdate(x.train)
		how.Store, how.Inside = nil, false // these are names of values of training
		if x.eval, err = add(o.eval); err != nil {
			return nil, err
		}
	}
	p.goal.results(p.definition, x)
	if x.train.Spec.Between = o.ahead != nil || p.cfg.EvalEvery < Seldom; o.ahead != nil {
		if x.ahead, err = add(o.ahead); err != nil {
			return nil, err
		}
	}
	for _, l := range x.programs() {
		if p.stepDims.levels > 0 && l == x.train { // batches have cells of their own
			continue
		}
		x.want = x.want.Join(l.Want)
	}
	for _, l := range x.programs() {
		if p.stepDims.levels == 0 || l != x.train {
			l.Ascend(x.want)
		}
	}
	x.memory, err = p.divide(x.train.Spec, x.want.Any(), x.programs()...)
	return x, err
}

// manyTypes is the least number of edge types from which CPUs multiply the sums of pairs of a vertex and a type. At 400,000 edges of
// 20,000 vertices rows for each vertex and type take as long with 2 types; with 8 about as long or a little longer, and 196 MB in place of 42.
const manyTypes = 8

// options are the options of the passes, for k slices of columns.
func (p *definition) options(k int) dataflow.Options {
	kind := backend.Of(p.cfg.Device)
	o := dataflow.Options{Without: map[string]bool{}, Storage: p.cfg.Storage, Slices: k, Bases: kind.GPU()}
	if kind.Host && (p.cfg.Machine == "" || p.cfg.Machine == kind.Model) {
		o.ByType = manyTypes
	}
	for _, w := range p.cfg.Without {
		o.Without[w] = true
	}
	if p.rooms != nil {
		o.Sizes = &p.rooms.Expected
	}
	return o
}

// traceTrain is the program of training before differentiation: loss and outputs, and what to
// differentiate the loss by.
func (p *definition) traceTrain() (*dataflow.Program, error) {
	tr, err := trace(p.model, p.stepDims, true)
	if err != nil {
		return nil, err
	}
	loss, err := tr.loss()
	if err != nil {
		return nil, err
	}
	if err := p.checkRowsRead(tr, loss); err != nil {
		return nil, err
	}
	prog := &dataflow.Program{Names: []string{"loss"}, Outs: []Tensor{loss}}
	for _, o := range p.cfg.Outputs {
		if o == outputFeatureGrad { // comes with the other gradients
			continue
		}
		prog.Names = append(prog.Names, o)
		prog.Outs = append(prog.Outs, map[string]Tensor{"hidden": tr.rows, "logits": tr.logits}[o])
	}
	frozen, err := p.model.kept(tr.t.list)
	if err != nil {
		return nil, err
	}
	for _, q := range tr.t.list {
		if q.Average == 0 && !frozen[q.Name] {
			prog.Wrt = append(prog.Wrt, tr.t.params[q.Name])
		}
	}
	tr.t.addAverages(prog, frozen)
	if p.dims.featureGrad {
		prog.Wrt = append(prog.Wrt, tr.features)
	}
	return p.resolve(prog, tr.t)
}

// kept says which parameters of list Model.Frozen names.
func (m *Model) kept(list []Param) (map[string]bool, error) {
	frozen := map[string]bool{}
	for _, name := range m.Frozen {
		found := false
		for _, q := range list {
			if q.Name == name || strings.HasPrefix(q.Name, name+".") {
				frozen[q.Name], found = true, true
			}
		}
		if !found {
			var names []string
			for _, q := range list {
				names = append(names, q.Name)
			}
			return nil, fmt.Errorf("saga: no parameter of the model is named %q, or begins with it, to be frozen; there are %s", name, strings.Join(names, ", "))
		}
	}
	if len(frozen) > 0 && !slices.ContainsFunc(list, func(q Param) bool { return !frozen[q.Name] && q.Average == 0 }) {
		return nil, errors.New("saga: all parameters are frozen: there would be nothing to learn")
	}
	return frozen, nil
}

// addUpdate adds the optimiser's update and state for every parameter that has a gradient, and makes
// the loss a result. Parameters that training does not use become Globals, too.
func (p *definition) addUpdate(l *dataflow.Lowered) {
	s := l.Spec
	for _, q := range p.params {
		if q.PerVertex {
			continue
		}
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
		for k := range p.momentsOf(&q) {
			name := momentName(k, q.Name)
			s.Globals = append(s.Globals, plan.Global{Name: name, Kind: plan.Param, Rows: q.Rows, Cols: q.Cols})
			l.Globals[name] = len(s.Globals) - 1
		}
	}
	s.Results = append(s.Results, l.Globals["loss"])
}

// evalNames are the names of the results of evaluation.
func (p *definition) evalNames() []string {
	if p.model.Task == LinkTask {
		return nil
	}
	if p.model.Loss.numbers() {
		return []string{"losses", "squares", "absolutes"}
	}
	if p.dims.labels.multi {
		return []string{"losses", "hits", "said", "true"}
	}
	return []string{"losses", "hits"}
}

// traceEval is the forward pass without dropout, with sums of losses and counts by split.
func (p *definition) traceEval() (*dataflow.Program, error) {
	if p.model.Task == LinkTask {
		return p.traceLinks(false)
	}
	return p.traceScores(p.dims)
}

// traceScores is the forward pass without dropout, with counts by split, over d.
func (p *definition) traceScores(d dims) (*dataflow.Program, error) {
	tr, err := trace(p.model, d, false)
	if err != nil {
		return nil, err
	}
	splits := tr.target.splits()
	loss, err := tr.rowLoss(ops.RowSum(splits)) // a vertex in no split may have no label
	if err != nil {
		return nil, err
	}
	list := []Tensor{loss}
	if p.model.Loss.numbers() {
		d := ops.Sub(tr.logits, tr.target.labels())
		list = append(list, ops.Square(d), ops.Abs(d))
	} else if p.dims.labels.multi {
		y, pos := tr.target.labels(), ops.Positive(tr.logits)
		if d.labels.partial {
			unknown := ops.Positive(ops.Neg(y))
			y, pos = ops.Positive(y), ops.Mul(pos, ops.Shift(ops.Neg(unknown), 1))
		}
		list = append(list, ops.Mul(pos, y), pos, y)
	} else {
		list = append(list, ops.Correct(tr.logits, tr.target.labels()))
	}
	prog := &dataflow.Program{Loss: -1, Names: p.evalNames()}
	for _, x := range list {
		prog.Outs = append(prog.Outs, ops.MatMulTN(splits, x))
	}
	return p.resolve(prog, tr.t)
}

// compiled is what a model is lowered to.
type compiled struct {
	train, eval *dataflow.Lowered   // eval is nil if train is a forward pass alone
	ahead       *dataflow.Lowered   // for a LinkTask: the forward pass as training runs it; else nil
	once        []*dataflow.Lowered // they compute invariants, before training
	want        chunk.Wants         // by relation
	memory      memory
}

// programs lists all programs of x, training first.
func (x *compiled) programs() []*dataflow.Lowered {
	list := []*dataflow.Lowered{x.train}
	if x.eval != nil {
		list = append(list, x.eval)
	}
	if x.ahead != nil {
		list = append(list, x.ahead)
	}
	return append(list, x.once...)
}

// optimized is training and evaluation after the passes.
type optimized struct {
	train, eval *dataflow.Optimized
	ahead       *dataflow.Optimized
	sliced      bool // some gather works on slices of columns
}

// traceForward is the program of the forward pass for an output.
func (p *definition) traceForward(output string) (*dataflow.Program, error) {
	tr, err := trace(p.model, p.stepDims, false)
	if err != nil {
		return nil, err
	}
	out, err := tr.pass(output, p.typ)
	if err == nil && out.Shape().Set.Kind == dataflow.Edge {
		out, err = p.byNumber(tr, out)
	}
	if err != nil {
		return nil, err
	}
	return p.resolve(tr.rowsOf(output, out), tr.t)
}

// traceLinks is the forward pass of a LinkTask, in training with dropout.
func (p *definition) traceLinks(train bool) (*dataflow.Program, error) {
	tr, err := trace(p.model, p.dims, train)
	if err != nil {
		return nil, err
	}
	p.in.link.cols = tr.logits.Cols()
	p.in.Widen(linkSeed, tr.logits.Cols())
	if tr.far != nil {
		p.in.farEnd().Widen(linkFar, tr.far.Cols())
	}
	return p.resolve(tr.rowsOf("logits", tr.logits), tr.t)
}

// rowsOf is the program that gives x, and where these are rows of one end of links those of the other end.
func (tr *traced) rowsOf(name string, x Tensor) *dataflow.Program {
	p := &dataflow.Program{Loss: -1, Names: []string{name}, Outs: []Tensor{x}}
	if tr.far != nil && x == tr.ends && name == "logits" {
		p.Names, p.Outs = append(p.Names, farLogits), append(p.Outs, tr.far)
	}
	return p
}

// resolve completes prog, traced by t: it replaces products with features that are sparse or the identity,
// sets the parameters, and makes learned rows inputs.
func (p *definition) resolve(prog *dataflow.Program, t *tracer) (*dataflow.Program, error) {
	p.params = t.list
	if p.dims.sparse {
		q, err := dataflow.ByProducts(prog, rows.Features, p.sparseProduct)
		if err != nil {
			return nil, &FeaturesError{err}
		}
		prog = q
	}
	if k := p.dims.kinds; k != nil {
		var err error
		if prog, err = p.resolveKinds(prog, k); err != nil {
			return nil, err
		}
	} else if p.dims.identity {
		q, names, err := dataflow.Identity(prog, rows.Features)
		if err != nil {
			return nil, &FeaturesError{err}
		}
		prog = q
		for _, name := range names {
			x, _ := p.param(name)
			x.PerVertex = true
		}
	}
	for i := range p.params {
		if q := &p.params[i]; q.PerVertex && p.in != nil {
			q.from(p.in.ofType(q.typ), p.cfg.Seed, p.output != "")
		}
	}
	if p.stepDims.levels == 0 { // in sampled training the host updates learned rows, in tables
		prog.Learn = p.learn
	}
	return prog, nil
}

// resolveKinds completes prog for types without features: products with their identity become learned rows.
func (p *definition) resolveKinds(prog *dataflow.Program, k *kinds) (*dataflow.Program, error) {
	for t := range k.types {
		if !k.types[t].identity {
			continue
		}
		q, names, err := dataflow.Identity(prog, k.featuresOf(t))
		if err != nil {
			return nil, &FeaturesError{err}
		}
		prog = q
		for _, name := range names {
			x, _ := p.param(name)
			if x.PerVertex && x.typ != uint16(t) {
				return nil, fmt.Errorf("saga: parameter %s has a row for each vertex of type %s and of type %s", name, k.types[x.typ].name, k.types[t].name)
			}
			x.PerVertex, x.typ = true, uint16(t)
		}
	}
	return prog, nil
}
