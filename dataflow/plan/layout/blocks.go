package layout

import "sagann/dataflow/plan"

// Blocks lays out a plan of s over sampled blocks: everything is resident at its capacity
// from the phase that makes it, or first reads it, to the last that reads it. Its tasks are
// still to come.
func Blocks(s *plan.Spec, z *plan.Sets, o plan.Options) *Layout {
	n := len(s.Values)
	p := &plan.Plan{Spec: s, Cells: &plan.Cells{P: 1}, Places: plan.Places{Sets: z}, Budget: o.Budget, Schedule: plan.Sag, Devices: 1, Slots: 1}
	l := &Layout{Plan: p, Usage: plan.NewUsage(s), Largest: largestOf(p.Cells)}
	floor := l.placeFixed(&Choice{resident: make([]bool, n), Slots: 1}, nil)
	var f fitter
	f.begin()
	place := func(name string, bytes int64, from, to int) int64 {
		at := floor + f.hold(bytes, from, to)
		l.book(name, at, bytes, from, to)
		return at
	}
	for id := range s.Values {
		v, life := &s.Values[id], l.Usage.Life[id]
		p.Places.Resident[id] = v.Kind != plan.Input
		p.Places.ValueAt[id] = place(v.Name, z.RoomBytes(s, id), life[0], life[1])
	}
	z.CellAt = make([][2]int64, len(z.Cells))
	for e := range z.Cells {
		for d, bytes := range z.Cells[e] {
			if from, to := walked(s, uint8(e), plan.Dir(d)); to >= 0 {
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

// walked is the first and the last phase that walks edge set e in direction d; -1 for none.
func walked(s *plan.Spec, e uint8, d plan.Dir) (from, to int) {
	from, to = -1, -1
	for q := range s.Phases {
		for _, st := range s.Phases[q].Steps {
			if st.Kind == plan.Stream && st.Set == e && st.Dir == d {
				if to = q; from < 0 {
					from = q
				}
			}
		}
	}
	return from, to
}
