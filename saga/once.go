package saga

import (
	"errors"
	"maps"
	"slices"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/device"
)

// runOnce computes the invariants of the k-th program of them and keeps them, in user
// order, as inputs.
func (p *Program) runOnce(l *dataflow.Lowered, k int) error {
	missing := false
	for name := range l.Outputs {
		missing = missing || p.in.extra[name] == nil
	}
	if !missing {
		return nil
	}
	u := &unit{low: l}
	var err error
	if u.plan, err = planner.New(l.Spec, p.cells, p.onceOptions(p.memory.plans(), k)); err != nil {
		return err
	}
	if err := p.placeHost(p.extraBytes(l), u.plan); err != nil {
		return err
	}
	if err := p.forget(); err != nil { // another plan's order may differ
		return err
	}
	dev, arena, err := p.openDevices(u.plan.Peak)
	if err != nil {
		return err
	}
	err = p.start(u, arena)
	if err == nil {
		err = u.run.Step()
	}
	if err == nil {
		o := p.orderFor(u.plan.Cells.P)
		for name, id := range l.Outputs {
			if err == nil {
				err = p.keepExtra(name, u, id, o)
			}
		}
	}
	if k < len(p.once) {
		p.once[k] = u.plan.Cells.P
	}
	return errors.Join(err, closeAll(dev, arena, u), p.forget())
}

// onceOptions are those of the plan of the k-th program that is run once: it need not be
// fast.
func (p *Program) onceOptions(budget int64, k int) plan.Options {
	o := p.planOptions()
	o.Budget, o.Group, o.Groups = budget, 1, nil
	if k < len(p.cfg.Once) && p.cfg.Once[k] > 0 {
		o.P = p.cfg.Once[k]
	}
	if o.Schedule == plan.Auto {
		o.Schedule = plan.Sag
	}
	return o
}

// keepExtra keeps value id of u after a step as the invariant name, in the user's order.
func (p *Program) keepExtra(name string, u *unit, id int, o *chunk.Order) error {
	cols := u.plan.Spec.Values[id].Cols
	if !p.extraDisk[name] {
		p.in.extra[name], p.in.cols[name] = p.userRows(u, id, o)
		return nil
	}
	v, ld, rows := p.in.edges.V, chunk.LD(cols), u.run.Output(id)
	var room []float32
	return p.fileExtra(name, cols, func(f *device.HostFile) error {
		return blocks(v, ld, func(lo, hi int) error {
			if room == nil {
				room = make([]float32, (hi-lo)*cols)
			}
			x := room[:(hi-lo)*cols]
			chunk.UnpermuteRows(x, floatsOf(rows), cols, ld, o, lo, hi)
			device.Drop(rows)
			_, err := f.WriteAt(bytesOf(x), 4*int64(lo)*int64(cols))
			return err
		})
	})
}

// moveExtras moves invariants that are in memory into files, where they are to lie.
func (p *Program) moveExtras() error {
	if p.in == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.in.extra)) {
		if !p.extraDisk[name] || p.extraFiles[name] != nil {
			continue
		}
		x := p.in.extra[name]
		err := p.fileExtra(name, p.in.cols[name], func(f *device.HostFile) error {
			_, err := f.WriteAt(bytesOf(x), 0)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fileExtra has write fill a file that from then on is the invariant name. It is given
// up with the program.
func (p *Program) fileExtra(name string, cols int, write func(*device.HostFile) error) error {
	f, err := device.NewHostFile(p.cfg.Scratch, 4*int64(p.in.edges.V)*int64(cols))
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		return errors.Join(err, f.Close())
	}
	if p.extraFiles == nil {
		p.extraFiles = map[string]*device.HostFile{}
	}
	p.extraFiles[name] = f
	p.in.extra[name], p.in.cols[name] = floatsOf(f.Bytes()), cols
	return nil
}
