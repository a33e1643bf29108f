package saga

import (
	"sagann/dataflow/exec"
	"sagann/device"
)

// OpenOn is Open on devices of a test's own. Close closes them.
func (p *Program) OpenOn(devices []device.Device) error {
	p.devices = devices
	arena, err := exec.NewArena(devices, max(p.train.plan.Peak, p.eval.plan.Peak))
	if err != nil {
		return err
	}
	p.arena = arena
	for _, u := range []*unit{p.train, p.eval} {
		if err := p.start(u, arena); err != nil {
			return err
		}
	}
	p.train.run.OnUpdate(p.update)
	for i := range p.params {
		q := &p.params[i]
		if err := p.SetParam(q.Name, q.initial(p.cfg.Seed)); err != nil {
			return err
		}
	}
	return nil
}

// EstimateFrom lets statistics choose from so many edges; the result puts it back.
func EstimateFrom(edges int) (restore func()) {
	was := estimateFrom
	estimateFrom = edges
	return func() { estimateFrom = was }
}

// Measured is for how many numbers of intervals the edges were gone through.
func (p *Program) Measured() int { return len(p.sizes) }
