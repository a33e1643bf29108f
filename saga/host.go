package saga

import (
	"errors"
	"maps"
	"slices"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/sim"
	"sagann/device"
	"sagann/saga/rows"
)

// Host memory. A session is the programs that share an arena: training with evaluation, a
// program of invariants, or a prediction. Its tenants (plan.Tenant) are the cells, the lists of
// rows that loads gather, the inputs in the session's vertex order, the values that are swapped
// (one tenant if several share memory), and the invariants, which outlive sessions and are kept in
// the user's order. If they need more than Config.HostMem, those that are copied least lie in files
// (plan.PlaceHost). What evaluation needs is counted from the start, although it is allocated only
// when evaluation first runs.
//
// Not counted: the data set itself and results, which belong to the caller; tables of a few bytes
// per vertex, task or parameter; 12 to 16 bytes per edge while cells are built; blocks of
// 8 MiB while rows are laid out, and a 64th of features that are computed meanwhile; the
// system's file cache. Program.Predict on an open program keeps that program's invariants in
// addition to its own.

// tenants lists the tenants of a session of plans. extras are the bytes of invariants by name.
func (p *Program) tenants(extras map[string]int64, plans []*plan.Plan) []plan.Tenant {
	list := plan.Tenants(p.ranks(), plans...)
	list = append(list, p.mode.holds()...)
	for _, name := range slices.Sorted(maps.Keys(extras)) {
		list = append(list, plan.Tenant{Name: inUserOrder(name), Bytes: extras[name], Disk: p.host.onDisk[name], From: plan.Whole, To: plan.Whole})
	}
	return list
}

func inUserOrder(name string) string { return name + " in the user's order" }

// placeHost decides which tenants of a session lie in memory and which in files. The error is a
// *plan.HostError if Config.HostMem is too small.
func (p *Program) placeHost(extras map[string]int64, plans ...*plan.Plan) error {
	h, err := plan.PlaceHost(p.tenants(extras, plans), p.cfg.HostMem, device.Staging(p.cfg.Device))
	if err != nil {
		return err
	}
	if p.host.onDisk == nil {
		p.host.onDisk = map[string]bool{}
	}
	plan.Settle(h.Tenants, plans...)
	for name := range extras {
		p.host.onDisk[name] = slices.ContainsFunc(h.Tenants, func(t plan.Tenant) bool { return t.Name == inUserOrder(name) && t.Disk })
	}
	p.host.plan = h
	return p.moveExtras()
}

// extraBytes is how many bytes each invariant takes in the user's order, by name: those that were
// computed, and those that the programs made compute.
func (p *Program) extraBytes(made ...*dataflow.Lowered) map[string]int64 {
	sizes := map[string]int64{}
	vertices, _ := p.totals()
	for _, l := range made {
		for name, id := range l.Outputs {
			v := &l.Spec.Values[id]
			n := vertices
			if p.in != nil {
				n = p.in.ofType(v.Type).Edges.V
			}
			sizes[name] = 4 * int64(n) * int64(v.Cols)
		}
	}
	if p.in != nil {
		for _, name := range p.in.allKept() {
			sizes[name] = 4 * int64(len(p.in.holder(name).Kept(name)))
		}
	}
	return sizes
}

// placeFinal is placeHost for training and evaluation, or the forward pass, once they are planned. It
// then simulates training again, as files take the disk's time. made are the programs of invariants.
func (p *Program) placeFinal(made []*dataflow.Lowered) error {
	if err := p.placeHost(p.extraBytes(made...), p.plans()...); err != nil {
		return p.leastHost(err, made)
	}
	if p.chosen.predicted != nil && p.cfg.HostMem > 0 {
		p.chosen.predicted = sim.Simulate(p.train.plan, p.on.machine)
	}
	return nil
}

// onceFit is an error if Config.HostMem is too small for a session that computes invariants.
func (p *Program) onceFit(made []*dataflow.Lowered) error {
	for k, l := range made {
		if p.cfg.HostMem == 0 {
			return nil
		}
		pl, err := planner.New(l.Spec, p.grids.cells(p.chosen.want.Widened(0)), p.on.onceOptions(p.chosen.memory.plans(), k))
		if err == nil {
			err = p.placeHost(p.extraBytes(l), pl)
		}
		if err != nil {
			return p.leastHost(err, made)
		}
	}
	return nil
}

// leastHost corrects a *plan.HostError: the smallest budget must work for training with evaluation,
// or for the forward pass, and for every program of invariants.
func (p *Program) leastHost(err error, made []*dataflow.Lowered) error {
	var small *plan.HostError
	if !errors.As(err, &small) {
		return err
	}
	least, wrong := p.least(made, p.extraBytes(made...), p.plans()...)
	if wrong != nil {
		return wrong
	}
	return &plan.HostError{Budget: p.cfg.HostMem, Smallest: least}
}

// least is the smallest Config.HostMem that works for a session of plans and for the sessions of
// the programs of invariants before it.
func (p *Program) least(made []*dataflow.Lowered, extras map[string]int64, plans ...*plan.Plan) (int64, error) {
	var most int64
	ask := func(extras map[string]int64, plans ...*plan.Plan) {
		var e *plan.HostError
		if _, err := plan.PlaceHost(p.tenants(extras, plans), 1, device.Staging(p.cfg.Device)); errors.As(err, &e) {
			most = max(most, e.Smallest)
		}
	}
	ask(extras, plans...)
	err := p.plansOf(made, func(l *dataflow.Lowered, pl *plan.Plan) { ask(p.extraBytes(l), pl) })
	return most, err
}

// plansOf plans the programs of invariants and calls f for each.
func (p *Program) plansOf(made []*dataflow.Lowered, f func(*dataflow.Lowered, *plan.Plan)) error {
	for k, l := range made {
		pl, err := planner.New(l.Spec, p.grids.cells(p.chosen.want.Widened(0)), p.on.onceOptions(p.chosen.memory.plans(), k))
		if err != nil {
			return err
		}
		f(l, pl)
	}
	return nil
}

// checkSpace is an error if the disk has too little space for all files of a session. It is called
// before the first file is made.
func (p *Program) checkSpace() error {
	if p.host.plan == nil || p.host.plan.Disk == 0 {
		return nil
	}
	need := p.host.plan.Disk
	for _, f := range p.host.files {
		need -= int64(len(f.Bytes()))
	}
	return device.CheckSpace(p.cfg.Scratch, need)
}

// moveExtras moves invariants from memory to files, as placeHost has decided.
func (p *Program) moveExtras() error {
	if p.in == nil {
		return nil
	}
	for _, name := range p.in.allKept() {
		if !p.host.onDisk[name] || p.host.files[name] != nil {
			continue
		}
		in := p.in.holder(name)
		x := in.Kept(name)
		err := p.fileExtra(in, name, in.Width(name), func(f *device.HostFile) error {
			_, err := f.WriteAt(device.Bytes(x), 0)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fileExtra makes a file, has write fill it, and makes it the memory of invariant name of in. The file
// lives as long as the program.
func (p *Program) fileExtra(in *rows.Inputs, name string, cols int, write func(*device.HostFile) error) error {
	f, err := device.NewHostFile(p.cfg.Scratch, 4*int64(in.Edges.V)*int64(cols))
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		return errors.Join(err, f.Close())
	}
	if p.host.files == nil {
		p.host.files = map[string]*device.HostFile{}
	}
	p.host.files[name] = f
	in.Keep(name, device.View[float32](f.Bytes()), cols)
	return nil
}
