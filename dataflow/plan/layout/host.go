package layout

import (
	"cmp"
	"slices"

	"sagann/dataflow/plan"
)

// tenure is how long a stored value needs its place in host memory.
type tenure struct {
	id, from, to int
	early        bool // in phase to a visit is done with the value's own interval before it saves
}

// shareHost gives stored values whose phases do not meet one place in host memory, the
// first that is free; it is a file for all of them or for none. The phase that makes a
// value may be the last that reads another at its own rows only: visit j then loads
// interval j of the one before it saves interval j of the other, and touches no other
// interval of either. Copies wait for each other by that place (order/deps.go). Outputs stay
// after a step, so they have their own.
func shareHost(p *plan.Plan) {
	p.Host.Of = make([]int, len(p.Spec.Values))
	for id := range p.Host.Of {
		p.Host.Of[id] = id
	}
	var places []tenure // id: whose memory it is; to: the last phase that uses it
	for _, l := range tenuresOf(p) {
		bytes := p.Spec.Values[l.id].RowBytes
		i := slices.IndexFunc(places, func(o tenure) bool {
			return (o.to < l.from || o.to == l.from && o.early) && p.Spec.Values[o.id].RowBytes == bytes
		})
		if i < 0 {
			places = append(places, l)
			continue
		}
		p.Host.Of[l.id], places[i].to, places[i].early = places[i].id, l.to, l.early
	}
}

// lend gives the places of p, whose steps never run beside those of base, memory of base's
// places where that is enough: the largest first, each the smallest that does. What always
// stays in memory goes to what does.
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
			if v, of := &p.Spec.Values[id], &base.Spec.Values[b]; p.HostBytesOf(id) <= base.HostBytesOf(b) && (v.Cols == 1) == (of.Cols == 1) {
				p.Host.Lent[id], there = b, slices.Delete(there, i, i+1)
				break
			}
		}
	}
}

// placesOf lists the values that host memory of their own holds during a step only.
func placesOf(p *plan.Plan) []int {
	var list []int
	for id, v := range p.Spec.Values {
		if v.Kind == plan.Stored && !v.Output && p.Host.Of[id] == id && !p.Places.Resident[id] {
			list = append(list, id)
		}
	}
	return list
}

// tenuresOf lists the values that copies of a step bring to host memory and back, in the
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

// swaps tells whether a phase comes to an interval again and again, and loads and saves
// its own values each time.
func swaps(p *plan.Plan, phase int) bool {
	steps := p.Spec.Phases[phase].Steps
	return p.Schedule == plan.DestOrder && len(steps) > 0 && steps[0].Kind == plan.Stream
}
