package plan

import (
	"cmp"
	"fmt"
	"slices"
)

// Verify checks the plan's invariants: dependences point backwards, to tasks of other
// queues that record an event; addresses lie below Peak; buffers that are in use at the same time
// do not overlap. An error is a bug of the planner.
func (p *Plan) Verify() error {
	for i := range p.Tasks {
		t := &p.Tasks[i]
		for _, d := range p.Deps[t.Deps[0]:t.Deps[1]] {
			if int(d) >= i {
				return fmt.Errorf("plan: task %d depends on task %d, which comes later", i, d)
			}
			if p.Tasks[d].Lane() == t.Lane() {
				return fmt.Errorf("plan: task %d depends on task %d of its own queue", i, d)
			}
			if !p.Tasks[d].Is.Event {
				return fmt.Errorf("plan: task %d waits for task %d, which records no event", i, d)
			}
		}
		if t.Addr < 0 || t.Addr+t.Bytes > p.Peak && t.Kind != Results {
			return fmt.Errorf("plan: task %d touches bytes %d..%d of %d", i, t.Addr, t.Addr+t.Bytes, p.Peak)
		}
	}
	for _, a := range p.Places.Memory {
		if a.At < 0 || a.At+a.Bytes > p.Peak {
			return fmt.Errorf("plan: buffer %s lies outside the arena", a.Name)
		}
	}
	if a, b := p.overlap(); a != nil {
		return fmt.Errorf("plan: buffers %s and %s overlap", a.Name, b.Name)
	}
	return nil
}

// overlap returns two buffers that are in use at the same time and overlap; nil if there are none.
func (p *Plan) overlap() (a, b *Buffer) {
	type part struct {
		Part
		of *Buffer
	}
	per := 1 // moments of a phase
	for i := range p.Places.Memory {
		if len(p.Places.Memory[i].Parts) > 0 {
			per = p.Cells.P
		}
	}
	var list []part
	for i := range p.Places.Memory {
		b := &p.Places.Memory[i]
		for _, x := range b.Parts {
			if x.Bytes > 0 {
				list = append(list, part{x, b})
			}
		}
		if b.Bytes > 0 && b.Parts == nil {
			list = append(list, part{Part{b.At, b.Bytes, b.From * per, b.To*per + per - 1}, b})
		}
	}
	slices.SortFunc(list, func(a, b part) int { return cmp.Compare(a.At, b.At) })
	last := make([]*part, len(p.Spec.Phases)*per) // by moment: the part that ends last, of those so far
	var whole, any *part                          // the same of those that are in use all the time, and of all
	later := func(x, b *part) *part {
		if x == nil || x.At+x.Bytes < b.At+b.Bytes {
			return b
		}
		return x
	}
	within := func(x, b *part) bool { return x != nil && b.At < x.At+x.Bytes }
	for i := range list {
		b := &list[i]
		switch {
		case b.of.From == Whole && within(any, b):
			return any.of, b.of
		case b.of.From == Whole:
			whole = later(whole, b)
		case within(whole, b):
			return whole.of, b.of
		default:
			for m := b.From; m <= b.To; m++ {
				if within(last[m], b) {
					return last[m].of, b.of
				}
				last[m] = later(last[m], b)
			}
		}
		any = later(any, b)
	}
	return nil, nil
}
