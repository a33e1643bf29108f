package sim

import (
	"time"

	"sagann/dataflow/plan"
)

// Batch is how long the kernels of each task of a step over sampled blocks take on one device of the kind, with so many rows of each
// vertex set and edges of each edge set (plan.Sets). Drawing and what comes with the next batch are not part of it.
func (k *DeviceKind) Batch(p *plan.Plan, rows, edges []int) []time.Duration {
	c := newClock(p, k)
	list := make([]time.Duration, len(p.Tasks))
	for i := range p.Tasks {
		t, ns := &p.Tasks[i], 0.0
		switch t.Kind {
		case plan.Run:
			own := float64(t.Rows)
			if t.Own >= 0 {
				own = float64(rows[t.Own])
			}
			if t.Other < 0 {
				ns = c.pace.call(c.costs[t.Kernel], own, 0, 0)
				break
			}
			far := t.Other + 1 // sources are a level further out
			if t.Dir == plan.CSR {
				far = t.Other
			}
			ns = c.pace.call(c.costs[t.Kernel], own, float64(edges[t.Other]), float64(rows[far]))
		case plan.Take:
			ns = c.pace.bytes(2 * int64(rows[t.Own]) * p.Spec.Values[t.Value].RowBytes)
		case plan.Zero, plan.Update:
			ns = c.ns(t)
		}
		list[i] = time.Duration(ns)
	}
	return list
}
