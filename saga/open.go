package saga

import (
	"errors"
	"time"
)

// Open allocates the memory of training and evaluation and sets the initial parameters, so that
// failures show before a run begins. Methods that need an open program open it themselves, unless
// Close was called. After Close, Open opens the program again.
func (p *Program) Open() error {
	closed := p.closed
	p.closed = false
	if _, err := p.openEval(); err != nil {
		p.closed = closed
		return err
	}
	return nil
}

// Close frees device and host memory, and with it the parameters. Open can open a closed program
// again; its parameters are then the initial ones, but its count of epochs goes on. Until then
// every other use of its devices is an error. Invariants stay in memory or in files as long as the
// Program is referenced.
func (p *Program) Close() error {
	p.closed = true
	p.chosen.end()
	return p.release()
}

// release frees what Close frees, but the next use opens the program again.
func (p *Program) release() error {
	s := p.session
	if s == nil {
		return nil
	}
	p.session = nil
	return s.close()
}

// open returns the session of training. It opens one if there is none, with the initial parameters.
// It is an error if Close was called.
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
	if err := s.openPeers(p.PlannedPeak()); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, p.begin(s)
}

// begin prepares s for steps and makes it the program's session. If that fails, it closes s.
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
		if q.PerVertex || !readsParam(p, q) { // an input, whose initial rows come when it is laid out, or a table
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

// startTraining makes the runner of training and sets its optimiser.
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
	return p.mode.started(s)
}

// openEval is open, and makes evaluation ready to run. Step does not need that, nor the host memory
// that it takes.
func (p *Program) openEval() (*session, error) {
	s, err := p.open()
	if err != nil || s.eval != nil || p.eval == nil { // p.eval is nil if chosen.scorer evaluates
		return s, err
	}
	if s.eval, err = s.start(p.eval); err != nil {
		return nil, errors.Join(err, p.release())
	}
	return s, nil
}

// update runs the plan's Update task on the host.
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

// peak is the most device memory in bytes that any device has held since the program was opened.
func (p *Program) peak() int64 {
	if p.session == nil {
		return 0
	}
	return p.session.peak()
}
