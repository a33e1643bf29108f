package plan

import "fmt"

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
	for i, a := range p.Places.Memory {
		if a.At < 0 || a.At+a.Bytes > p.Peak {
			return fmt.Errorf("plan: buffer %s lies outside the arena", a.Name)
		}
		for _, b := range p.Places.Memory[:i] {
			if a.meets(&b) && a.At < b.At+b.Bytes && b.At < a.At+a.Bytes && a.Bytes > 0 && b.Bytes > 0 {
				return fmt.Errorf("plan: buffers %s and %s overlap", a.Name, b.Name)
			}
		}
	}
	return nil
}
