package plan

import (
	"cmp"
	"slices"
)

// shareHost gives stored values whose phases do not meet one place in host memory, the
// first that is free; it is a file for all of them or for none. Copies wait for each other by that place (deps.go). Outputs stay
// after a step, so they have their own.
func (p *Plan) shareHost() {
	type life struct{ id, from, to int }
	var lives []life
	p.HostOf = make([]int, len(p.Spec.Values))
	at := make([]int, len(p.Spec.Values)) // in lives, from 1
	for id := range p.HostOf {
		p.HostOf[id] = id
	}
	for phase, acc := range accesses(p.Spec) {
		for id := range p.Spec.Values {
			v := &p.Spec.Values[id]
			a, ok := acc[id]
			if !ok || a == (access{}) || v.Kind != Stored || v.Output || p.Resident[id] {
				continue
			}
			if at[id] == 0 {
				lives = append(lives, life{id, phase, phase})
				at[id] = len(lives)
			}
			lives[at[id]-1].to = phase
		}
	}
	slices.SortStableFunc(lives, func(a, b life) int { return cmp.Or(a.from-b.from, a.id-b.id) })
	var places []life // id: whose memory it is; to: the last phase that uses it
	for _, l := range lives {
		bytes := p.Spec.Values[l.id].RowBytes
		i := slices.IndexFunc(places, func(o life) bool { return o.to < l.from && p.Spec.Values[o.id].RowBytes == bytes })
		if i < 0 {
			places = append(places, l)
			continue
		}
		p.HostOf[l.id], places[i].to = places[i].id, l.to
	}
}
