package saga

import (
	"errors"
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

// grad is Grad of q.
func (s *session) grad(q *Param) ([]float32, error) {
	name := q.Name
	if q.PerVertex {
		return nil, fmt.Errorf("saga: the gradient of %s, with one row per vertex, is used where it is computed and not kept", name)
	}
	if x, ok := s.grads[name]; ok {
		return slices.Clone(x), nil
	}
	switch _, reached := s.p.train.low.Globals[gradName(name)]; {
	case !s.train.Holds():
		return nil, fmt.Errorf("saga: there is no gradient of %s: no step has ended well since the program was opened", name)
	case !reached:
		return make([]float32, q.Rows*q.Cols), nil
	}
	return s.global(gradName(name))
}

// gradName is the name of the gradient of a parameter or an input.
func gradName(name string) string { return "grad:" + name }

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
	case ok && p.sampled != nil:
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

// param is the declaration of parameter name.
func (p *Program) param(name string) (*Param, error) {
	for i := range p.params {
		if p.params[i].Name == name {
			return &p.params[i], nil
		}
	}
	return nil, fmt.Errorf("saga: no parameter %q; Params lists those of the model", name)
}

// global reads a parameter, a moment or another Global of training by name.
func (s *session) global(name string) ([]float32, error) {
	l := s.p.train.low
	if x := s.tables.rows[name]; x != nil {
		return slices.Clone(x), nil
	}
	if s.p.isLearned(s.p.train, name) {
		return s.learnedRows(s.p.train, name, nil)
	}
	id, ok := l.Globals[name]
	if !ok {
		return nil, fmt.Errorf("saga: training has no %q", name)
	}
	g := l.Spec.Globals[id]
	x := make([]float32, g.Rows*g.Cols)
	return x, s.train.Global(id, x)
}

// setGlobal writes a parameter or a moment by name, on all devices.
func (s *session) setGlobal(name string, x []float32) error {
	if to := s.tables.rows[name]; to != nil {
		copy(to, x)
		return nil
	}
	if s.p.isLearned(s.p.train, name) {
		return s.setLearned(s.p.train, name, x)
	}
	id, ok := s.p.train.low.Globals[name]
	if !ok {
		return fmt.Errorf("saga: training has no %q", name)
	}
	for _, peer := range s.peers {
		if err := peer.train.SetGlobal(id, x); err != nil {
			return err
		}
	}
	return s.train.SetGlobal(id, x)
}

// keepGrads copies the gradients of the last step to the host before another program overwrites
// their memory. They are as large as the model's parameters.
func (s *session) keepGrads() error {
	if s.grads != nil || !s.train.Holds() {
		return nil
	}
	grads := map[string][]float32{}
	var err error
	for i := range s.p.params {
		if s.p.params[i].PerVertex {
			continue
		}
		x, wrong := s.grad(&s.p.params[i])
		grads[s.p.params[i].Name], err = x, errors.Join(err, wrong)
	}
	if err != nil {
		return fmt.Errorf("keep the gradients of the last step: %w", err)
	}
	s.grads = grads
	return nil
}
