package saga

import (
	"errors"
	"maps"
	"slices"
	"sync/atomic"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/sim"
	"sagann/device"
)

// Host memory. A session is the one or two programs that share an arena: training with
// evaluation, what is computed once, a prediction. Its tenants are the cells, the lists
// of rows that loads gather, the inputs in the session's vertex order, the values that
// are swapped (one tenant where several share a place), and the invariants, which outlive
// sessions in the user's order. Within Config.HostMem what is moved least lies in files
// (plan.PlaceHost). What evaluation needs counts from the start, though it is taken when
// evaluation is first asked for.
//
// Not counted: the data set itself and what the caller gets back, which are the
// caller's; tables of a few bytes a vertex, a task or a parameter; 12 to 16 bytes an
// edge while cells are built; blocks of blockBytes while rows are laid out, and of
// features that are made then a 64th; the system's cache of files. Program.Predict on an open program keeps that one's invariants beside
// its own.

// tenants lists those of a session of plans, with invariants of so many bytes by name.
func (p *Program) tenants(extras map[string]int64, plans []*plan.Plan) []plan.Tenant {
	list := plan.Tenants(p.ranks(), plans...)
	if p.sampled != nil && p.train.plan != nil {
		list = append(list, p.sampled.tenants(p)...)
	}
	for _, name := range slices.Sorted(maps.Keys(extras)) {
		list = append(list, plan.Tenant{Name: inUserOrder(name), Bytes: extras[name], Disk: p.host.onDisk[name], From: plan.Whole, To: plan.Whole})
	}
	return list
}

func inUserOrder(name string) string { return name + " in the user's order" }

// placeHost decides where the tenants of a session lie. The error is a *plan.HostError
// when Config.HostMem is too small for it.
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

// extraBytes is what invariants take in the user's order: those that there are, and
// those that programs make.
func (p *Program) extraBytes(made ...*dataflow.Lowered) map[string]int64 {
	sizes := map[string]int64{}
	vertices, _ := p.Totals()
	for _, l := range made {
		for name, id := range l.Outputs {
			sizes[name] = 4 * int64(vertices) * int64(l.Spec.Values[id].Cols)
		}
	}
	if p.in != nil {
		for name, x := range p.in.extra {
			sizes[name] = 4 * int64(len(x))
		}
	}
	return sizes
}

// placeFinal is placeHost for what the program is for, which is planned; the predicted time
// then knows the disk. made are the programs of invariants.
func (p *Program) placeFinal(made []*dataflow.Lowered) error {
	if p.output != "" && p.sampled != nil { // it has nothing but batches
		return nil
	}
	if err := p.placeHost(p.extraBytes(made...), p.plans()...); err != nil {
		return p.leastHost(err, made)
	}
	if p.chosen.predicted != nil && p.cfg.HostMem > 0 {
		p.chosen.predicted = sim.Simulate(p.train.plan, p.on.machine)
	}
	return nil
}

// onceFit says whether Config.HostMem does for the sessions that compute invariants.
func (p *Program) onceFit(made []*dataflow.Lowered) error {
	for k, l := range made {
		if p.cfg.HostMem == 0 {
			return nil
		}
		pl, err := planner.New(l.Spec, p.cells, p.onceOptions(p.chosen.memory.plans(), k))
		if err == nil {
			err = p.placeHost(p.extraBytes(l), pl)
		}
		if err != nil {
			return p.leastHost(err, made)
		}
	}
	return nil
}

// leastHost completes a *plan.HostError: the smallest budget must do for training with evaluation,
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

// least is the smallest Config.HostMem for a session of plans and, before it, those of
// the invariants.
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

// plansOf plans the programs of invariants, for f.
func (p *Program) plansOf(made []*dataflow.Lowered, f func(*dataflow.Lowered, *plan.Plan)) error {
	for k, l := range made {
		pl, err := planner.New(l.Spec, p.cells, p.onceOptions(p.chosen.memory.plans(), k))
		if err != nil {
			return err
		}
		f(l, pl)
	}
	return nil
}

// checkSpace says, before the first file is made, whether there is disk for all of a
// session's.
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

// blockBytes is about how much is laid out at a time, where that lies in files.
const blockBytes = 8 << 20

// lateShare is the part of features made late that may be pages of the process.
const lateShare = 64

// blocks calls f for ranges of rows of ld floats that are together rows 0 to v-1.
func blocks(v, ld int, f func(lo, hi int) error) error {
	step := max(1, blockBytes/(4*max(1, ld)))
	for lo := 0; lo < v; lo += step {
		if err := f(lo, min(v, lo+step)); err != nil {
			return err
		}
	}
	return nil
}

// fillFile is fill into a file, a block of rows at a time.
func (in *inputs) fillFile(f *device.HostFile, name string, o *chunk.Order, own owned) error {
	s, err := in.checked(name)
	if err != nil {
		return err
	}
	cols := in.width(name)
	ld := chunk.LD(cols)
	if s.all != nil {
		s.dropping(f.Bytes(), 4*int64(ld)).fillAll(floatsOf(f.Bytes()), cols, ld, o, own)
		device.Drop(f.Bytes())
		return in.shardErr()
	}
	var room []float32
	for _, r := range own.ranges {
		if err := blocks(r.hi-r.lo, ld, func(lo, hi int) error {
			if cap(room) < (hi-lo)*ld {
				room = make([]float32, (hi-lo)*ld)
			}
			rows := room[:(hi-lo)*ld]
			s.fill(rows, cols, ld, o, r.lo+lo, r.lo+hi)
			_, err := f.WriteAt(bytesOf(rows), 4*int64(r.at+lo)*int64(ld))
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// dropping is s, whose rows are made all at once, but its pages of file b leave the
// process again and again. Rows come in no order, so they are written where they lie.
func (s source) dropping(b []byte, rowBytes int64) *source {
	every := max(blockBytes, int64(len(b))/lateShare)
	var touched atomic.Int64
	return &source{all: func(row func(v int) []float32) {
		s.all(func(v int) []float32 {
			if touched.Add(rowBytes)%every < rowBytes {
				device.Drop(b)
			}
			return row(v)
		})
	}}
}
