package saga

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataset"
	"sagann/device"
	"sagann/internal/safetensors"
)

// Predict runs m, with the parameters of the checkpoint at path, over all vertices of
// d within c.Mem, chunks streaming as in training, and returns the logits: V×classes
// in user order, or with another Task a row for every edge of d in stored order, or for
// every graph. Logits of edges and graphs lie in device memory as a whole; there may be
// 2²⁴ of them. With early stopping these are the parameters of the best epoch. d
// needs no labels; of c the fields of training do not matter.
func Predict(m Model, d *dataset.Data, c Config, path string) (logits []float32, classes int, err error) {
	return fromCheckpoint(m, d, c, path, "logits")
}

// Embed is Predict for the rows that enter the last layer: V×hidden. With an EdgeTask
// these are the last layer's rows; with a GraphTask what was read out of them, a row a
// graph.
func Embed(m Model, d *dataset.Data, c Config, path string) (rows []float32, hidden int, err error) {
	return fromCheckpoint(m, d, c, path, "hidden")
}

// Predict returns the logits of all vertices under the present parameters: V×classes
// in user order. Device memory is given back meanwhile, so that the budget holds.
func (p *Program) Predict() (logits []float32, classes int, err error) { return p.infer("logits") }

// Embed is Predict for the rows that enter the last layer: V×hidden.
func (p *Program) Embed() (rows []float32, hidden int, err error) { return p.infer("hidden") }

// Classes is the column of the largest logit of every row, the first among equals.
func Classes(logits []float32, classes int) []int32 {
	if classes < 1 {
		return nil
	}
	out := make([]int32, 0, len(logits)/classes)
	for row := range slices.Chunk(logits, classes) {
		k := 0
		for i, x := range row {
			if x > row[k] || x != x && row[k] == row[k] { // NaN wins, as it does for ops.Correct
				k = i
			}
		}
		out = append(out, int32(k))
	}
	return out
}

func fromCheckpoint(m Model, d *dataset.Data, c Config, path, what string) ([]float32, int, error) {
	param, err := readParams(m, path)
	if err != nil {
		return nil, 0, err
	}
	return forward(m, d, c, what, param)
}

// readParams gives the parameters of a checkpoint of m, with early stopping those of the
// best epoch, by name.
func readParams(m Model, path string) (param func(name string, rows, cols int) ([]float32, error), err error) {
	f, ck, err := openCheckpoint(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if ck.Model != m.Name {
		return nil, fmt.Errorf("%s: a checkpoint of model %q; this is %q", path, ck.Model, m.Name)
	}
	list, b, err := readTensors(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return func(name string, rows, cols int) ([]float32, error) {
		t, ok := list[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("%s: parameter %q is missing", path, name)
		case !slices.Equal(t.Shape, []int{rows, cols}):
			return nil, fmt.Errorf("%s: parameter %q has shape %v; with this data the model has %d×%d", path, name, t.Shape, rows, cols)
		case b.params != nil:
			return b.params[name], nil
		}
		return t.Data.([]float32), nil
	}, nil
}

// infer runs the forward program between two steps: the session's device memory is
// given back, and taken again with the same contents.
func (p *Program) infer(what string) (x []float32, cols int, err error) {
	held, err := p.tensors()
	if err != nil {
		return nil, 0, err
	}
	if err := p.keepGrads(); err != nil {
		return nil, 0, err
	}
	old := p.session
	if s, err := p.firstSpoiled(true); err != nil {
		return nil, 0, err
	} else if s != nil {
		old.spoil(s.epoch, s.param)
	}
	defer func() { err = errors.Join(err, p.takeUp(old, held)) }()
	if err := p.release(); err != nil {
		return nil, 0, err
	}
	if p.cfg.HostMem > 0 { // the other program has a grid of its own
		p.grid = nil
	}
	c := p.cfg
	if c.Packing = PackingOff; p.packed { // as training, whose budget it has
		c.Packing = PackingOn
	}
	return forward(p.model, p.data, c, what, func(name string, _, _ int) ([]float32, error) {
		for _, t := range held {
			if t.Name == name {
				return t.Data.([]float32), nil
			}
		}
		return nil, fmt.Errorf("saga: no parameter %q", name)
	})
}

// takeUp opens a session that goes on where an old one, which was released, has ended.
func (p *Program) takeUp(old *session, held []safetensors.Tensor) error {
	if err := p.open(); err != nil {
		return err
	}
	for _, t := range held {
		if err := p.setGlobal(t.Name, t.Data.([]float32)); err != nil {
			return err
		}
	}
	p.session.grads = old.grads
	p.session.spoiled.Store(old.spoiled.Load())
	return nil
}

// forward compiles and runs the forward pass of m on d; param gives the parameters.
func forward(m Model, d *dataset.Data, c Config, what string, param func(name string, rows, cols int) ([]float32, error)) (x []float32, cols int, err error) {
	c.Chunks, c.Once, c.Groups = 0, nil, nil // one choice fits training, another this program
	c.Optimizer.defaults()
	if err := c.Validate(); err != nil {
		return nil, 0, err
	}
	if err := dataset.Validate(d); err != nil {
		return nil, 0, err
	}
	if d.FeatureCols == 0 {
		return nil, 0, fmt.Errorf("saga: %s has no features", d.Name)
	}
	p, err := newProgram(m, d, c)
	if err != nil {
		return nil, 0, err
	}
	p.dims.classes, p.dims.multi = 0, false // there may be no labels
	tr, err := trace(m, p.dims, false)
	if err != nil {
		return nil, 0, err
	}
	out := map[string]Tensor{"hidden": tr.hidden, "logits": tr.logits}[what]
	if out == tr.features { // one layer: nothing is computed before it
		d.HoldFeatures()
		return slices.Clone(d.Features), d.FeatureCols, nil
	}
	if out.Shape().Set.Kind == dataflow.Edge {
		if out, err = p.byNumber(tr, out); err != nil {
			return nil, 0, err
		}
	}
	prog := &dataflow.Program{Loss: -1, Names: []string{what}, Outs: []Tensor{out}}
	o := dataflow.Optimize(prog, p.options())
	f, err := p.lowerForward(o)
	if err != nil {
		return nil, 0, err
	}
	if f.once != nil {
		if err := p.runOnce(f.once, 0); err != nil {
			return nil, 0, p.leastForward(err, f)
		}
	}
	x, cols, err = p.runForward(&unit{low: f.main}, what, param)
	return x, cols, p.leastForward(err, f)
}

// forwardPass is a lowered forward pass and what computes its invariants, or nil.
type forwardPass struct{ main, once *dataflow.Lowered }

// programs are those of f that are there.
func (f *forwardPass) programs() []*dataflow.Lowered {
	if f.once == nil {
		return []*dataflow.Lowered{f.main}
	}
	return []*dataflow.Lowered{f.main, f.once}
}

// lowerForward lowers o. Cells are packed as Config.Packing says, or else on a GPU where words
// would stream.
func (p *Program) lowerForward(o *dataflow.Optimized) (*forwardPass, error) {
	for _, p.packed = range []bool{p.cfg.Packing == PackingOn, true} {
		main, once, err := o.Lower(dataflow.Lowering{Packed: p.packed})
		if err != nil {
			return nil, err
		}
		f := &forwardPass{main, once}
		p.want = chunk.Want{}
		for _, l := range f.programs() {
			p.want = union(p.want, l.Want)
		}
		if p.memory, err = p.divide(main.Spec, p.want, f.programs()...); err != nil {
			return nil, err
		}
		if p.packed || p.cfg.Packing != "" || p.cfg.without("pack") || p.memory.bound == 0 || !strings.HasPrefix(p.cfg.Device, "cuda") {
			return f, nil
		}
		if pl, err := planner.New(main.Spec, p.cells, p.onceOptions(p.memory.plans(), 0)); err == nil && pl.H2D == 0 {
			return f, nil
		}
	}
	panic("unreachable: packed cells are returned")
}

// leastForward completes a *plan.BudgetError or a *plan.HostError: the smallest budget must
// do for the forward program and for its invariants.
func (p *Program) leastForward(err error, f *forwardPass) error {
	var few *plan.BudgetError
	if errors.As(err, &few) {
		var list []asked
		for _, l := range f.programs() {
			list = append(list, asked{l.Spec, p.onceOptions(1, 0)})
		}
		least, wrong := p.smallest(f.main.Spec, p.want, f.programs(), p.cells, list...)
		if wrong != nil {
			return wrong
		}
		return least
	}
	var small *plan.HostError
	if !errors.As(err, &small) {
		return err
	}
	pl, wrong := planner.New(f.main.Spec, p.cells, p.onceOptions(p.memory.plans(), 0))
	if wrong != nil {
		return wrong
	}
	made := f.programs()[1:]
	least, wrong := p.least(made, p.extraBytes(made...), pl)
	if wrong != nil {
		return wrong
	}
	return &plan.HostError{Budget: p.cfg.HostMem, Smallest: least}
}

// runForward plans and runs u once and returns its output.
func (p *Program) runForward(u *unit, what string, param func(name string, rows, cols int) ([]float32, error)) (x []float32, cols int, err error) {
	if u.plan, err = planner.New(u.low.Spec, p.cells, p.onceOptions(p.memory.plans(), 0)); err != nil {
		return nil, 0, err
	}
	if err := p.placeHost(p.extraBytes(), u.plan); err != nil {
		return nil, 0, err
	}
	var devices []device.Device
	var arena *exec.Arena
	if devices, arena, err = p.openDevices(u.plan.Peak); err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, closeAll(devices, arena, u), p.forget()) }()
	if err := p.start(u, arena); err != nil {
		return nil, 0, err
	}
	for id, g := range u.low.Spec.Globals {
		if g.Kind != plan.Param {
			continue
		}
		w, err := param(g.Name, g.Rows, g.Cols)
		if err != nil {
			return nil, 0, err
		}
		if err := u.run.SetGlobal(id, w); err != nil {
			return nil, 0, err
		}
	}
	if err := u.run.Step(); err != nil {
		return nil, 0, err
	}
	if id, ok := u.low.Globals[what]; ok { // a row a graph, or an edge
		g := u.low.Spec.Globals[id]
		x = make([]float32, g.Rows*g.Cols)
		return x, g.Cols, u.run.Global(id, x)
	}
	var o *chunk.Order = p.orderFor(u.plan.Cells.P)
	x, cols = p.userRows(u, u.low.Outputs[what], o)
	return x, cols, nil
}
