package saga

import (
	"fmt"

	"sagann/backend"
	"sagann/device"
	"sagann/net"
)

// cards is what GPUs have, in bytes. Zeros: not known, or devices that are no GPUs.
type cards struct {
	free  int64 // what plans may use if Config.Mem is 0
	whole int64 // all memory of the smallest: what bits may depend on, where they may not on free memory
}

// cardsOf asks the driver for n GPUs of spec from number first on. It is a *device.MemoryError if mem, which 0 leaves open, is more
// than one of them has. Without a driver the cards are not known.
func cardsOf(spec string, first, n int, mem int64) (least cards, err error) {
	kind := backend.Of(spec)
	if kind.System == nil {
		return least, nil
	}
	sys, err := kind.System()
	if err != nil { // no driver, so no devices either; opening them says why
		return least, nil
	}
	_, gpus, err := device.Parse(spec)
	if err != nil {
		return least, err
	}
	for _, i := range gpus[first : first+n] {
		c, err := sys.Card(i)
		if err != nil { // opening the GPU will say why
			continue
		}
		if mem > c.Total {
			return least, &device.MemoryError{Device: fmt.Sprint(kind.Name, ":", i), Asked: mem, Card: c}
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

// ofAll is the least of the cards of all ranks, of which c are this rank's, or an error that a rank has. All ranks must call it.
func (c cards) ofAll(g *net.Group, err error) (cards, error) {
	const what = "memory of GPUs"
	if err := g.Agree(what, err); err != nil || g.Ranks() == 1 {
		return c, err
	}
	list, err := g.Texts(what, fmt.Sprint(c.free, " ", c.whole))
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

// within is c, at most the memory of a machine model, or that memory where nothing is known.
func (c cards) within(model int64) cards {
	if c.whole == 0 {
		return cards{model, model}
	}
	return cards{min(c.free, model), min(c.whole, model)}
}
