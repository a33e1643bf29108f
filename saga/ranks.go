package saga

import (
	"context"
	"fmt"

	"sagann/dataflow/plan/order"
	"sagann/device"
)

// Ranks: processes that share the devices of a run (Config.Net). All do the same, each with its devices; what a
// step leaves on one of them all get, so that they agree on what comes next. The first writes.

// ranks says why the devices cannot be shared.
func (c *Config) ranks() error {
	r := c.Net.Ranks()
	if n := c.devices(); n%r != 0 {
		return fmt.Errorf("device %q: %d in all cannot be dealt to %d ranks, as many to each; --owners %d could, for one", c.Device, n, r, r)
	}
	return nil
}

// owned are the devices of this rank: n from number first on.
func (c *Config) owned() (first, n int) {
	n = c.devices() / c.Net.Ranks()
	return n * c.Net.Rank(), n
}

// opens are the devices that this rank opens, n from number first of Config.Device on: ranks of one host share its GPUs, and
// every host's begin at the first. Where a launcher lets a rank see just as many as it opens, they are its own.
func (c *Config) opens() (first, n int) {
	first, n = c.owned()
	if device.IsGPU(c.Device) {
		first = n * c.Net.Beside()
		if own, told := device.Visible(c.Device); told && own == n {
			first = 0
		}
	}
	return first, n
}

// alike is an error where ranks would not do the same.
func (p *Program) alike() error {
	g := p.cfg.Net
	if g.Ranks() == 1 {
		return nil
	}
	id := p.identity()
	if err := g.Same("data (checksum)", id.data); err != nil {
		return err
	}
	return g.Same("plan (digest)", id.digest)
}

// stopping tells whether ctx is cancelled, on any rank.
func (p *Program) stopping(ctx context.Context) (bool, error) {
	g := p.cfg.Net
	if g.Ranks() == 1 {
		return ctx.Err() != nil, nil
	}
	return g.Any(ctx.Err() != nil)
}

// agreed is err, or that another rank has one. Ranks that go different ways would wait for each other for ever.
func (p *Program) agreed(err error) error { return p.cfg.Net.Agree(err) }

// Traffic is how many bytes an epoch's training step sends from each rank of Config.Net to each; of batches none, as all that ranks
// exchange is gradients.
func (p *Program) Traffic() [][]int64 {
	if p.sampled != nil {
		return nil
	}
	return order.Traffic(p.train.plan, p.cfg.Net.Ranks())
}
