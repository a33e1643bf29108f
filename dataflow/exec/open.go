package exec

import (
	"errors"
	"fmt"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// NewRunner makes a runner of p. programs are the kernels, by the numbers that calls of the plan use; grids
// have the cells, one for each relation; there are none if p loads none. The arena must have as many devices as p over all ranks, and at least
// p.Peak bytes of memory on each.
func NewRunner(a *Arena, p *plan.Plan, programs []*kernel.Program, grids ...*chunk.Grid) (*Runner, error) {
	return newRunner(a, p, programs, grids, nil)
}

// Beside makes a runner of a plan whose base is r's plan (plan.Options.Base). The runner uses what r's setup
// loads and, where its plan says so, r's host memory. Close it before r.
func (r *Runner) Beside(p *plan.Plan, programs []*kernel.Program, grids ...*chunk.Grid) (*Runner, error) {
	if len(p.Setup) > 0 {
		return nil, fmt.Errorf("exec: a plan beside another keeps %d bytes of its own on the device, and steps of the other would lie over them", p.Once)
	}
	return newRunner(r.arena, p, programs, grids, r)
}

func newRunner(a *Arena, p *plan.Plan, programs []*kernel.Program, grids []*chunk.Grid, base *Runner) (*Runner, error) {
	if n := len(a.devices) * a.ranks.Ranks(); max(1, p.Devices) != n {
		return nil, fmt.Errorf("exec: the plan is for %d devices, the arena has %d", p.Devices, n)
	}
	if n := a.devices[0].mem.Len(); p.Peak > n {
		return nil, fmt.Errorf("exec: the plan needs %d bytes of device memory, the arena has %d", p.Peak, n)
	}
	r := &Runner{arena: a, plan: p, base: base, names: names{p}, host: newHosted(a, p), tasks: make([]task, len(p.Tasks))}
	r.now = current{plan: p, buffers: newBuffers(p)}
	r.ranks = &messages{plan: p, arena: a, host: r.host}
	r.copies = &copies{plan: p, arena: a, host: r.host, stats: make([]Stats, len(a.devices))}
	r.globals = &globals{plan: p, arena: a, names: r.names, consts: map[int]*constant{}}
	r.update = &optimiser{plan: p, arena: a}
	r.kernels = &kernels{plan: p, arena: a, copies: r.copies, now: &r.now, update: r.update}
	r.update.gpus = &r.kernels.gpus
	r.load = &loader{plan: p, arena: a, names: r.names, host: r.host, copies: r.copies, now: &r.now, come: make([]device.Event, r.now.count)}
	for _, open := range []func() error{
		func() error { return r.copies.open(grids) },
		func() error { return r.kernels.open(programs) },
		r.openTasks,
	} {
		if err := open(); err != nil {
			return nil, err
		}
	}
	if each := r.kernels.gpus.each; len(each) > 0 {
		r.load.gpu, r.load.once.gpu = each[0], each[0]
	}
	for _, open := range []func() error{r.copies.listRows, r.openHost, r.ranks.openRelay} {
		if err := open(); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return r, nil
}

// openTasks makes the event of each task that tasks of other queues wait for, and finds messages that cross together.
func (r *Runner) openTasks() (err error) {
	last := make([]*task, max(1, r.plan.Devices)) // by device: its last message
	for i := range r.tasks {
		t := &r.plan.Tasks[i]
		r.tasks[i] = task{on: r.kernels, t: t}
		if r.ranks.isDirect(t) {
			if t.Is.Joined {
				last[t.Device].more = true
			}
			last[t.Device] = &r.tasks[i]
		}
		if !t.Is.Event {
			continue
		}
		if r.tasks[i].event, err = r.arena.on(t.Device).dev.NewEvent(); err != nil {
			return err
		}
	}
	return nil
}

// openHost makes room for results, and for values that have a place on the host.
func (r *Runner) openHost() error {
	if r.base != nil {
		return r.host.open(r.base.host)
	}
	return r.host.open(nil)
}

// Close frees the runner's host memory and files. Outputs are not valid any more.
func (r *Runner) Close() error {
	var err error
	if r.steps.flying {
		r.steps.flying = false
		err = r.arena.syncFor("rows of a batch that is left")
	}
	if len(r.host.files) > 0 && r.arena.onGPU() {
		r.arena.sync() // queued copies may read the files; errors of the device were returned before
	}
	return errors.Join(err, r.host.close())
}

// SetInput sets the rows of input value id: V×RowBytes bytes in new vertex order. If Owns(id), the rows of the rank's own
// intervals, one after the other, are enough. The slice is kept, and may lie in a device.HostFile. Another length is an error.
func (r *Runner) SetInput(id int, rows []byte) error { return r.host.set(id, rows) }

// Owns tells whether this rank needs only the rows of its own intervals of value id in host memory (plan.Plan.Apart).
func (r *Runner) Owns(id int) bool { return r.host.apart(id) }
