package saga

import (
	"cmp"
	"fmt"

	"sagann/backend"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
	"sagann/device"
)

// planTarget is what plans are chosen for: a definition, and the devices that run it.
type planTarget struct {
	*definition
	machine *sim.Machine   // nil: no model
	ring    *plan.Topology // of its devices; nil: nothing is known of them
	cards   cards          // what GPUs have
}

// planOptions are the options of the planner that Config sets.
func (p *planTarget) planOptions() plan.Options {
	o := plan.Options{Devices: p.cfg.devices(), Ring: !p.cfg.NoRing, Topology: p.ring, P: p.cfg.Chunks, MinP: p.cfg.MinChunks, Schedule: p.cfg.Schedule,
		Stream: p.cfg.Stream || p.cfg.without("residency"), Serial: p.cfg.without("stream"), Straight: p.cfg.without("serpentine"),
		Whole: p.cfg.without("row-gather")}
	if p.stepDims.levels > 0 { // a batch is not split over devices
		o.Devices, o.Topology = 1, nil
	}
	if k := p.dims.kinds; k != nil && p.stepDims.levels == 0 { // each type has an interval
		o.MinP = max(o.MinP, len(k.types))
	}
	if p.machine != nil {
		o.Host = plan.HostBudget{Budget: p.cfg.HostMem, Staging: device.Staging(p.cfg.Device), Ranks: p.ranks()}
	}
	if o.Groups = p.cfg.Outcome.Groups; p.cfg.without("group") {
		o.Group, o.Groups = 1, nil
	}
	if p.cfg.Prefetch > 0 {
		o.Slots = p.cfg.Prefetch + 1
	}
	return o
}

// mem is Config.Mem or, if that is 0, what was found free on the GPUs.
func (p *planTarget) mem() int64 { return cmp.Or(p.cfg.Mem, p.cards.free) }

// findCards finds what the GPUs of this rank have, before anything is opened; with several ranks, which must make the same plan, the
// least of all. Without a driver it is the memory of Config.Machine. always: it bounds plans without Config.Machine, too.
func (p *planTarget) findCards(always bool) error {
	if !backend.Of(p.cfg.Device).GPU() || p.data == nil {
		return nil
	}
	first, n := p.cfg.opens()
	c, err := cardsOf(p.cfg.Device, first, n, p.cfg.Mem)
	if c, err = c.ofAll(p.cfg.Net, err); err != nil {
		return err
	}
	if p.cfg.Machine != "" {
		m, err := sim.LoadMachine(p.cfg.Machine)
		if err != nil {
			return err
		}
		c = c.within(int64(m.Kind(0).Memory.Value))
	}
	if p.cards = c; p.cfg.Mem > 0 || p.cfg.Machine == "" && !always {
		p.cards.free = 0
	}
	return nil
}

// onceOptions are the options for planning the k-th program of invariants. It runs only once, so no
// search is worth its time.
func (p *planTarget) onceOptions(budget int64, k int) plan.Options {
	o := p.planOptions()
	o.Budget, o.Group, o.Groups = budget, 1, nil
	if k < len(p.cfg.Outcome.Once) && p.cfg.Outcome.Once[k] > 0 {
		o.P = p.cfg.Outcome.Once[k]
	}
	if o.Schedule == plan.Auto {
		o.Schedule = plan.Sag
	}
	return o
}

// openMachine reads the machine model, if there is one.
func (p *planTarget) openMachine() error {
	if p.cfg.Machine == "" || !p.goal.searched() {
		return nil
	}
	m, err := p.cfg.machine()
	if err != nil {
		return err
	}
	if n := p.cfg.devices(); n > len(m.Devices) {
		return fmt.Errorf("saga: %d devices; machine %s has %d", n, p.cfg.Machine, len(m.Devices))
	}
	p.machine = m
	p.ring, err = sim.RingOf(m, p.cfg.devices())
	return err
}

func (learning) searched() bool { return true }

func (pass) searched() bool { return false }

// machine is the model of Config.Machine.
func (c *Config) machine() (*sim.Machine, error) {
	m, err := sim.LoadMachine(c.Machine)
	if err == nil && c.TF32 {
		m = m.WithTF32()
	}
	return m, err
}
