package exec

import (
	"errors"

	"sagann/dataflow/plan"
	"sagann/device"
)

// captured is a step of a plan on one GPU as one graph: the driver then starts its
// kernels and copies by itself. What changes from step to step stays outside: the
// optimiser's numbers go before it, the results come after it.
type captured struct {
	tried bool
	graph device.Graph
	moved Stats // by one step
}

// captureMost is the number of kernels and copies up to which a step is captured. A graph
// takes 3 to 5 KiB of the GPU's memory for each, beside the budget (154 MiB for a step of
// 47,000), and saves time only where a step is short.
const captureMost = 1 << 11

// replay runs the step by its graph, if there is one or one can be had: the second step
// of a runner on one GPU is captured (the first has compiled and opened everything).
// Steps that are traced go task by task.
func (r *Runner) replay() (done bool, err error) {
	p := &r.arena.devices[0]
	dev, ok := p.dev.(device.Capturer)
	if !ok || len(r.arena.devices) > 1 || r.trace != nil || r.arena.ranks.Ranks() > 1 || r.arena.OneByOne || len(r.tasks) > captureMost || r.hostUpdate() {
		return false, nil
	}
	if r.gpu.captured == nil { // the first step, which prepares what it submits
		r.gpu.captured = &captured{}
		return false, nil
	}
	c, stats := r.gpu.captured, &r.stats[0]
	if !c.tried {
		c.tried = true
		if r.gpu.each[0].commands() > captureMost {
			return false, nil
		}
		r.gpu.capturing = true
		before := *stats
		c.graph, err = dev.Capture(p.queues[:], r.submitAll)
		c.moved = Stats{H2D: stats.H2D - before.H2D, D2H: stats.D2H - before.D2H, D2D: stats.D2D - before.D2D}
		*stats, r.gpu.capturing = before, false
		if err != nil { // something in it cannot be captured: the step goes task by task
			c.graph = nil
		}
	}
	if c.graph == nil {
		return false, nil
	}
	q := p.queues[plan.Compute]
	if r.gpu.update != nil {
		if err := r.setStep(0, q); err != nil {
			return true, err
		}
	}
	err = dev.Replay(c.graph)
	stats.H2D, stats.D2H, stats.D2D = stats.H2D+c.moved.H2D, stats.D2H+c.moved.D2H, stats.D2D+c.moved.D2D
	if err == nil {
		err = r.fetch(0, q)
	}
	return true, errors.Join(err, r.arena.sync())
}
