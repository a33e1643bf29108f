package order

import "sagann/dataflow/plan"

// Tasks as they are appended to a plan.

// load copies chunk i of value id from host memory to address at of device d. It counts as writing
// the spans after, too.
func (e *emitter) load(id, i, d int, at int64, after ...span) {
	e.copy(plan.Task{Kind: plan.Load, Queue: plan.H2D, Device: uint16(d), Value: int32(id), Own: int32(i), Other: -1, Addr: at, Bytes: e.rowBytes(id, i)}, after...)
}

// save copies chunk i of value id from its owner to host memory.
func (e *emitter) save(id, i int, at int64) {
	e.copy(plan.Task{Kind: plan.Save, Queue: plan.D2H, Device: uint16(e.p.Owner(i)), Value: int32(id), Own: int32(i), Other: -1, Addr: at, Bytes: e.rowBytes(id, i)})
}

// loadCell copies cell (j,i) from host memory to its address on the owner of j.
func (e *emitter) loadCell(dir plan.Dir, j, i int, at, size int64) {
	e.copy(plan.Task{Kind: plan.Load, Queue: plan.H2D, Device: uint16(e.p.Owner(j)), Dir: dir, Value: -1, Own: int32(j), Other: int32(i), Addr: at, Bytes: size})
}

// peer appends a copy between devices; t says from where to where.
func (e *emitter) peer(t plan.Task, after ...span) {
	t.Kind, t.Queue = plan.Copy, plan.D2D
	e.copy(t, after...)
}

// copy appends copy t. It counts as writing the spans after, too.
func (e *emitter) copy(t plan.Task, after ...span) {
	e.count(&t)
	e.add(t, after...)
}

// count sets a copy's phase and adds its bytes to the plan's sums.
func (e *emitter) count(t *plan.Task) {
	t.Phase, t.Step = int32(e.phase), -1
	switch t.Queue {
	case plan.H2D:
		e.p.H2D += t.Bytes
	case plan.D2H:
		e.p.D2H += t.Bytes
	default:
		e.p.D2D += t.Bytes
	}
}

// add appends t. It counts as writing the spans after, too.
func (e *emitter) add(t plan.Task, after ...span) {
	e.reads, e.writes = e.of(&t, e.reads[:0], append(e.writes[:0], after...))
	e.t.add(&t, e.reads, e.writes)
}
