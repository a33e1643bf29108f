package order

import (
	"slices"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
)

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
