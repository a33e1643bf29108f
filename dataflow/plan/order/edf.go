package order

import (
	"slices"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
)

// Loads in the order of their deadlines. The emitter puts a load right before the first task that
// reads it, and its queue runs in that order. So a load whose slot is still in use holds up all
// later loads, even those whose slots are free. If the machine is known, the simulator runs the plan
// with this queue reordered: whenever a copy has ended, the next load is, among those whose target
// bytes are free, the one that is read first. The plan then gets its tasks in the order in which the
// simulated ones began. Bytes, addresses, results and precedence stay the same.

// Trail collects, while tasks are emitted, the precedence that sim.EarliestDeadline needs.
type Trail struct {
	sim.Precedence
	loads [][]int32 // by chunk of host memory: the loads that have read it since it was written
}

// begin begins task i.
func (t *Trail) begin(i int32) {
	t.From, t.Due = append(t.From, int32(len(t.Before))), append(t.Due, i)
}

// read records that task i of queue q reads segment u, which is part of span r.
func (t *Trail) read(r span, u *segment, i int32, q plan.Queue) {
	if r.device < 0 && q == plan.H2D {
		for int(r.at) >= len(t.loads) {
			t.loads = append(t.loads, nil)
		}
		t.loads[r.at] = append(t.loads[r.at], i)
	}
	if w := u.write; w >= 0 && plan.Queue(u.lane%int32(plan.Queues)) == plan.H2D && t.Due[w] == w {
		t.Due[w] = i
	}
}

// write records that the current task writes w.
func (t *Trail) write(w span) {
	if w.device < 0 && 0 <= w.at && int(w.at) < len(t.loads) {
		t.Before = append(t.Before, t.loads[w.at]...)
		t.loads[w.at] = t.loads[w.at][:0]
	}
}

// end ends the current task: it sorts the tasks that must come before it and drops duplicates.
func (t *Trail) end() {
	at := t.From[len(t.From)-1]
	mine := t.Before[at:]
	slices.Sort(mine)
	t.Before = t.Before[:int(at)+len(slices.Compact(mine))]
}

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
