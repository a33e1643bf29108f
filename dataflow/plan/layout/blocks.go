package layout

import "sagann/dataflow/plan"

// Blocks lays out a plan of s over sampled blocks, without tasks. Every value has memory for its
// capacity in rows, from the first phase that touches the value to the last.
func Blocks(s *plan.Spec, z *plan.Sets, o plan.Options) *Layout {
	n := len(s.Values)
	p := &plan.Plan{Spec: s, Cells: &plan.Cells{P: 1}, Places: plan.Places{Sets: z}, Budget: o.Budget, Schedule: plan.Sag, Devices: 1, Slots: 1}
	l := &Layout{Plan: p, Usage: plan.NewUsage(s), Largest: largestOf(p.Cells)}
	take(s, z)
	floor := l.placeFixed(&Choice{resident: make([]bool, n), Slots: 1}, nil)
	var f fitter
	f.begin(clock{1}, 0)
	place := func(name string, bytes int64, from, to int) int64 {
		at := floor + f.hold(piece{bytes: bytes, from: from, to: to})
		l.book(name, at, bytes, from, to)
		return at
	}
	z.CellAt = make([][2]int64, len(z.Cells))
	if z.Ahead.On {
		l.ahead(place)
	}
	for id := range s.Values {
		v, life := &s.Values[id], l.Usage.Life[id]
		p.Places.Resident[id] = v.Kind != plan.Input
		if t := z.TableOf(id); !z.Ahead.On || v.Kind != plan.Input || t != nil && !t.Host && t.Taken > 0 {
			p.Places.ValueAt[id] = place(v.Name, z.RoomBytes(s, id), life[0], life[1])
		}
	}
	for e := range z.Cells {
		for d, bytes := range z.Cells[e] {
			if from, to := walked(s, uint16(e), plan.Dir(d)); to >= 0 && !z.Ahead.On {
				z.CellAt[e][d] = place("cell "+plan.Dir(d).String(), plan.Align(bytes), from, to)
			}
		}
	}
	temps := PhaseSlots{Temps: make([]int64, len(s.EdgeTemps))}
	for id, bytes := range s.EdgeTemps { // only programs without fusion have any
		temps.Temps[id] = place("edge buffer", plan.Align(int64(z.LargestEdges())*bytes), 0, len(s.Phases)-1)
	}
	for range s.Phases {
		l.Slots = append(l.Slots, temps)
	}
	shareHost(p)
	lend(p, nil)
	return l
}

// take sets Table.Taken: the deepest vertex set whose rows a step copies out of the table, because a kernel needs them
// side by side or Table.All asks for it. Other kernels that read a copied set read the copy, too. A kernel reads tables
// by one list of vertices: of those of several types all but the deepest set are copied.
func take(s *plan.Spec, z *plan.Sets) {
	for i := range z.Ahead.Tables {
		z.Ahead.Tables[i].Taken = 0
	}
	for q := range s.Phases {
		for _, st := range s.Phases[q].Steps {
			for _, c := range st.Calls {
				takeFor(&st, &c, z)
			}
		}
	}
}

// takeFor is take for one call of st.
func takeFor(st *plan.Step, c *plan.Call, z *plan.Sets) {
	deepest := 0
	for k := range c.Operands {
		if o := &c.Operands[k]; o.Indexable && tableOf(o, z) != nil {
			deepest = max(deepest, st.SetOf(o))
		}
	}
	for k := range c.Operands {
		o := &c.Operands[k]
		if t := tableOf(o, z); t != nil && (t.All || !o.Indexable || z.TypeOf(st.SetOf(o)) != z.TypeOf(deepest)) {
			t.Taken = max(t.Taken, st.SetOf(o))
		}
	}
}

// tableOf is the table whose rows operand o reads, or nil.
func tableOf(o *plan.Operand, z *plan.Sets) *plan.Table {
	for i := range z.Ahead.Tables {
		if t := &z.Ahead.Tables[i]; o.Reads(t.Value) {
			return t
		}
	}
	return nil
}

// walked is the first and the last phase that gathers over edge set e in direction d, CSC or CSR; -1, -1 if none does.
func walked(s *plan.Spec, e uint16, d plan.Dir) (from, to int) {
	from, to = -1, -1
	for q := range s.Phases {
		for _, st := range s.Phases[q].Steps {
			if st.Kind == plan.Stream && st.Set == e && st.Dir.Way() == d {
				if to = q; from < 0 {
					from = q
				}
			}
		}
	}
	return from, to
}

// ahead places the buffers of batches (plan.Ahead) one after the other, for the whole step. Each has the inputs and cells of a batch, its
// vertex IDs and the scratch for transposing. Addresses in the plan are those in the first one.
func (l *Layout) ahead(place func(name string, bytes int64, from, to int) int64) {
	p, s := l.Plan, l.Plan.Spec
	z := p.Places.Sets
	var places []*int64
	var at int64
	part := func(to *int64, bytes int64) {
		*to = at
		at += plan.Align(bytes)
		places = append(places, to)
	}
	for id := range s.Values {
		if t := z.TableOf(id); s.Values[id].Kind == plan.Input && (t == nil || t.Host) {
			part(&p.Places.ValueAt[id], z.RoomBytes(s, id))
		}
	}
	for e := range z.Cells {
		for d, bytes := range z.Cells[e] {
			if _, to := walked(s, uint16(e), plan.Dir(d)); to >= 0 {
				part(&z.CellAt[e][d], bytes)
			}
		}
	}
	turned := 0
	for e := range z.Cells {
		if z.Cells[e][plan.CSR] > 0 {
			turned = max(turned, z.Edges[e], plan.TurnParts)
		}
	}
	part(&z.Ahead.IDs, 4*int64(z.IDsOf(max(1, z.Types))))
	part(&z.Ahead.Turn, 4*int64(turned))
	z.Ahead.Bytes = at
	z.Ahead.At = place("batches", int64(z.Ahead.Buffers)*at, 0, len(s.Phases)-1)
	for _, to := range places {
		*to += z.Ahead.At
	}
}
