// Package exec runs a plan on a device: it walks the global order, submits each task
// to its queue, and lets events keep the order between queues. It decides nothing.
package exec

import (
	"errors"
	"fmt"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// Runner runs one plan, again and again.
type Runner struct {
	arena    *Arena
	plan     *plan.Plan
	sides    [2]*chunk.Side
	needs    [2][][]uint32 // by cell: the other rows that it reads, where a task gathers them
	host     [][]byte      // by value: rows in new order, RowBytes each
	owned    []device.HostMem
	files    []*device.HostFile
	kernels  []*kernel.CPU  // on CPU devices
	cuda     []*kernel.CUDA // on GPUs
	gpus     []*gpu
	updateOn *GPUUpdate // nil: the optimiser runs on the host
	tasks    []task
	results  [][]float32 // by plan.Spec.Results
	update   func(global func(id int) []float32) error
	base     *Runner           // whose setup it uses beside its own; nil: none
	consts   map[int]*constant // by Global of kind Const
	setup    bool              // what stays resident is on the device
	stepped  bool              // the last step has ended well
	held     bool              // and what it has computed is on the device
	stats    []Stats           // by device
	trace    *tracer           // nil: off
	captured *captured
}

// Stats counts what a runner has moved. Setup is what was loaded once.
type Stats struct{ H2D, D2H, D2D, Setup int64 }

// task is what the device sees of a plan's task.
type task struct {
	r     *Runner
	t     *plan.Task
	event device.Event
	l     *kernel.Launch
	view  chunk.View
}

// NewRunner prepares p. Programs are the kernels that the plan's calls number; grid
// holds the cells that it loads.
func NewRunner(a *Arena, p *plan.Plan, programs []*kernel.Program, grid *chunk.Grid) (*Runner, error) {
	return newRunner(a, p, programs, grid, nil)
}

// Beside prepares a plan whose base is r's (plan.Options.Base). It uses what r's setup
// loads, and r's host memory where its plan says so, no longer than r is open.
func (r *Runner) Beside(p *plan.Plan, programs []*kernel.Program, grid *chunk.Grid) (*Runner, error) {
	if len(p.Setup) > 0 {
		return nil, fmt.Errorf("exec: a plan beside another keeps %d bytes of its own on the device, and steps of the other would lie over them", p.Once)
	}
	return newRunner(r.arena, p, programs, grid, r)
}

func newRunner(a *Arena, p *plan.Plan, programs []*kernel.Program, grid *chunk.Grid, base *Runner) (*Runner, error) {
	if max(1, p.Devices) != len(a.devices) {
		return nil, fmt.Errorf("exec: the plan is for %d devices, the arena has %d", p.Devices, len(a.devices))
	}
	if n := a.devices[0].mem.Len(); p.Peak > n {
		return nil, fmt.Errorf("exec: the plan needs %d bytes of device memory, the arena has %d", p.Peak, n)
	}
	r := &Runner{arena: a, plan: p, base: base, consts: map[int]*constant{}, host: make([][]byte, len(p.Spec.Values)), tasks: make([]task, len(p.Tasks)), stats: make([]Stats, len(a.devices))}
	if grid != nil {
		r.sides = [2]*chunk.Side{plan.CSC: grid.CSC, plan.CSR: grid.CSR}
		for _, s := range r.sides {
			if s == nil {
				continue
			}
			if err := a.pin(s.Mem); err != nil {
				return nil, err
			}
		}
	}
	if a.onGPU() {
		if err := r.openGPU(programs); err != nil {
			return nil, err
		}
		programs = nil
	}
	for _, k := range programs {
		c, err := kernel.Compile(k)
		if err != nil {
			return nil, err
		}
		r.kernels = append(r.kernels, c)
	}
	for i := range p.Tasks {
		r.tasks[i] = task{r: r, t: &p.Tasks[i]}
		if p.Tasks[i].Is.Event {
			e, err := a.devices[p.Tasks[i].Device].dev.NewEvent()
			if err != nil {
				return nil, err
			}
			r.tasks[i].event = e
		}
	}
	err := r.listRows()
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	for _, id := range p.Spec.Results {
		g := p.Spec.Globals[id]
		r.results = append(r.results, make([]float32, g.Rows*g.Cols))
	}
	for id, v := range p.Spec.Values {
		if !p.HasPlace(id) {
			continue
		}
		if of := p.Host.Lent[id]; of >= 0 && base != nil {
			r.host[id] = base.host[of][:p.HostBytesOf(id)]
			continue
		}
		if r.host[id], err = r.hostMemory(id); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", v.Name, err), r.Close())
		}
	}
	for id, of := range p.Host.Of {
		r.host[id] = r.host[of]
	}
	return r, nil
}

// hostMemory takes what value id needs on the host, in memory or in a file.
func (r *Runner) hostMemory(id int) ([]byte, error) {
	n := r.plan.HostBytesOf(id)
	if r.plan.OnDisk(id) {
		f, err := device.NewHostFile(r.arena.scratch, n)
		if err != nil {
			return nil, err
		}
		r.files = append(r.files, f)
		return f.Bytes(), nil
	}
	h, err := r.arena.devices[0].dev.HostAlloc(n)
	if err != nil {
		return nil, err
	}
	r.owned = append(r.owned, h)
	return h.Bytes(), nil
}

// Close gives host memory back.
func (r *Runner) Close() error {
	var err error
	if len(r.files) > 0 && r.arena.onGPU() {
		r.arena.sync() // what is queued reads files; a device that failed has said so before
	}
	for _, f := range r.files {
		err = errors.Join(err, f.Close())
	}
	r.files = nil
	for _, h := range r.owned {
		err = errors.Join(err, r.arena.devices[0].dev.HostFree(h))
	}
	r.owned = nil
	return err
}

// SetInput gives input value id its rows, V×RowBytes bytes in new vertex order. The
// slice, which may lie in a device.HostFile, is kept.
func (r *Runner) SetInput(id int, rows []byte) error {
	if int64(len(rows)) != r.plan.HostBytesOf(id) {
		return fmt.Errorf("exec: input %s: %d bytes, want %d", r.plan.Spec.Values[id].Name, len(rows), r.plan.HostBytesOf(id))
	}
	r.host[id] = rows
	return r.arena.pin(rows)
}

// Output is value id in host memory after a step: V×RowBytes bytes in new vertex
// order, valid until the next step.
func (r *Runner) Output(id int) []byte { return r.host[id] }

// Plan is what the runner runs.
func (r *Runner) Plan() *plan.Plan { return r.plan }

// OnUpdate sets the optimiser: it runs as the plan's Update task, after the last
// gradient, on every device, with access to its Globals.
func (r *Runner) OnUpdate(f func(global func(id int) []float32) error) { r.update = f }

// Result is number i of plan.Spec.Results after a step, valid until the next.
func (r *Runner) Result(i int) []float32 { return r.results[i] }

// Stats counts what moved so far.
func (r *Runner) Stats() Stats {
	var sum Stats
	for _, s := range r.stats {
		sum.H2D, sum.D2H, sum.D2D, sum.Setup = sum.H2D+s.H2D, sum.D2H+s.D2H, sum.D2D+s.D2D, sum.Setup+s.Setup
	}
	return sum
}

// named says which task a call of a device failed for, by the tag of its queue: task i
// of a step has tag i, task i of the setup -1-i.
func (r *Runner) named(err error) error {
	var call *device.OpError
	if !errors.As(err, &call) || call.Queue == "" {
		return err
	}
	switch i := call.Tag; {
	case i >= 0 && i < int64(len(r.plan.Tasks)):
		return fmt.Errorf("%s: %w", r.plan.Describe(int(i)), err)
	case i < 0 && -1-i < int64(len(r.plan.Setup)):
		return fmt.Errorf("setup (%s): %w", r.plan.DescribeTask(&r.plan.Setup[-1-i]), err)
	}
	return err
}

// Step runs the plan once and returns when it is done.
func (r *Runner) Step() error {
	err := r.Load()
	if err == nil {
		err = r.step()
	}
	r.ended(err)
	return err
}

func (r *Runner) step() error {
	if done, err := r.replay(); done {
		return err
	}
	r.traceBegin()
	err := errors.Join(r.submitAll(), r.named(r.arena.sync()))
	r.traceEnd(err)
	return err
}
