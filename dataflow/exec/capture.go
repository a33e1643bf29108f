package exec

import (
	"errors"

	"sagann/dataflow/plan"
	"sagann/device"
)

// captured is a step of a plan on GPUs as one graph: the driver then starts its
// kernels and copies by itself. What changes from step to step stays outside: the
// optimiser's numbers go before it, the results come after it.
type captured struct {
	now     bool // a step is being captured
	tried   bool
	graph   device.Graph
	moved   Stats // by one step
	results []int // devices that results come from
}

// captureMost is the number of tasks up to which a step is captured: a graph takes host
// and device memory in proportion.
const captureMost = 1 << 15

// replay runs the step by its graph, if there is one or one can be had: the second step
// of a runner on GPUs is captured (the first has compiled and opened everything). Steps
// that are traced go task by task.
func (r *Runner) replay() (done bool, err error) {
	dev, queues := r.capturers()
	if dev == nil || r.trace != nil || r.arena.OneByOne || len(r.tasks) > captureMost || r.hostUpdate() {
		return false, nil
	}
	if r.captured == nil { // the first step
		r.captured = &captured{}
		for i := range r.plan.Tasks {
			if t := &r.plan.Tasks[i]; t.Kind == plan.Results {
				r.captured.results = append(r.captured.results, int(t.Device))
			}
		}
		return false, nil
	}
	c := r.captured
	if !c.tried {
		c.tried, c.now = true, true
		before := r.stats
		c.graph, err = dev.Capture(queues, r.submitAll)
		c.moved = Stats{H2D: r.stats.H2D - before.H2D, D2H: r.stats.D2H - before.D2H, D2D: r.stats.D2D - before.D2D}
		r.stats, c.now = before, false
		if err != nil { // something in it cannot be captured: the step goes task by task
			c.graph = nil
		}
	}
	if c.graph == nil {
		return false, nil
	}
	return true, errors.Join(r.replayNow(dev), r.arena.sync())
}

// replayNow submits the graph, and around it what changes.
func (r *Runner) replayNow(dev device.Capturer) error {
	if r.updateOn != nil {
		for i, p := range r.arena.devices {
			if err := r.setStep(i, p.queues[plan.Compute]); err != nil {
				return err
			}
		}
	}
	c := r.captured
	r.stats.H2D, r.stats.D2H, r.stats.D2D = r.stats.H2D+c.moved.H2D, r.stats.D2H+c.moved.D2H, r.stats.D2D+c.moved.D2D
	if err := dev.Replay(c.graph); err != nil {
		return err
	}
	if len(r.arena.devices) > 1 { // the graph runs behind a queue of the first
		if err := r.arena.devices[0].dev.Sync(); err != nil {
			return err
		}
	}
	for _, d := range c.results {
		if err := r.fetch(d, r.arena.devices[d].queues[plan.Compute]); err != nil {
			return err
		}
	}
	return nil
}

// capturers are the first device and all queues, its compute queue first; nil unless all
// devices can be captured.
func (r *Runner) capturers() (first device.Capturer, queues []device.Queue) {
	for i := range r.arena.devices {
		dev, ok := r.arena.devices[i].dev.(device.Capturer)
		if !ok {
			return nil, nil
		}
		if i == 0 {
			first = dev
		}
		queues = append(queues, r.arena.devices[i].queues[:]...)
	}
	return first, queues
}

// hostUpdate tells whether the optimiser runs on the host, in the middle of a step.
func (r *Runner) hostUpdate() bool { return r.update != nil && r.updateOn == nil }
