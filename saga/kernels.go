package saga

import (
	"slices"
	"time"

	"sagann/kernel"
)

// Kernels lists the kernel programs of training and then of evaluation, in the order in which plans
// number them.
func (p *Program) Kernels() []*kernel.Program {
	if p.eval == nil {
		return slices.Concat(p.train.low.Kernels, p.chosen.scorer.train.low.Kernels)
	}
	return slices.Concat(p.train.low.Kernels, p.eval.low.Kernels)
}

// TaskTime is how long one task of the last traced epoch ran, by the device's clock.
type TaskTime struct {
	Name string
	Time time.Duration
}

// TaskTimes lists the tasks of the last traced epoch in the plan's order; nil if none was traced.
func (p *Program) TaskTimes() []TaskTime {
	if p.session == nil {
		return nil
	}
	steps := p.session.train.Traced()
	if len(steps) == 0 {
		return nil
	}
	var out []TaskTime
	for i, s := range steps[len(steps)-1].Tasks {
		out = append(out, TaskTime{p.train.plan.Describe(i), s.End - s.Start})
	}
	return out
}
