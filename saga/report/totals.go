package report

import (
	"time"

	"sagann/dataflow/plan"
	"sagann/internal/traceout"
)

// TaskTotal sums up the tasks of one traced epoch that do the same in the same phase, over
// all devices, with the time that the simulator predicts for them.
type TaskTotal struct {
	Phase           int    // number of the phase; -1 for tasks outside of phases
	Sweep           string // what the phase is for: "forward", "backward" or "forward and backward"
	Queue, Name     string
	Stage, Layer    string
	Tasks           int   // number of tasks
	Rows, Edges     int64 // own rows and edges, summed over kernels; edges 0 over sampled blocks
	Bytes, Gathered int64 // bytes copied; bytes of rows at the far end that kernels read
	Measured        time.Duration
	Predicted       time.Duration // 0 without a machine model
}

// Totals sums up the last traced step of t by kind of task, in the order in which the plan first has
// each kind.
func (r *Run) Totals(t *traceout.Trace) []TaskTotal {
	type key struct {
		phase       int
		queue, name string
		stage       string
	}
	var all []TaskTotal
	at := map[key]int{}
	spans := t.Steps[len(t.Steps)-1].Spans
	for i := range t.Tasks {
		k, f := &t.Tasks[i], &r.Plan.Tasks[i]
		id := key{k.Phase, f.Queue.String(), k.Name, k.Stage}
		n, ok := at[id]
		if !ok {
			n = len(all)
			at[id] = n
			all = append(all, TaskTotal{Phase: k.Phase, Sweep: k.Sweep, Queue: id.queue, Name: k.Name, Stage: k.Stage, Layer: k.Layer})
		}
		o := &all[n]
		o.Tasks++
		o.Bytes += k.Bytes
		o.Gathered += k.Gathered
		if k.Kind == traceout.Compute && f.Kind == plan.Run {
			o.Rows += int64(f.Rows)
			if f.Other >= 0 && r.Plan.Places.Sets == nil {
				o.Edges += r.Plan.Cells.NNZ[f.Dir][int(f.Own)*r.Plan.Cells.P+int(f.Other)]
			}
		}
		o.Measured += spans[i].End - spans[i].Start
		if line := r.Predicted; line != nil && len(line.End) == len(t.Tasks) {
			o.Predicted += time.Duration(line.End[i] - line.Start[i])
		}
	}
	return all
}
