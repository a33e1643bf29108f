package dataflow_test

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"unsafe"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/order"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/sim"
	"sagann/device"
	"sagann/net"
)

// engine runs a compiled program on one graph.
type engine struct {
	v     values
	o     options
	order *chunk.Order
	grid  *chunk.Grid
	cells *plan.Cells
	once  map[string][]float32 // invariants, in user order
	held  []*device.HostFile   // inputs
	rows  map[string][]byte    // of the inputs that training was given
	ranks *net.Group           // that share the devices; nil: one
}

// run compiles p, plans it and steps twice; the bits of the second step are those of
// the first, or it is an error.
func run(p *program, v values, o options) (map[string][]float32, error) { return runOn(p, v, o, nil) }

// runOn is run on one of several ranks, or with nil on one alone.
func runOn(p *program, v values, o options, ranks *net.Group) (map[string][]float32, error) {
	without := map[string]bool{}
	for _, w := range slices.Concat(o.without, o.plain) {
		without[w] = true
	}
	c := dataflow.Options{Without: without, Lowering: dataflow.Lowering{Save: o.save, Packed: o.packed, Finish: o.finish, Inside: o.inside}, Storage: o.storage, Slices: o.slices, LeastSlice: 2, ByType: o.byType, Bases: o.bases}
	compile := func() (main, once *dataflow.Lowered, err error) {
		return dataflow.Compile(&dataflow.Program{Names: p.names, Outs: p.outs, Loss: p.loss, Wrt: p.wrt, Learn: p.next}, c)
	}
	main, once, err := compile()
	if err != nil {
		return nil, err
	}
	if o.beside {
		c.Store = append(c.Store, main.Again...)
	}
	if o.late {
		c.Store = slices.Concat(c.Store, main.Early, main.Arriving, main.Anew, main.Far)
	}
	if len(c.Store) > 0 {
		if main, once, err = compile(); err != nil {
			return nil, err
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.procs))
	e := &engine{v: v, o: o, order: chunk.Identity(v.g.V), once: map[string][]float32{}, ranks: ranks}
	if o.balanced {
		e.order = chunk.Balance(v.g, o.p)
	}
	wants := main.Want
	if once != nil {
		wants = wants.Join(once.Want)
	}
	want := wants.Of(0)
	if e.grid, err = chunk.Build(v.g, e.order, o.p, want); err != nil {
		return nil, err
	}
	e.cells = plan.NewCells(v.g.V, o.p, e.grid.Width, 2)
	for d, s := range [2]*chunk.Side{plan.CSC: e.grid.CSC, plan.CSR: e.grid.CSR} {
		if s != nil {
			for _, c := range s.Cells {
				e.cells.Bytes[d], e.cells.NNZ[d] = append(e.cells.Bytes[d], c.Bytes), append(e.cells.NNZ[d], c.NNZ)
				e.cells.Needs[d] = append(e.cells.Needs[d], int64(c.Needs))
			}
		}
	}
	if once != nil {
		if e.once, err = e.steps(once, nil); err != nil {
			return nil, fmt.Errorf("invariants: %w", err)
		}
	}
	var eval *dataflow.Lowered
	if o.evaluate {
		without["invariant"] = true
		if eval, once, err = dataflow.Compile(&dataflow.Program{Names: p.names, Outs: p.outs, Loss: -1}, dataflow.Options{Without: without, Lowering: dataflow.Lowering{Save: o.save, Packed: o.packed}}); err != nil || once != nil {
			return nil, fmt.Errorf("evaluation: %v, %w", once, err)
		}
		if w := eval.Want.Of(0); w.CSC && !want.CSC || w.CSR && !want.CSR || w.Rank && !want.Rank || w.Type && !want.Type || w.Weight && !want.Weight || w.Data && !want.Data {
			eval = nil // the grid was not built for it
		}
	}
	return e.steps(main, eval)
}

// plan plans l, and eval, where there is one, to share its memory.
func (e *engine) plan(l, eval *dataflow.Lowered) (p, q *plan.Plan, err error) {
	po := plan.Options{P: e.o.p, Slots: e.o.slots, Serial: e.o.serial, Stream: e.o.stream, Schedule: e.o.schedule, Straight: e.o.straight,
		Devices: e.o.devices, Groups: []int{e.o.group}, Ring: e.o.ring, Whole: e.o.whole, More: e.o.more, Windows: e.o.windows, Diagonal: e.o.diagonal}
	var m *sim.Machine // nil: no loads pass each other
	if e.o.early {
		if m, err = sim.LoadMachine("h200"); err != nil {
			return nil, nil, err
		}
	}
	d := planner.NewDecoder(m)
	if eval != nil {
		po.Beside = eval.Spec
	}
	cells := func(int) (*plan.Cells, error) { return e.cells, nil }
	if e.o.slack >= 0 {
		po.Budget = 1
		_, err := d.New(l.Spec, cells, po, plan.Rule{})
		var small *plan.BudgetError
		if !errors.As(err, &small) {
			return nil, nil, fmt.Errorf("a budget of one byte gives %v", err)
		}
		po.Budget = small.Smallest + e.o.slack
	}
	if p, err = d.New(l.Spec, cells, po, plan.Rule{}); err != nil || eval == nil {
		return p, nil, err
	}
	po.Beside, po.Base = nil, p
	q, err = d.New(eval.Spec, cells, po, plan.Rule{})
	return p, q, err
}

// inFile tells whether value id lies in a file.
func (e *engine) inFile(id int) bool { return e.o.files>>(id%4)&1 == 1 }

// runner is a runner of l with inputs, beside base unless that is nil; its parameters and
// constants are not set.
func (e *engine) runner(l *dataflow.Lowered, p *plan.Plan, arena *exec.Arena, base *exec.Runner) (*exec.Runner, error) {
	p.Host.Disk = make([]bool, len(p.Spec.Values))
	for id := range p.Host.Disk {
		if p.Host.Disk[id] = e.inFile(p.Host.Of[id]); p.Host.Lent[p.Host.Of[id]] >= 0 {
			p.Host.Disk[id] = base.Plan().OnDisk(p.Host.Lent[p.Host.Of[id]])
		}
	}
	p, err := order.Part(p, e.ranks.Rank(), e.ranks.Ranks())
	if err != nil {
		return nil, err
	}
	start := func() (*exec.Runner, error) { return exec.NewRunner(arena, p, l.Kernels, e.grid) }
	if base != nil {
		start = func() (*exec.Runner, error) { return base.Beside(p, l.Kernels, e.grid) }
	}
	r, err := start()
	if err != nil {
		return nil, err
	}
	for in, id := range l.Inputs {
		name := in.Name
		rows := e.layOut(name, l.Spec.Values[id].Cols)
		if e.inFile(id) {
			f, err := device.NewHostFile("", int64(len(rows)))
			if err != nil {
				return nil, errors.Join(err, r.Close())
			}
			copy(f.Bytes(), rows)
			e.held = append(e.held, f)
			rows = f.Bytes()
		}
		if base == nil {
			e.rows[name] = rows
		} else if mine := e.rows[name]; mine != nil { // a step may change them
			rows = mine
		}
		if e.o.apart && r.Owns(id) && !slices.Contains(slices.Collect(maps.Values(l.Outputs)), id) {
			rows = e.mine(r.Plan(), rows)
		}
		if err := r.SetInput(id, rows); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return r, nil
}

// set writes constants and, with params, parameters.
func (e *engine) set(l *dataflow.Lowered, r *exec.Runner, params bool) error {
	for name, id := range l.Globals {
		g := l.Spec.Globals[id]
		if g.Name == name && (g.Kind == plan.Const || g.Kind == plan.Param && params) {
			if err := r.SetGlobal(id, e.v.of(name, dataflow.Shape{Rows: g.Rows, Cols: g.Cols})); err != nil {
				return err
			}
		}
	}
	for id, x := range l.Consts {
		if err := r.SetGlobal(id, []float32{x}); err != nil {
			return err
		}
	}
	return nil
}

// steps runs a lowered program twice, and eval, if there is one, between, and returns
// its results in user order.
func (e *engine) steps(l, eval *dataflow.Lowered) (out map[string][]float32, closed error) {
	p, q, err := e.plan(l, eval)
	if err != nil {
		return nil, err
	}
	peak := p.Peak
	if q != nil {
		peak = max(peak, q.Peak)
	}
	defer func() {
		for _, f := range e.held {
			closed = errors.Join(closed, f.Close())
		}
		e.held = nil
	}()
	e.rows = map[string][]byte{}
	// Poisoned memory is full of NaN: a read of what nobody wrote shows.
	var devices []device.Device
	n := p.Devices / e.ranks.Ranks()
	for i := range n {
		dev, err := device.NewCPU(i, peak, device.Poison())
		if err != nil {
			return nil, err
		}
		defer func() { closed = errors.Join(closed, dev.Close()) }()
		if e.o.way == "direct" {
			devices = append(devices, &messenger{dev, e.ranks, n*e.ranks.Rank() + i, p.Devices})
			continue
		}
		devices = append(devices, dev)
	}
	arena, err := exec.NewArena(devices, peak)
	if err != nil {
		return nil, err
	}
	arena.Over(e.ranks, n*e.ranks.Rank())
	arena.Relay, arena.Direct = e.o.way == "relay", e.o.way == "direct"
	defer func() { closed = errors.Join(closed, arena.Close()) }()
	r, err := e.runner(l, p, arena, nil)
	if err != nil {
		return nil, err
	}
	defer func() { closed = errors.Join(closed, r.Close()) }()
	if err := e.set(l, r, true); err != nil {
		return nil, err
	}
	var scores map[string][]float32
	if q != nil {
		if scores, err = e.beside(eval, q, arena, r); err != nil {
			return nil, fmt.Errorf("evaluation before the first step: %w", err)
		}
	}
	if out, err = e.step(l, r, devices); err != nil {
		return nil, err
	}
	if q != nil {
		again, err := e.beside(eval, q, arena, r)
		if err != nil {
			return nil, fmt.Errorf("evaluation: %w", err)
		}
		for name, x := range scores {
			if !equalBits(x, again[name]) {
				return nil, fmt.Errorf("evaluation before the first step gives other bits for %s than after it", name)
			}
		}
	}
	again, err := e.step(l, r, devices)
	if err != nil {
		return nil, err
	}
	for name, x := range out {
		if !equalBits(x, again[name]) {
			return nil, fmt.Errorf("the second step gives other bits for %s", name)
		}
	}
	return out, nil
}

// beside runs eval, planned as q beside train, twice; the bits are the same.
func (e *engine) beside(eval *dataflow.Lowered, q *plan.Plan, arena *exec.Arena, train *exec.Runner) (out map[string][]float32, closed error) {
	r, err := e.runner(eval, q, arena, train)
	if err != nil {
		return nil, err
	}
	defer func() { closed = errors.Join(closed, r.Close()) }()
	if err := e.set(eval, r, false); err != nil {
		return nil, err
	}
	if out, err = e.step(eval, r, nil); err != nil {
		return nil, err
	}
	again, err := e.step(eval, r, nil)
	for name, x := range out {
		if err == nil && !equalBits(x, again[name]) {
			err = fmt.Errorf("the second step gives other bits for %s", name)
		}
	}
	return out, err
}

// mine are the rows of the intervals that this rank owns.
func (e *engine) mine(p *plan.Plan, rows []byte) []byte {
	mine, bytes := []byte{}, len(rows)/p.Cells.V
	for j := range p.Cells.P {
		if p.Cells.Rows(j) > 0 && order.RankOf(p.Owner(j), p.Devices, e.ranks.Ranks()) == e.ranks.Rank() {
			lo := j * p.Cells.Width * bytes
			mine = append(mine, rows[lo:lo+p.Cells.Rows(j)*bytes]...)
		}
	}
	return mine
}

// step runs one step. It is an error when the devices have counted other copies than
// the plan says, or hold more memory.
func (e *engine) step(l *dataflow.Lowered, r *exec.Runner, devices []device.Device) (map[string][]float32, error) {
	if err := r.Load(); err != nil { // constants are no copies of the plan
		return nil, err
	}
	before := sumCounters(devices)
	if err := r.Step(); err != nil {
		return nil, err
	}
	p, c := r.Plan(), sumCounters(devices)
	if devices == nil || e.o.way == "relay" { // what is relayed is copied beside the plan
		c, before = device.Counters{H2D: p.H2D, D2H: p.D2H, D2D: p.D2D}, device.Counters{}
	}
	if h2d, d2h, d2d := c.H2D-before.H2D, c.D2H-before.D2H, c.D2D-before.D2D; h2d != p.H2D || d2h != p.D2H || d2d != p.D2D || len(devices) > 0 && c.Peak > int64(len(devices))*devices[0].Info().Budget {
		return nil, fmt.Errorf("devices copied %d, %d and %d bytes and held %d, the plan says %d, %d and %d, and %d each", h2d, d2h, d2d, c.Peak, p.H2D, p.D2H, p.D2D, p.Peak)
	}
	out := map[string][]float32{}
	for name, id := range l.Outputs {
		cols := l.Spec.Values[id].Cols
		out[name] = make([]float32, e.v.g.V*cols)
		chunk.Unpermute(out[name], floats(r.Output(id)), cols, chunk.LD(cols), e.order)
	}
	for name, id := range l.Globals {
		g := l.Spec.Globals[id]
		out[name] = make([]float32, g.Rows*g.Cols)
		if err := r.Global(id, out[name]); err != nil {
			return nil, err
		}
	}
	return out, e.learned(l, r, out)
}

// learned reads the inputs that a step of r has written, and gives them their first rows again.
func (e *engine) learned(l *dataflow.Lowered, r *exec.Runner, out map[string][]float32) error {
	for in, id := range l.Inputs {
		v, name := &l.Spec.Values[id], in.Name
		if !v.State {
			continue
		}
		x := make([]float32, e.v.g.V*v.Cols)
		ld := chunk.LD(v.Cols)
		err := r.EachRows(id, func(first int, rows []byte) error {
			for k, row := range slices.Collect(slices.Chunk(floats(rows), ld)) {
				copy(x[int(e.order.Old[first+k])*v.Cols:][:v.Cols], row)
			}
			return nil
		})
		if err != nil {
			return err
		}
		out["next:"+name] = x
		copy(r.Output(id), e.layOut(name, v.Cols))
		if err := r.SendRows(id); err != nil {
			return err
		}
	}
	return nil
}

func sumCounters(devices []device.Device) (sum device.Counters) {
	for _, d := range devices {
		c := d.Counters()
		sum.H2D, sum.D2H, sum.D2D, sum.Peak = sum.H2D+c.H2D, sum.D2H+c.D2H, sum.D2D+c.D2D, sum.Peak+c.Peak
	}
	return sum
}

// layOut lays out vertex input name in the engine's order.
func (e *engine) layOut(name string, cols int) []byte {
	x, ok := e.once[name]
	if !ok {
		x = e.v.of(name, dataflow.Shape{Set: dataflow.V0, Cols: cols})
	}
	ld := chunk.LD(cols)
	out := make([]float32, e.v.g.V*ld)
	chunk.Permute(out, x, cols, ld, e.order)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(out))), 4*len(out))
}

func floats(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}
