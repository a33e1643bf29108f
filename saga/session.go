package saga

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/device"
)

// session is what an open program has on its devices. What their memory holds, and what
// is loaded again, exec's runners know (exec/holds.go); the session keeps what they lose.
type session struct {
	devices []device.Device
	arena   *exec.Arena
	grads   map[string][]float32 // of the last step, once the devices do not hold them any more
	spoiled atomic.Pointer[spoiled]
}

// errClosed is what every use of a closed program gets.
var errClosed = errors.New("saga: the program is closed; Open takes device memory again, with the initial parameters")

// userRows is value id of u after a step, V×cols in user order.
func (p *Program) userRows(u *unit, id int, o *chunk.Order) ([]float32, int) {
	cols := u.plan.Spec.Values[id].Cols
	x := make([]float32, p.in.edges.V*cols)
	rows, ld := u.run.Output(id), chunk.LD(cols)
	blocks(p.in.edges.V, ld, func(lo, hi int) error {
		chunk.UnpermuteRows(x[lo*cols:hi*cols], floatsOf(rows), cols, ld, o, lo, hi)
		device.Drop(rows)
		return nil
	})
	return x, cols
}

// openDevices takes peak bytes of memory on every device of the configuration.
func (p *Program) openDevices(peak int64) ([]device.Device, *exec.Arena, error) {
	if err := p.checkSpace(); err != nil {
		return nil, nil, err
	}
	budget := p.memory.bound
	if budget == 0 {
		budget = peak + p.memory.scratch
	}
	devices, err := device.Open(cmp.Or(p.cfg.Device, backend.Default().Name), budget)
	if err != nil {
		return nil, nil, err
	}
	arena, err := exec.NewArena(devices, peak)
	if err != nil {
		return nil, nil, errors.Join(err, closeAll(devices, nil))
	}
	arena.TF32, arena.Scratch = p.cfg.TF32, p.memory.scratch
	return devices, arena, nil
}

func closeAll(devices []device.Device, arena *exec.Arena, units ...*unit) error {
	var err error
	for _, u := range units {
		if u != nil && u.run != nil {
			err = errors.Join(err, u.run.Close())
			u.run = nil
		}
	}
	if arena != nil {
		err = errors.Join(err, arena.Close())
	}
	for _, d := range devices {
		err = errors.Join(err, d.Close())
	}
	return err
}

// start makes u runnable: kernels, inputs, constants.
func (p *Program) start(u *unit, arena *exec.Arena) error {
	g, err := p.gridFor(u.plan.Cells.P)
	if err != nil {
		return err
	}
	arena.FilesIn(p.cfg.Scratch)
	if u == p.eval {
		u.run, err = p.train.run.Beside(u.plan, u.low.Kernels, g.grid)
	} else {
		u.run, err = exec.NewRunner(arena, u.plan, u.low.Kernels, g.grid)
	}
	if err != nil {
		return err
	}
	for name, id := range u.low.Inputs {
		rows, ok := p.inv[name]
		if !ok {
			start := time.Now()
			if rows, err = p.layOut(name, g.order, u.plan.OnDisk(id)); err != nil {
				return fmt.Errorf("input %s: %w", name, err)
			}
			since(&p.stages.Layout, start)
			p.inv[name] = rows
		}
		if err := u.run.SetInput(id, rows); err != nil {
			return err
		}
	}
	return p.setConsts(u)
}

// setConsts sets the program's numbers that do not change from step to step.
func (p *Program) setConsts(u *unit) error {
	for id, x := range u.low.Consts {
		if err := u.run.SetGlobal(id, []float32{x}); err != nil {
			return err
		}
	}
	for name, id := range u.low.Globals {
		if strings.HasPrefix(name, graphPrefix) {
			if err := u.run.SetGlobal(id, p.in.matrix(name, p.dims.graphs)); err != nil {
				return err
			}
		}
	}
	return p.setStep(u)
}

// setStep gives the next step of u the number of its epoch, if it asks for it.
func (p *Program) setStep(u *unit) error {
	id, ok := u.low.Globals[dataflow.StepInput]
	if !ok {
		return nil
	}
	word := func(x uint64) float32 { return math.Float32frombits(uint32(x)) }
	return u.run.SetGlobal(id, []float32{word(p.cfg.Seed), word(p.cfg.Seed >> 32), word(uint64(p.epoch)), 0})
}

// open takes the device memory and sets the initial parameters, if that was not done; a
// program that was closed stays so.
func (p *Program) open() error {
	switch {
	case p.closed:
		return errClosed
	case p.session != nil:
		return nil
	}
	if p.shape != nil {
		return errors.New("saga: the program was planned from statistics; there is no data to run it on")
	}
	before, start := p.stages, time.Now()
	defer func() {
		s := &p.stages
		s.Open += time.Since(start) - (s.Grid - before.Grid) - (s.Layout - before.Layout) - (s.Order - before.Order)
	}()
	devices, arena, err := p.openDevices(max(p.train.plan.Peak, p.eval.plan.Peak))
	if err != nil {
		return err
	}
	return p.begin(devices, arena)
}

// begin makes the program ready to step on devices; when that fails they are closed.
func (p *Program) begin(devices []device.Device, arena *exec.Arena) error {
	p.session = &session{devices: devices, arena: arena}
	err := p.forget() // laid out again, in the order of the final plan
	if err == nil {
		err = p.ready()
	}
	if err != nil {
		return errors.Join(err, p.release())
	}
	return nil
}

func (p *Program) ready() error {
	if err := p.start(p.train, p.session.arena); err != nil {
		return err
	}
	p.train.run.OnUpdate(p.update)
	if u := p.gpuUpdate(); u != nil {
		if err := p.train.run.OnUpdateGPU(u); err != nil {
			return err
		}
	}
	for i := range p.params {
		q := &p.params[i]
		if err := p.SetParam(q.Name, q.initial(p.cfg.Seed)); err != nil {
			return err
		}
		for k := range p.cfg.Optimizer.moments() {
			if id, ok := p.train.low.Globals[fmt.Sprintf("moment%d:%s", k+1, q.Name)]; ok {
				if err := p.train.run.SetGlobal(id, make([]float32, q.Rows*q.Cols)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// openEval makes the evaluation program runnable; what only trains does without it and
// its host memory.
func (p *Program) openEval() error {
	if err := p.open(); err != nil || p.eval.run != nil {
		return err
	}
	if err := p.start(p.eval, p.session.arena); err != nil {
		return errors.Join(err, p.release())
	}
	return nil
}

// update is the plan's Update task.
func (p *Program) update(global func(id int) []float32) error {
	l := p.train.low
	var slots []slot
	for _, u := range l.Spec.Updates {
		name := l.Spec.Globals[u.Param].Name
		s := slot{w: global(u.Param), g: global(u.Grad)}
		i := slices.IndexFunc(p.params, func(q Param) bool { return q.Name == name })
		s.decay = p.cfg.Optimizer.DecayAll || p.params[i].Layer == 0
		for k := range p.cfg.Optimizer.moments() {
			s.m = append(s.m, global(l.Globals[fmt.Sprintf("moment%d:%s", k+1, name)]))
		}
		slots = append(slots, s)
	}
	if k := p.cfg.Optimizer.apply(slots, p.epoch+1); k >= 0 {
		p.session.spoil(p.epoch+1, l.Spec.Globals[l.Spec.Updates[k].Param].Name)
	}
	return nil
}

// Step trains for one epoch and returns the loss before the update.
func (p *Program) Step() (loss float64, err error) {
	if err := p.open(); err != nil {
		return 0, err
	}
	if err := p.setStep(p.train); err != nil {
		return 0, err
	}
	p.session.grads = nil
	if err := p.train.run.Step(); err != nil {
		return 0, fmt.Errorf("epoch %d: %w", p.epoch+1, err)
	}
	p.epoch++
	return float64(p.train.run.Result(0)[0]), nil
}

// Close frees device and host memory, and with it the parameters. A closed program can
// be opened again with Open, its count of epochs goes on; every other use of its devices
// is an error until then. Invariants that it has computed stay, in memory or in files,
// until it is given up.
func (p *Program) Close() error {
	p.closed = true
	return p.release()
}

// release is Close of a program that may be opened again by its next use.
func (p *Program) release() error {
	if p.session == nil {
		return p.forget()
	}
	err := closeAll(p.session.devices, p.session.arena, p.train, p.eval)
	p.session = nil
	return errors.Join(err, p.forget())
}

// peak is the most device memory that any device has held.
func (p *Program) peak() int64 {
	var most int64
	if p.session != nil {
		for _, d := range p.session.devices {
			most = max(most, d.Counters().Peak)
		}
	}
	return most
}
