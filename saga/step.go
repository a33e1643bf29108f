package saga

import "fmt"

// Step trains for one epoch, in sampled training on the batches of one update, and returns the loss
// before the update.
func (p *Program) Step() (loss float64, err error) {
	s, err := p.open()
	if err != nil {
		return 0, err
	}
	return p.mode.step(s)
}

// step is an epoch.
func (p whole) step(s *session) (loss float64, err error) {
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
	p.run.count++
	if p.in.link != nil {
		return p.in.link.loss, nil
	}
	return float64(s.train.Result(0)[0]), nil
}
