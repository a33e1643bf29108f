package order

import (
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
)

// Loads in the order of their deadlines. The emitter puts a load right before the first task that
// reads it, and its queue runs in that order. So a load whose slot is still in use holds up all
// later loads, even those whose slots are free. If the machine is known, the simulator runs the plan
// with this queue reordered: whenever a copy has ended, the next load is, among those whose target
// bytes are free, the one that is read first. The plan then gets its tasks in the order in which the
// simulated ones began. Bytes, addresses, results and precedence stay the same.

// EDF returns p with its loads in the order of their deadlines, and the timeline of that on m. If that is not faster
// than line, the timeline of p, it returns p and line.
func EDF(p *plan.Plan, line *sim.Timeline, m *sim.Machine, t *Trail) (*plan.Plan, *sim.Timeline) {
	if !p.Moves() {
		return p, line
	}
	order := sim.EarliestDeadline(p, line.Wall, m, &t.Precedence)
	if order == nil {
		return p, line
	}
	q := ordered(p, t, order)
	return q, sim.Simulate(q, m)
}

// ordered is p with its tasks in another order.
func ordered(p *plan.Plan, t *Trail, order []int32) *plan.Plan {
	out := *p
	out.Tasks, out.Deps = make([]plan.Task, 0, len(p.Tasks)), make([]int32, 0, len(p.Deps))
	at := make([]int32, len(order)) // by task: where it stands now
	wait := newWaits(&out)
	for n, i := range order {
		at[i] = int32(n)
		wait.begin(false)
		for _, j := range t.Of(i) {
			lane := p.Tasks[j].Lane()
			wait.need[lane] = max(wait.need[lane], at[j])
		}
		k := p.Tasks[i]
		k.Is.Event = false
		wait.add(&out, &k)
	}
	return &out
}
