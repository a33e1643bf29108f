package saga

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Open takes the memory of training and evaluation and sets the initial parameters, so
// that failures show before a run begins. What needs them does it by itself, unless the
// program was closed.
func (p *Program) Open() error {
	closed := p.closed
	p.closed = false
	if _, err := p.openEval(); err != nil {
		p.closed = closed
		return err
	}
	return nil
}

// Close frees device and host memory, and with it the parameters. A closed program can
// be opened again with Open, its count of epochs goes on; every other use of its devices
// is an error until then. Invariants that it has computed stay, in memory or in files,
// until it is given up.
func (p *Program) Close() error {
	p.closed = true
	return p.release()
}

// release is Close of a program that may be opened again by its next use.
func (p *Program) release() error {
	s := p.session
	if s == nil {
		return nil
	}
	p.session = nil
	return s.close()
}

// open is the session of training. It takes the device memory and sets the initial
// parameters, if that was not done; a program that was closed stays so.
func (p *Program) open() (*session, error) {
	switch {
	case p.closed:
		return nil, errClosed
	case p.session != nil:
		return p.session, nil
	case p.shape != nil:
		return nil, errors.New("saga: the program was planned from statistics; there is no data to run it on")
	}
	before, start := p.stages, time.Now()
	defer func() {
		s := &p.stages
		s.Open += time.Since(start) - (s.Grid - before.Grid) - (s.Layout - before.Layout) - (s.Order - before.Order)
	}()
	s, err := p.openSession(p.PlannedPeak())
	if err != nil {
		return nil, err
	}
	if p.sampled != nil && p.output == "" { // evaluation takes the first device
		if err := s.openPeers(p.PlannedPeak()); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, p.begin(s)
}

// begin makes s ready to step and the program's session; when that fails it is closed.
func (p *Program) begin(s *session) error {
	if err := s.prepare(); err != nil {
		return errors.Join(err, s.close())
	}
	p.session = s
	return nil
}

// prepare starts training and sets the initial parameters.
func (s *session) prepare() error {
	p := s.p
	for _, x := range s.all() {
		if err := x.startTraining(); err != nil {
			return err
		}
	}
	for i := range p.params {
		q := &p.params[i]
		if q.PerVertex { // inputs, whose first rows are laid out
			if p.sampled != nil {
				s.beginTables(q)
			}
			continue
		}
		for k, name := range p.stateOf(q.Name) {
			x := make([]float32, q.Rows*q.Cols)
			if k == 0 {
				x = q.initial(p.cfg.Seed)
			}
			if err := s.setGlobal(name, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// startTraining gives training its runner and that its optimiser.
func (s *session) startTraining() error {
	p := s.p
	if _, err := s.start(p.train); err != nil {
		return err
	}
	s.train.OnUpdate(s.update)
	if u := p.gpuUpdate(); u != nil {
		if err := s.train.OnUpdateGPU(u); err != nil {
			return err
		}
	}
	if p.sampled != nil && p.output == "" && p.sampled.parts() > 1 {
		return s.train.Apart()
	}
	return nil
}

// openEval is open with evaluation ready to run; what only trains does without that and
// its host memory.
func (p *Program) openEval() (*session, error) {
	s, err := p.open()
	if err != nil || s.eval != nil || p.eval == nil { // a program of its own evaluates
		return s, err
	}
	if s.eval, err = s.start(p.eval); err != nil {
		return nil, errors.Join(err, p.release())
	}
	return s, nil
}

// Step trains for one epoch, in a sampled program for one batch, and returns the loss before
// the update.
func (p *Program) Step() (loss float64, err error) {
	s, err := p.open()
	if err != nil {
		return 0, err
	}
	if p.sampled != nil {
		return p.stepSampled(s)
	}
	if p.in.link != nil {
		if err := s.pullLinks(); err != nil {
			return 0, fmt.Errorf("epoch %d: %w", p.epoch+1, err)
		}
	}
	if err := s.setStep(p.train, s.train); err != nil {
		return 0, err
	}
	p.cfg.Net.Epoch(p.epoch + 1)
	s.grads = nil
	if err := s.train.Step(); err != nil {
		return 0, fmt.Errorf("epoch %d: %w", p.epoch+1, err)
	}
	p.epoch++
	if p.in.link != nil {
		return p.in.link.loss, nil
	}
	return float64(s.train.Result(0)[0]), nil
}

// update is the plan's Update task.
func (s *session) update(global func(id int) []float32) error {
	p := s.p
	l := p.train.low
	var slots []slot
	for _, u := range l.Spec.Updates {
		name := l.Spec.Globals[u.Param].Name
		q, err := p.param(name)
		if err != nil {
			return err
		}
		x := slot{w: global(u.Param), g: global(u.Grad), decay: p.decays(name), average: q.Average}
		for k := range p.momentsOf(q) {
			x.m = append(x.m, global(l.Globals[momentName(k, name)]))
		}
		slots = append(slots, x)
	}
	if k := p.cfg.Optimizer.apply(slots, p.rate(), p.updates()+1); k >= 0 {
		s.spoil(p.epoch+1, l.Spec.Globals[l.Spec.Updates[k].Param].Name)
	}
	return nil
}

// updates is how often the parameters were updated.
func (p *Program) updates() int {
	if p.sampled != nil {
		return p.sampled.filling.updates
	}
	return p.epoch
}

// decays tells whether weight decay works on a parameter.
func (p *Program) decays(param string) bool {
	i := slices.IndexFunc(p.params, func(q Param) bool { return q.Name == param })
	return p.cfg.Optimizer.DecayAll || i >= 0 && p.params[i].Layer == 0
}

// momentsOf is the number of state tensors of q.
func (p *Program) momentsOf(q *Param) int {
	if q.Average > 0 {
		return 0
	}
	return p.cfg.Optimizer.moments()
}

// momentName names the k-th moment of a parameter, from 0.
func momentName(k int, param string) string { return fmt.Sprintf("moment%d:%s", k+1, param) }

// peak is the most device memory that any device has held since the program was opened.
func (p *Program) peak() int64 {
	if p.session == nil {
		return 0
	}
	return p.session.peak()
}
