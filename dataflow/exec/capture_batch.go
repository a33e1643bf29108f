package exec

import (
	"slices"

	"sagann/dataflow/plan"
	"sagann/device"
)

// The step of a batch that is loaded ahead, as a CUDA graph. While one step runs, keepNext binds the kernels of the next step to
// the next batch and captures them, so that this step takes one call. Launches reach a GPU over the link. While rows are read over
// the link, each launch waits for these; a graph waits once.

// batchGraphs are the steps of a runner over batches, and their graphs.
type batchGraphs struct {
	list [2]device.Graph // used in turn: one may run while the other is captured
	turn int             // index in list of the graph that was captured last
	of   *Batch          // the batch that it was captured for, in the buffer after the current one; nil: none
	ran  bool            // the current step was submitted as a graph
	end  device.Event    // of the queue of the step, for the copy of results
	off  bool            // steps cannot be captured

	ended  device.Event // the kernels and results of a step have ended
	flying bool         // the last step has returned while rows of a later batch are still being loaded
}

// submitBatch submits the step of the current batch, as a graph if one was captured for it.
func (r *Runner) submitBatch() error {
	g, p := &r.steps, &r.arena.devices[0]
	g.ran = g.of != nil && g.of == r.now.batch && !r.oneByOne()
	g.of = nil
	if !g.ran {
		return r.submitAll()
	}
	q, first := p.queues[plan.Compute], r.firstOn(plan.Compute)
	q.SetTag(int64(first))
	err := p.dev.Wait(q, r.load.come[r.now.buffer])
	if err == nil && r.update.calls != nil {
		err = r.update.numbers(0, q)
	}
	if err == nil {
		err = p.dev.(device.Capturer).Replay(g.list[g.turn])
	}
	if err != nil {
		return r.names.task(first, err)
	}
	return nil
}

// firstOn is the number of the first task of a queue; -1 if it has none.
func (r *Runner) firstOn(q plan.Queue) int {
	return slices.IndexFunc(r.tasks, func(k task) bool { return k.t.Queue == q })
}

// oneByOne tells whether steps must be submitted task by task: for a trace, or because of Arena.OneByOne.
func (r *Runner) oneByOne() bool { return r.trace != nil || r.arena.OneByOne }

// keepNext captures the step of the batch that is staged next. If the driver cannot capture it, steps go task by task from then
// on. keepNext returns only errors of tasks that cannot be submitted.
func (r *Runner) keepNext() (wrong error) {
	g, next := &r.steps, r.load.next
	dev, ok := r.arena.devices[0].dev.(device.Capturer)
	if g.off || !ok || next == nil || r.oneByOne() {
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
	g.turn = 1 - g.turn
	var err error
	r.now.during(next, r.now.behind(1), func() {
		r.kernels.gpus.capturing = true
		defer func() { r.kernels.gpus.capturing = false }()
		if graph := g.list[g.turn]; graph != nil {
			err = dev.Update(graph, submit)
		} else {
			g.list[g.turn], err = dev.Capture([]device.Queue{r.arena.devices[0].queues[plan.Compute]}, submit)
		}
	})
	if g.of = next; err != nil {
		g.off, g.of = true, nil
	}
	return wrong
}

// onlyKernels tells whether a step consists of kernels on the compute queue of one device, apart from loads, which are
// done ahead, and results.
func (r *Runner) onlyKernels() bool {
	if len(r.arena.devices) > 1 || r.arena.ranks.Ranks() > 1 || r.update.apart != nil || r.update.onHost() || len(r.tasks) > captureMost {
		return false
	}
	for i := range r.tasks {
		if t := r.tasks[i].t; t.Queue != plan.Compute && t.Kind != plan.Load && t.Kind != plan.Results {
			return false
		}
	}
	return true
}

// submitKernels submits the tasks of the compute queue, without waits for other queues.
func (r *Runner) submitKernels() error {
	q := r.arena.devices[0].queues[plan.Compute]
	for i := range r.tasks {
		if k := &r.tasks[i]; k.t.Queue == plan.Compute {
			q.SetTag(int64(i))
			if err := r.submitTask(k, q); err != nil {
				return r.names.task(i, err)
			}
		}
	}
	return nil
}
