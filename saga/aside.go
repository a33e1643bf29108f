package saga

import (
	"errors"
	"slices"

	"sagann/internal/safetensors"
)

// Another program in the memory of an open one.

// aside frees device memory while f runs, and then allocates it again with the same contents. f gets the
// parameters and moments that the devices held.
func (p *Program) aside(f func(held []safetensors.Tensor) error) (err error) {
	old, err := p.open()
	if err != nil {
		return err
	}
	held, err := old.held()
	if err != nil {
		return err
	}
	if err := old.keepGrads(); err != nil {
		return err
	}
	if s, err := old.firstSpoiled(true); err != nil {
		return err
	} else if s != nil {
		old.spoil(s.epoch, s.param)
	}
	defer func() { err = errors.Join(err, p.takeUp(old, held)) }()
	if err := p.release(); err != nil {
		return err
	}
	return f(held)
}

// held is tensors with all values read.
func (s *session) held() ([]safetensors.Tensor, error) {
	list, err := s.tensors()
	for i := range list {
		x, wrong := valuesOf(list[i])
		if _, later := list[i].Data.(safetensors.Later); later {
			x = slices.Clone(x)
		}
		list[i].Data, err = x, errors.Join(err, wrong)
	}
	return list, err
}

// takeUp opens a session that goes on where old, which was released, stopped: with parameters and moments
// held.
func (p *Program) takeUp(old *session, held []safetensors.Tensor) error {
	s, err := p.open()
	if err != nil {
		return err
	}
	for _, t := range held {
		if err := s.setGlobal(t.Name, t.Data.([]float32)); err != nil {
			return err
		}
	}
	s.grads = old.grads
	s.spoiled.Store(old.spoiled.Load())
	return nil
}
