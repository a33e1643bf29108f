package exec

import (
	"errors"
	"fmt"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
	"sagann/kernel/cpu"
)

// NewRunner makes a runner of p. programs are the kernels, by the numbers that calls of the plan use; grid
// has the cells, and is nil if p loads none. The arena must have as many devices as p over all ranks, and at least
// p.Peak bytes of memory on each.
func NewRunner(a *Arena, p *plan.Plan, programs []*kernel.Program, grid *chunk.Grid) (*Runner, error) {
	return newRunner(a, p, programs, grid, nil)
}

// Beside makes a runner of a plan whose base is r's plan (plan.Options.Base). The runner uses what r's setup
// loads and, where its plan says so, r's host memory. Close it before r.
func (r *Runner) Beside(p *plan.Plan, programs []*kernel.Program, grid *chunk.Grid) (*Runner, error) {
	if len(p.Setup) > 0 {
		return nil, fmt.Errorf("exec: a plan beside another keeps %d bytes of its own on the device, and steps of the other would lie over them", p.Once)
	}
	return newRunner(r.arena, p, programs, grid, r)
}

func newRunner(a *Arena, p *plan.Plan, programs []*kernel.Program, grid *chunk.Grid, base *Runner) (*Runner, error) {
	if n := len(a.devices) * a.ranks.Ranks(); max(1, p.Devices) != n {
		return nil, fmt.Errorf("exec: the plan is for %d devices, the arena has %d", p.Devices, n)
	}
	if n := a.devices[0].mem.Len(); p.Peak > n {
		return nil, fmt.Errorf("exec: the plan needs %d bytes of device memory, the arena has %d", p.Peak, n)
	}
	r := &Runner{arena: a, plan: p, base: base, consts: map[int]*constant{}, names: names{p}, host: newHosted(a, p), tasks: make([]task, len(p.Tasks)), stats: make([]Stats, len(a.devices))}
	r.ranks = &messages{plan: p, arena: a, host: r.host}
	if z := p.Places.Sets; z != nil && z.Ahead.On {
		r.ahead.from, r.ahead.bytes, r.ahead.rooms, r.ahead.come = z.Ahead.At, z.Ahead.Bytes, z.Ahead.Rooms, make([]device.Event, z.Ahead.Rooms)
	}
	for _, open := range []func() error{
		func() error { return r.openCells(grid) },
		func() error { return r.openKernels(indexed(p, programs)) },
		r.openTasks,
	} {
		if err := open(); err != nil {
			return nil, err
		}
	}
	for _, open := range []func() error{r.listRows, r.openHost, r.ranks.openRelay} {
		if err := open(); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return r, nil
}

// openCells pins the cells of grid, nil for a plan that reads none.
func (r *Runner) openCells(grid *chunk.Grid) error {
	if grid == nil {
		return nil
	}
	r.sides = [2]*chunk.Side{plan.CSC: grid.CSC, plan.CSR: grid.CSR}
	for _, s := range r.sides {
		if s == nil {
			continue
		}
		if err := r.arena.pin(s.Mem); err != nil {
			return err
		}
	}
	return nil
}

// openKernels compiles the programs for the arena's devices.
func (r *Runner) openKernels(programs []*kernel.Program) error {
	if r.arena.onGPU() {
		return r.openGPU(programs)
	}
	for _, k := range programs {
		c, err := cpu.Compile(k)
		if err != nil {
			return err
		}
		r.kernels = append(r.kernels, c)
	}
	return nil
}

// openTasks makes the event of each task that tasks of other queues wait for, and finds messages that cross together.
func (r *Runner) openTasks() (err error) {
	last := make([]*task, max(1, r.plan.Devices)) // by device: its last message
	for i := range r.tasks {
		t := &r.plan.Tasks[i]
		r.tasks[i] = task{r: r, t: t}
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
	p := r.plan
	for _, id := range p.Spec.Results {
		g := p.Spec.Globals[id]
		r.results = append(r.results, make([]float32, g.Rows*g.Cols))
	}
	if r.base != nil {
		return r.host.open(r.base.host)
	}
	return r.host.open(nil)
}

// Close frees the runner's host memory and files. Outputs are not valid any more.
func (r *Runner) Close() error {
	var err error
	if r.ahead.flying {
		r.ahead.flying = false
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
