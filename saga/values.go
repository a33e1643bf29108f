package saga

import (
	"fmt"
	"slices"
)

// What can be read and written by name between steps.

// Params lists the parameters in the order in which they are declared.
func (p *Program) Params() []Param { return slices.Clone(p.params) }

// Param reads parameter name: its Rows·Cols numbers, row by row. It is an error if the
// program is closed or has no such parameter.
func (p *Program) Param(name string) ([]float32, error) {
	if _, err := p.param(name); err != nil {
		return nil, err
	}
	s, err := p.open()
	if err != nil {
		return nil, err
	}
	return s.global(name)
}

// SetParam writes parameter name: Rows·Cols numbers, row by row. Its optimiser state stays as it
// is. It is an error if the program is closed, has no such parameter, or x has another length.
func (p *Program) SetParam(name string, x []float32) error {
	q, err := p.param(name)
	if err != nil {
		return err
	}
	if len(x) != q.Rows*q.Cols {
		return fmt.Errorf("saga: parameter %s has %d×%d numbers, not %d", name, q.Rows, q.Cols, len(x))
	}
	s, err := p.open()
	if err != nil {
		return err
	}
	return s.setGlobal(name, x)
}

// Grad reads the gradient of the last step's loss with respect to parameter name: Rows·Cols
// numbers, zeros if the loss does not depend on it. Evaluation, prediction and SetParam do not
// change it. It is an error if there was no step since the program was opened, if the last step
// failed, or if the parameter has one row per vertex.
func (p *Program) Grad(name string) ([]float32, error) {
	q, err := p.param(name)
	if err != nil {
		return nil, err
	}
	s, err := p.open()
	if err != nil {
		return nil, err
	}
	return s.grad(q)
}

// Output reads a vertex tensor of the last step that Config.Outputs asked for ("hidden",
// "logits", "grad:features"): V×cols numbers in the user's order. In sampled training "logits"
// has the last batch's, one row for each of Seeds. It is an error if the program is closed, or if
// there was no step since the program was opened or since Predict or Embed, which free the memory.
func (p *Program) Output(name string) (x []float32, cols int, err error) {
	if p.closed {
		return nil, 0, errClosed
	}
	s := p.session
	if s == nil || !s.train.Stepped() {
		return nil, 0, fmt.Errorf("saga: there is no output %q: no step has ended well since the program was opened, or predicted", name)
	}
	id, ok := p.train.low.Outputs[name]
	switch {
	case ok && p.train.plan.Places.Sets != nil: // over blocks
		x, cols = s.seedRows(id)
		return x, cols, nil
	case ok:
		x, cols = s.rows(p.train, s.train, id)
		return x, cols, nil
	case p.cfg.featureGrad() && name == outputFeatureGrad: // the loss does not depend on the features
		return make([]float32, p.in.Edges.V*p.data.FeatureCols), p.data.FeatureCols, nil
	}
	return nil, 0, fmt.Errorf("saga: no output %q; Config.Outputs asks for outputs", name)
}

// Seeds returns the seeds of the last update of sampled training, in the order of its rows: its training vertices, or the
// vertices of its edges, links or graphs. It is nil before the first update.
func (p *Program) Seeds() []uint32 { return slices.Clone(p.run.last) }
