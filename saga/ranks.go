package saga

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"sagann/backend"
	"sagann/dataflow/plan/order"
	"sagann/device"
)

// Ranks: processes that share the devices of a run (Config.Net). All ranks run the same program, each on its
// devices. The results of a step are sent to all ranks, so that they agree on what comes next. Only the first
// rank writes files.

// ranks is an error if the devices cannot be divided among the ranks.
func (c *Config) ranks() error {
	r := c.Net.Ranks()
	if n := c.devices(); n%r != 0 {
		return fmt.Errorf("device %q: %d in all cannot be dealt to %d ranks, as many to each; --owners %d could, for one", c.Device, n, r, r)
	}
	return nil
}

// owned are the devices of this rank: n of them, beginning with number first.
func (c *Config) owned() (first, n int) {
	n = c.devices() / c.Net.Ranks()
	return n * c.Net.Rank(), n
}

// opens are the devices of Config.Device that this rank opens: n of them, beginning with number first. Ranks of
// one host divide its GPUs among them, beginning with the host's first. If a launcher lets a rank see exactly
// as many GPUs as it opens, these are its own.
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

// SharedGPUs names two ranks of one host that open the same GPU, and says what to set; "": there are none, or the
// driver does not tell. All ranks must call it. A device that is listed twice, as in cuda:0,0, may be shared.
func (p *Program) SharedGPUs() (string, error) {
	g := p.cfg.Net
	if g.Ranks() == 1 {
		return "", nil
	}
	list, err := g.Texts("GPUs of ranks", p.cfg.gpus())
	if err != nil {
		return "", err
	}
	return sharedGPU(list), nil
}

// gpus lists the GPUs that this rank opens, one line each with PCI address and host. The last line is
// CUDA_VISIBLE_DEVICES. It is "" if GPUs cannot be told apart.
func (c *Config) gpus() string {
	kind, visible := backend.Of(c.Device), os.Getenv("CUDA_VISIBLE_DEVICES")
	if !kind.GPU() || kind.System == nil || device.Shared(c.Device) != nil || strings.Contains(visible, "MIG-") { // MIG parts of a GPU have the same address
		return ""
	}
	sys, err := kind.System()
	if err != nil {
		return ""
	}
	_, index, err := device.Parse(c.Device)
	if err != nil {
		return ""
	}
	text := ""
	first, n := c.opens()
	for _, i := range index[first : first+n] {
		if bus, err := sys.Bus(i); err == nil {
			text += bus + " of host " + c.Net.Host() + "\n"
		}
	}
	return text + visible
}

// sharedGPU is SharedGPUs, given what gpus returns on each rank.
func sharedGPU(list []string) string {
	first := map[string]int{} // by GPU: the first rank that opens it
	for r, text := range list {
		lines := strings.Split(text, "\n")
		visible := lines[len(lines)-1]
		for _, gpu := range lines[:len(lines)-1] {
			if other, ok := first[gpu]; ok {
				return fmt.Sprintf("ranks %d and %d share the GPU %s: CUDA_VISIBLE_DEVICES=%s leaves a rank just as many as it opens, and they are taken for its own; unset it, and ranks divide the GPUs of their host, or have the launcher set others for each rank (srun --gpus-per-task)",
					other, r, gpu, visible)
			}
			first[gpu] = r
		}
	}
	return ""
}

// alike is an error if ranks have different data or different plans.
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

// What a rank says in the vote of a step. Ranks are not interrupted at the same time, and their clocks differ, so
// none acts on its own.
const (
	voteStop uint64 = 1 << iota // this rank was asked to stop
	voteSave                    // CheckpointAfter has passed since the last checkpoint
)

// ballot is what this rank says.
func (t *trainer) ballot(ctx context.Context) (bits uint64) {
	if ctx.Err() != nil {
		bits = voteStop
	}
	if after := t.o.CheckpointAfter; after > 0 && time.Since(t.savedAt) >= after {
		bits |= voteSave
	}
	return bits
}

// vote sets t.heard to what any rank says. All ranks call it before the first epoch and after each epoch.
func (t *trainer) vote(ctx context.Context) (err error) {
	t.heard, _, err = t.p.cfg.Net.Vote("stop or save after an epoch", t.ballot(ctx), "")
	return err
}

// agreed is err, or the error of another rank; what is what it is about. If only one rank stopped, the others would wait for it for ever.
func (p *Program) agreed(what string, err error) error { return p.cfg.Net.Agree(what, err) }

// Traffic is how many bytes a training epoch sends from each rank of Config.Net to each other rank. It is nil
// for sampled training, whose ranks exchange gradients.
func (p *Program) Traffic() [][]int64 {
	if p.sampled != nil {
		return nil
	}
	return order.Traffic(p.train.plan, p.cfg.Net.Ranks())
}
