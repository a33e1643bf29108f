package layout

import (
	"cmp"
	"slices"

	"sagann/dataflow/plan"
)

// tenure says during which phases a stored value needs host memory.
type tenure struct {
	id, from, to int
	early        bool // in phase to, each visit loads its own interval of the value before it saves anything
}

// shareHost lets stored values share host memory if they need it in different phases. Each value takes
// the first place of its size that is free. Either all values of a place lie in a file, or none does.
//
// Two values may also meet in one phase, if the phase makes the new value and reads the old one for the last time, at
// the visited interval only: visit j then loads interval j of the old value before it saves interval j of
// the new one, and touches no other interval of either. Copies that use the same place wait for each other
// (order/deps.go). An output is read after the step, so it shares with no value.
func shareHost(p *plan.Plan) {
	p.Host.Of = make([]int, len(p.Spec.Values))
	for id := range p.Host.Of {
		p.Host.Of[id] = id
	}
	var places []tenure // one per place. id: the value that owns it; to: the last phase that uses it so far
	for _, l := range tenuresOf(p) {
		v := &p.Spec.Values[l.id]
		i := slices.IndexFunc(places, func(o tenure) bool {
			return (o.to < l.from || o.to == l.from && o.early) && p.Spec.Values[o.id].RowBytes == v.RowBytes && p.Spec.Values[o.id].Type == v.Type
		})
		if i < 0 {
			places = append(places, l)
			continue
		}
		p.Host.Of[l.id], places[i].to, places[i].early = places[i].id, l.to, l.early
	}
}

// lend lets values of p use host memory of base's values, as steps of the two plans never run at the same time.
// The largest value of p chooses first, and takes the smallest value of base that is large enough. Values with one
// column never go to a file (plan.Tenant.Stays), so they borrow only from each other.
func lend(p, base *plan.Plan) {
	p.Host.Lent = make([]int, len(p.Spec.Values))
	for id := range p.Host.Lent {
		p.Host.Lent[id] = -1
	}
	if base == nil {
		return
	}
	size := func(p *plan.Plan) func(a, b int) int {
		return func(a, b int) int { return cmp.Compare(p.HostBytesOf(a), p.HostBytesOf(b)) }
	}
	there := placesOf(base)
	slices.SortStableFunc(there, size(base))
	mine := placesOf(p)
	slices.SortStableFunc(mine, size(p))
	for _, id := range slices.Backward(mine) {
		for i, b := range there {
			if v, of := &p.Spec.Values[id], &base.Spec.Values[b]; v.Type == of.Type && p.HostBytesOf(id) <= base.HostBytesOf(b) && (v.Cols == 1) == (of.Cols == 1) {
				p.Host.Lent[id], there = b, slices.Delete(there, i, i+1)
				break
			}
		}
	}
}

// placesOf lists the values that have host memory of their own and need it only during a step.
func placesOf(p *plan.Plan) []int {
	var list []int
	for id, v := range p.Spec.Values {
		if v.Kind == plan.Stored && !v.Output && p.Host.Of[id] == id && !p.Places.Resident[id] {
			list = append(list, id)
		}
	}
	return list
}

// tenuresOf lists the stored values that a step swaps between device and host memory, outputs excepted, in the
// order of the phases that make them.
func tenuresOf(p *plan.Plan) []tenure {
	var list []tenure
	at := make([]int, len(p.Spec.Values)) // in list, from 1
	for phase, acc := range plan.Accesses(p.Spec) {
		for id := range p.Spec.Values {
			v := &p.Spec.Values[id]
			a := acc[id]
			if a == (plan.Access{}) || v.Kind != plan.Stored || v.Output || p.Places.Resident[id] {
				continue
			}
			if at[id] == 0 {
				list = append(list, tenure{id: id, from: phase})
				at[id] = len(list)
			}
			l := &list[at[id]-1]
			l.to, l.early = phase, a == plan.Access{OwnRead: true} && !swaps(p, phase)
		}
	}
	slices.SortStableFunc(list, func(a, b tenure) int { return cmp.Or(a.from-b.from, a.id-b.id) })
	return list
}

// swaps tells whether a phase visits an interval several times, and loads and saves the interval's own
// values each time.
func swaps(p *plan.Plan, phase int) bool {
	steps := p.Spec.Phases[phase].Steps
	return p.Schedule == plan.DestOrder && len(steps) > 0 && steps[0].Kind == plan.Stream
}
