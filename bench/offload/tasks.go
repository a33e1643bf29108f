package offload

import (
	"fmt"
	"strings"

	"sagann/saga"
)

// traceTasks trains for one more epoch and records the times of its tasks.
func (o *outcome) traceTasks(p *saga.Program) error {
	if err := p.StartTrace(1); err != nil {
		return err
	}
	if _, err := p.Step(); err != nil {
		return err
	}
	var err error
	if o.tasks, err = p.TraceTotals(); err != nil {
		return err
	}
	return p.StartTrace(0)
}

// noteTasks records a table of o's tasks with measured and simulated times, and the sums for each queue.
func (b *bench) noteTasks(name, label string, o *outcome) {
	if len(o.tasks) == 0 {
		return
	}
	var s strings.Builder
	fmt.Fprintf(&s, "Tasks of an epoch of %s, %s, one by one (P = %d): ms measured, ms predicted\n\n", name, label, o.plan.Cells.P)
	s.WriteString("| phase | sweep | queue | what | stage | layer | tasks | rows | edges | GB | GB gathered | ms | predicted | ÷ |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	type sum struct{ ms, predicted float64 }
	sums := map[string]sum{}
	for i := range o.tasks {
		t := &o.tasks[i]
		ms, want := float64(t.Measured)/1e6, float64(t.Predicted)/1e6
		u := sums[t.Queue]
		sums[t.Queue] = sum{u.ms + ms, u.predicted + want}
		fmt.Fprintf(&s, "| %d | %s | %s | %s | %s | %s | %d | %d | %d | %.2f | %.1f | %.3f | %.3f | %.2f |\n", t.Phase, t.Sweep, t.Queue, t.Name, t.Stage,
			t.Layer, t.Tasks, t.Rows, t.Edges, float64(t.Bytes)/1e9, float64(t.Gathered)/1e9, ms, want, ms/max(want, 1e-6))
	}
	for _, q := range []string{"compute", "h2d", "d2h", "d2d"} {
		if u, ok := sums[q]; ok {
			fmt.Fprintf(&s, "| | | %s | all | | | | | | | | %.3f | %.3f | %.2f |\n", q, u.ms, u.predicted, u.ms/max(u.predicted, 1e-6))
		}
	}
	b.ready = append(b.ready, s.String())
}
