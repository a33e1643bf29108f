package sim

import (
	"slices"

	"sagann/dataflow/plan"
)

// EarliestDeadline simulates p on m with loads reordered: of the loads of a device whose target memory is
// free, the one that is read first (Precedence.Due) goes next. It returns the tasks in the order in which they
// start. It returns nil if the step is not faster than wall ns, the time it takes in the order of p.
func EarliestDeadline(p *plan.Plan, wall int64, m *Machine, t *Precedence) []int32 {
	s := newSimulation(p, m)
	s.free, s.started = newChooser(p, t), make([]int32, 0, len(p.Tasks))
	for q := int(plan.H2D); q < len(s.lanes); q += int(plan.Queues) {
		s.lanes[q].head = -1
	}
	if s.run(); s.t.Wall >= wall {
		return nil
	}
	return s.order()
}

// order lists the tasks in the order in which they started, and those of the same time in the plan's order.
func (s *simulation) order() []int32 {
	out := s.started
	for i := 0; i < len(out); {
		k := i + 1
		for k < len(out) && s.t.Start[out[k]] == s.t.Start[out[i]] {
			k++
		}
		slices.Sort(out[i:k])
		i = k
	}
	return out
}
