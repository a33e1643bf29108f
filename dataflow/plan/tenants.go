package plan

import (
	"fmt"
	"maps"
	"slices"
)

// Tenants lists what the plans of a session need in host memory: the cells, the lists of rows
// that loads gather, the inputs by name and type, and the values that are swapped. Values that share memory
// are one tenant. The first of plans is the base of the others, which may use its memory. With
// several ranks, bytes are those of the rank that needs most.
func Tenants(ranks int, plans ...*Plan) []Tenant {
	if len(plans) == 0 { // nothing goes over the full graph
		return nil
	}
	cells := Tenant{Name: "cells", Bytes: plans[0].cellShare(ranks), Stays: true, From: Whole, To: Whole}
	inputs, places := map[string]*Tenant{}, map[int]*Tenant{}
	var list []*Tenant
	for k, p := range plans {
		moves, moved := p.HostMoves()
		cells.Moved += moved
		add := func(t *Tenant, id int) {
			t.Moved += moves[id]
			t.Stays = t.Stays || p.Spec.Values[id].Cols == 1
			for len(t.values) < len(plans) {
				t.values = append(t.values, nil)
			}
			t.values[k] = append(t.values[k], id)
		}
		for id, v := range p.Spec.Values {
			if v.Kind == Input {
				name := v.Name
				if v.Type > 0 {
					name = fmt.Sprintf("%s of type %d", name, v.Type)
				}
				if inputs[name] == nil {
					inputs[name] = &Tenant{Name: name, Bytes: p.hostShare(id, ranks), From: Whole, To: Whole}
				}
				add(inputs[name], id)
			}
			if !p.HasPlace(id) {
				continue
			}
			var t *Tenant
			if k > 0 && p.Host.Lent[id] >= 0 {
				t = places[p.Host.Lent[id]]
			} else {
				t = &Tenant{Name: v.Name, Bytes: p.hostShare(id, ranks)}
				if t.From, t.To = p.heldFor(id); k > 0 {
					t.Name += " of evaluation"
				} else {
					places[id] = t
				}
				list = append(list, t)
			}
			for _, s := range p.HostSharers(id) {
				add(t, s)
			}
		}
	}
	out := []Tenant{cells, {Name: "lists of rows", Bytes: listShare(ranks, plans...), Stays: true, From: Whole, To: Whole}}
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		out = append(out, *inputs[name])
	}
	for _, t := range list {
		n := -1
		for _, ids := range t.values {
			n += len(ids)
		}
		if n > 0 {
			t.Name += fmt.Sprintf(" and %d more", n)
		}
		out = append(out, *t)
	}
	return out
}

// heldFor is the first and the last phase in which the host memory of value id is in use.
func (p *Plan) heldFor(id int) (from, to int) {
	if p.Spec.Values[id].Output {
		return Whole, Whole
	}
	acc := Accesses(p.Spec)
	from = len(acc)
	for _, s := range p.HostSharers(id) {
		a, b := Lifetime(acc, s)
		from, to = min(from, a), max(to, b)
	}
	return from, to
}

// Settle sets Host.Disk of plans by the tenants of list that lie in files. plans are those that
// Tenants was given, in the same order.
func Settle(list []Tenant, plans ...*Plan) {
	for k, p := range plans {
		p.Host.Disk = make([]bool, len(p.Spec.Values))
		for i := range list {
			if k < len(list[i].values) {
				for _, id := range list[i].values[k] {
					p.Host.Disk[id] = list[i].Disk
				}
			}
		}
	}
}
