package exec

import (
	"slices"

	"sagann/dataflow/plan"
	"sagann/device"
)

// Steps of sampled batches as CUDA graphs, where they come ahead. While a step is at work, the kernels of the next one are bound to
// its batch and captured; its turn then takes one call. Launches come to a GPU over the link, where each would wait for
// rows of batches that come over it, too; a graph waits once.

// batchGraphs are the graphs of a runner.
type batchGraphs struct {
	list [2]device.Graph // by turns, as one may be at work
	turn int             // which was captured last
	of   *Batch          // for this batch, in the room behind the one at hand; nil: for none
	ran  bool            // the step at work is a graph
	end  device.Event    // of the step
	off  bool            // no graph can be had
}

// submitBatch submits the step of the batch, by its graph if there is one.
func (r *Runner) submitBatch() error {
	g, p := &r.ahead.steps, &r.arena.devices[0]
	g.ran = g.of != nil && g.of == r.batch && !r.oneByOne()
	g.of = nil
	if !g.ran {
		return r.submitAll()
	}
	q, first := p.queues[plan.Compute], r.firstOn(plan.Compute)
	q.SetTag(int64(first))
	err := p.dev.Wait(q, r.ahead.come[r.ahead.room])
	if err == nil && r.gpu.update != nil {
		err = r.setStep(0, q)
	}
	if err == nil {
		err = p.dev.(device.Capturer).Replay(g.list[g.turn])
	}
	if err != nil {
		return r.fail(first, err)
	}
	return nil
}

// firstOn is the first task of a queue.
func (r *Runner) firstOn(q plan.Queue) int {
	return slices.IndexFunc(r.tasks, func(k task) bool { return k.t.Queue == q })
}

// oneByOne tells whether somebody watches every task.
func (r *Runner) oneByOne() bool { return r.trace != nil || r.arena.OneByOne }

// keepNext captures the step of the batch that comes next. What the driver cannot capture goes task by task; an error is of a task that cannot
// be submitted at all.
func (r *Runner) keepNext() (wrong error) {
	g, a := &r.ahead.steps, &r.ahead
	dev, ok := r.arena.devices[0].dev.(device.Capturer)
	if g.off || !ok || a.next == nil || r.oneByOne() {
		return nil
	}
	if !r.onlyKernels() {
		g.off = true
		return nil
	}
	submit := func() error {
		wrong = r.submitKernels()
		return wrong
	}
	room, batch := a.room, r.batch
	a.room, r.batch, r.gpu.capturing = a.behind(1), a.next, true
	g.turn = 1 - g.turn
	var err error
	if graph := g.list[g.turn]; graph != nil {
		err = dev.Update(graph, submit)
	} else {
		g.list[g.turn], err = dev.Capture([]device.Queue{r.arena.devices[0].queues[plan.Compute]}, submit)
	}
	if g.of = a.next; err != nil {
		g.off, g.of = true, nil
	}
	a.room, r.batch, r.gpu.capturing = room, batch, false
	return wrong
}

// onlyKernels tells whether steps are kernels on one queue of one device, beside loads, which come ahead, and results.
func (r *Runner) onlyKernels() bool {
	if len(r.arena.devices) > 1 || r.arena.ranks.Ranks() > 1 || r.apart != nil || r.hostUpdate() || len(r.tasks) > captureMost {
		return false
	}
	for i := range r.tasks {
		if t := r.tasks[i].t; t.Queue != plan.Compute && t.Kind != plan.Load && t.Kind != plan.Results {
			return false
		}
	}
	return true
}

// submitKernels submits the tasks of the queue that computes, which wait for nobody but each other.
func (r *Runner) submitKernels() error {
	q := r.arena.devices[0].queues[plan.Compute]
	for i := range r.tasks {
		if k := &r.tasks[i]; k.t.Queue == plan.Compute {
			q.SetTag(int64(i))
			if err := k.submit(q); err != nil {
				return r.fail(i, err)
			}
		}
	}
	return nil
}
