package exec

import (
	"errors"

	"sagann/dataflow/plan"
	"sagann/device"
)

// captured is a step on one GPU as one CUDA graph, so that one call starts all its kernels and
// copies. What differs between steps is outside the graph: the numbers of the
// optimiser are copied before it, the results after it.
type captured struct {
	tried bool         // capture was tried
	graph device.Graph // nil: none
	moved Stats        // bytes that one step copies
}

// captureMost is the largest number of kernels and copies in a step that is captured. A graph
// takes 3 to 5 KiB of GPU memory for each of them, outside the budget (154 MiB for a step of
// 47,000), and saves time only if the step is short.
const captureMost = 1 << 11

// replay runs the step by its graph and returns true. It captures the graph at the second step, as the first
// one compiles and prepares everything. It returns false if the step must be submitted task by
// task: on several devices or ranks, in a trace, with the optimiser on the host, or if capture fails.
func (r *Runner) replay() (done bool, err error) {
	p := &r.arena.devices[0]
	dev, ok := p.dev.(device.Capturer)
	if !ok || len(r.arena.devices) > 1 || r.trace != nil || r.arena.ranks.Ranks() > 1 || r.arena.OneByOne || len(r.tasks) > captureMost || r.update.onHost() {
		return false, nil
	}
	if r.captured == nil { // the first step goes task by task and prepares its commands
		r.captured = &captured{}
		return false, nil
	}
	c, stats := r.captured, &r.copies.stats[0]
	if !c.tried {
		c.tried = true
		if r.kernels.gpus.each[0].commands() > captureMost {
			return false, nil
		}
		r.kernels.gpus.capturing = true
		before := *stats
		c.graph, err = dev.Capture(p.queues[:], r.submitAll)
		c.moved = Stats{H2D: stats.H2D - before.H2D, D2H: stats.D2H - before.D2H, D2D: stats.D2D - before.D2D}
		*stats, r.kernels.gpus.capturing = before, false
		if err != nil { // something cannot be captured: all steps go task by task
			c.graph = nil
		}
	}
	if c.graph == nil {
		return false, nil
	}
	q := p.queues[plan.Compute]
	if r.update.calls != nil {
		if err := r.update.numbers(0, q); err != nil {
			return true, err
		}
	}
	err = dev.Replay(c.graph)
	stats.H2D, stats.D2H, stats.D2D = stats.H2D+c.moved.H2D, stats.D2H+c.moved.D2H, stats.D2D+c.moved.D2D
	if err == nil {
		err = r.copies.results(0, q)
	}
	return true, errors.Join(err, r.arena.sync())
}
