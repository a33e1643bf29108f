package saga

import (
	"errors"
	"fmt"

	"sagann/backend"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/internal/units"
)

// cards is what GPUs have, in bytes. Zeros: not known, or devices that are no GPUs.
type cards struct {
	free  int64 // what plans may use if Config.Mem is 0
	whole int64 // all memory of the smallest: what bits may depend on, where they may not on free memory
}

// findCards finds what the GPUs of this rank have, before anything is opened: with several ranks, which must make the
// same plan, the least of all. Without a driver it is the memory of Config.Machine. It is a *device.MemoryError if
// Config.Mem is more than a GPU has.
func (p *Program) findCards() error {
	kind := backend.Of(p.cfg.Device)
	if !kind.GPU() || p.shape != nil {
		return nil
	}
	c, err := p.cardsHere(kind)
	if p.cfg.Net.Ranks() > 1 && kind.System != nil {
		if c, err = p.leastCards(c, err); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if p.cfg.Machine != "" {
		m, err := p.cfg.machine()
		if err != nil {
			return err
		}
		model := int64(m.Kind(0).Memory.Value)
		if c.whole == 0 {
			c = cards{model, model}
		}
		c.free, c.whole = min(c.free, model), min(c.whole, model)
	}
	if p.on.cards = c; p.cfg.Mem > 0 || p.cfg.Machine == "" && p.sampled == nil {
		p.on.cards.free = 0
	}
	return nil
}

// cardsHere asks the driver for the GPUs that this rank opens.
func (p *Program) cardsHere(kind *backend.Kind) (least cards, err error) {
	if kind.System == nil {
		return least, nil
	}
	sys, err := kind.System()
	if err != nil { // no driver, so no devices either; opening them says why
		return least, nil
	}
	_, gpus, err := device.Parse(p.cfg.Device)
	if err != nil {
		return least, err
	}
	first, n := p.cfg.opens()
	for _, i := range gpus[first : first+n] {
		c, err := sys.Card(i)
		if err != nil { // opening the GPU will say why
			continue
		}
		if p.cfg.Mem > c.Total {
			return least, &device.MemoryError{Device: fmt.Sprint(kind.Name, ":", i), Asked: p.cfg.Mem, Card: c}
		}
		if least.whole == 0 || c.Total < least.whole {
			least.whole = c.Total
		}
		if least.free == 0 || c.Free < least.free {
			least.free = max(1, c.Free)
		}
	}
	return least, nil
}

// leastCards is the least of the cards of all ranks, of which c are this rank's, or an error that a rank has.
func (p *Program) leastCards(c cards, err error) (cards, error) {
	if err := p.agreed("memory of GPUs", err); err != nil {
		return c, err
	}
	list, err := p.cfg.Net.Texts("memory of GPUs", fmt.Sprint(c.free, " ", c.whole))
	if err != nil {
		return c, err
	}
	for _, text := range list {
		var x cards
		if _, err := fmt.Sscan(text, &x.free, &x.whole); err != nil {
			return c, err
		}
		c.free, c.whole = min(c.free, x.free), min(c.whole, x.whole)
	}
	return c, nil
}

// ofFree adds to a *plan.BudgetError where the budget comes from, if that is free memory.
func (p *Program) ofFree(err error) error {
	var small *plan.BudgetError
	if c := &p.on.cards; p.cfg.Mem == 0 && c.free > 0 && c.free < c.whole && errors.As(err, &small) {
		return fmt.Errorf("%w; the budget is what is free now of the %s of %s", err, units.Size(c.whole), p.cfg.Device)
	}
	return err
}
