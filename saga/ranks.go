package saga

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sagann/dataflow/plan/order"
)

// Ranks: processes that share the devices of a run (Config.Net). All ranks run the same program, each on its
// devices. The results of a step are sent to all ranks, so that they agree on what comes next. Only the first
// rank writes files.

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

// Traffic is how many bytes a training epoch sends from each rank of Config.Net to each other rank. It is nil
// for sampled training, whose ranks exchange gradients. Of links the rows that heads read, which all ranks get, are not included.
func (p *Program) Traffic() [][]int64 {
	if p.train.plan.Places.Sets != nil { // over blocks
		return nil
	}
	n := p.cfg.Net.Ranks()
	sent := order.Traffic(p.train.plan, n)
	if p.in == nil || p.in.link == nil {
		return sent
	}
	for from, list := range order.Traffic(p.in.link.ahead.plan, n) {
		for to, bytes := range list {
			sent[from][to] += bytes
		}
	}
	return sent
}
