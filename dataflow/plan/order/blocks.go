package order

import (
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/layout"
)

// Blocks fills l.Plan, which is laid out over sampled blocks, with its tasks. Each phase first loads the
// inputs that it is the first to read, then runs its steps in order. How many rows and edges a task has
// depends on the batch: those of its sets, Task.Own and, over a cell, Task.Other. Task.Bytes is the capacity.
func Blocks(l *layout.Layout, o plan.Options) {
	p := l.Plan
	e := &emitter{p: p, l: l, t: newTracker(p, o.Serial, nil), opt: o, uses: usesOf(p, 0)}
	if l.ZeroBytes > 0 {
		e.add(plan.Task{Kind: plan.Zero, Value: -1, Own: -1, Other: -1, Addr: l.ZeroAt, Bytes: l.ZeroBytes})
	}
	if ids := e.ids(); ids.end > ids.at {
		e.copyBlock(plan.Task{Kind: plan.Load, Queue: plan.H2D, Value: -1, Own: -1, Other: -1, Addr: ids.at, Bytes: ids.end - ids.at}, nil, []span{ids})
	}
	loaded := map[[2]int]bool{}
	for q := range p.Spec.Phases {
		e.phase, e.ps = q, l.Slots[q]
		for _, a := range l.Usage.Phases[q].Values {
			if p.Spec.Values[a.ID].Kind == plan.Input && l.Usage.Life[a.ID][0] == q {
				e.blockInput(a.ID)
			}
		}
		for i := range p.Spec.Phases[q].Steps {
			e.blockStep(i, &p.Spec.Phases[q].Steps[i], loaded)
		}
		for _, a := range l.Usage.Phases[q].Values {
			if v := &p.Spec.Values[a.ID]; v.Output && l.Usage.Life[a.ID][1] == q {
				s := e.room(a.ID)
				e.copyBlock(plan.Task{Kind: plan.Save, Queue: plan.D2H, Value: int32(a.ID), Own: int32(v.Set), Other: -1,
					Addr: s.at, Bytes: s.end - s.at}, []span{s}, nil)
			}
		}
	}
	if len(p.Spec.Updates) > 0 {
		e.add(plan.Task{Kind: plan.Update, Value: -1, Own: -1, Other: -1})
	}
	if len(p.Spec.Results) > 0 {
		e.add(plan.Task{Kind: plan.Results, Queue: plan.D2H, Value: -1, Own: -1, Other: -1})
	}
}

// blockInput brings input id of the batch to the device, or takes it from its table there.
func (e *emitter) blockInput(id int) {
	v, s := &e.p.Spec.Values[id], e.room(id)
	t := plan.Task{Kind: plan.Load, Queue: plan.H2D, Value: int32(id), Own: int32(v.Set), Other: -1, Addr: s.at, Bytes: s.end - s.at}
	from := e.p.Places.Sets.TableOf(id)
	if from == nil || from.Host {
		e.copyBlock(t, nil, []span{s})
		return
	}
	if from.Taken == 0 {
		return
	}
	t.Kind, t.Queue, t.Phase, t.Step, t.FromAddr, t.Own = plan.Take, plan.Compute, int32(e.phase), -1, from.At, int32(from.Taken)
	e.t.add(&t, []span{e.ids(), e.table(id)}, []span{s})
}

// table is the memory of the table of value id.
func (e *emitter) table(id int) span {
	t := e.p.Places.Sets.TableOf(id)
	return memory(0, t.At, int64(t.Rows)*e.p.Spec.Values[id].RowBytes)
}

// ids is the memory of the IDs of a batch's vertices, by which rows of tables are taken; empty without tables.
func (e *emitter) ids() span {
	z := e.p.Places.Sets
	if !z.Ahead.On || len(z.Ahead.Tables) == 0 {
		return span{}
	}
	return memory(0, z.Ahead.IDs, 4*int64(z.IDsOf(max(1, z.Types))))
}

// room is the memory of value id.
func (e *emitter) room(id int) span {
	return memory(0, e.p.Places.ValueAt[id], e.p.Places.Sets.RoomBytes(e.p.Spec, id))
}

// copyBlock appends a copy of the rows of a set, or of a block.
func (e *emitter) copyBlock(t plan.Task, reads, writes []span) {
	e.count(&t)
	e.t.add(&t, reads, writes)
}

func (e *emitter) blockStep(i int, st *plan.Step, loaded map[[2]int]bool) {
	p := e.p
	t := plan.Task{Phase: int32(e.phase), Step: int32(i), Own: int32(st.Set), Other: -1, Dir: st.Dir, Value: -1}
	var cell []span
	switch st.Kind {
	case plan.Tail:
		if !p.Spec.Cleared(st) {
			return
		}
		t.Kind, t.Value, t.Other, t.Addr = plan.Zero, int32(st.Value), int32(st.From), p.Places.ValueAt[st.Value]
		e.t.add(&t, nil, []span{e.room(st.Value)})
		return
	case plan.Globals:
		t.Own = -1
	case plan.Stream:
		at, bytes := p.Places.Sets.CellAt[st.Set][st.Dir.Way()], p.Places.Sets.Cells[st.Set][st.Dir.Way()]
		cell = []span{memory(0, at, bytes)}
		if k := [2]int{int(st.Set), int(st.Dir)}; !loaded[k] {
			loaded[k] = true
			e.copyBlock(plan.Task{Kind: plan.Load, Queue: plan.H2D, Value: -1, Own: int32(st.Set), Other: -1, Dir: st.Dir, Addr: at, Bytes: bytes}, nil, cell)
		}
		t.Own, t.Other, t.Cell, t.Is.First, t.Is.Last = int32(st.Dst), int32(st.Set), at, true, true
		if st.Dir.Way() == plan.CSR { // the sources own the rows
			t.Own = int32(st.Src)
		}
	}
	for k := range st.Calls {
		c := &st.Calls[k]
		t.Kind, t.Kernel, t.Rows, t.Args[0] = plan.Run, int32(c.Kernel), int32(c.Rows), int32(len(p.Args))
		reads, writes := append([]span{}, cell...), []span(nil)
		for n := range c.Operands {
			o := &c.Operands[n]
			var s span
			switch {
			case o.Kind == plan.GlobalRef:
				s = e.global(0, o.ID)
			case p.Places.Sets.InTable(st, o):
				s, reads = e.table(o.ID), append(reads, e.ids())
			case o.Kind == plan.EdgeTemp:
				s = memory(0, e.ps.Temps[o.ID], int64(p.Places.Sets.LargestEdges())*p.Spec.EdgeTemps[o.ID])
			default:
				s = e.room(o.ID)
			}
			p.Args = append(p.Args, s.at)
			if o.Write {
				writes = append(writes, s)
			} else {
				reads = append(reads, s)
			}
		}
		t.Args[1] = int32(len(p.Args))
		e.t.add(&t, reads, writes)
	}
}
