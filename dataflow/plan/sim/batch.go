package sim

import (
	"time"

	"sagann/dataflow/plan"
)

// Work is what one kernel of a task reads and writes in device memory and computes.
type Work struct {
	Bytes, Flops int64
	Product      bool // dense
}

// Batch is how long the kernels of each task of a step over sampled blocks take on one device of the kind, with so many rows of each
// vertex set and edges of each edge set (plan.Sets). Where work has something of a task, that counts in place of the cost of its program, which
// does not say what kernels hand to each other. Drawing and what comes with the next batch are not part of it; see Draw.
func (k *DeviceKind) Batch(p *plan.Plan, rows, edges []int, work [][]Work) []time.Duration {
	c := newClock(p, k)
	list := make([]time.Duration, len(p.Tasks))
	for i := range p.Tasks {
		t, ns := &p.Tasks[i], 0.0
		switch {
		case i < len(work) && len(work[i]) > 0:
			for _, w := range work[i] {
				ns += c.pace.kernel(w)
			}
		case t.Kind == plan.Run:
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
		case t.Kind == plan.Take:
			ns = c.pace.bytes(2 * int64(rows[t.Own]) * p.Spec.Values[t.Value].RowBytes)
		case t.Kind == plan.Zero:
			ns = c.ns(t)
		case t.Kind == plan.Update: // a kernel a parameter
			ns = c.ns(t) + c.pace.launch*float64(len(p.Spec.Updates)-1)
		}
		list[i] = time.Duration(ns)
	}
	return list
}

// LeastRead is the bytes of a GPU's memory that a read of a few takes, where nothing else is near.
const LeastRead = 64

// Draw is how long drawing blocks with so many vertices of each level and edges of each hop takes. A vertex reads where its row begins. An edge is read, its far
// end is marked, and its place is read when places are given and when far ends are named by it. A hop has two kernels, and one ends the batch. Where rows are
// what walks visit, these make so many moves from a vertex at each hop: a row's begin and an edge are read for each.
func (k *DeviceKind) Draw(vertices, edges, moves []int) time.Duration {
	reads := 0
	for hop, n := range edges {
		reads += vertices[hop] + 4*n
		if moves != nil {
			reads += 2 * moves[hop] * vertices[hop]
		}
	}
	return time.Duration(1e9 * (float64(2*len(edges)+1)*k.Launch.Value + float64(reads*LeastRead)/k.GatherMiss.Value))
}

// Bring is how long it takes to find which of so many rows of a batch must come over the link, and to copy the others, near of so many bytes each. For a row
// three tables are read in both kernels, and a place and a bit are written.
func (k *DeviceKind) Bring(rows, near int, row int64) time.Duration {
	const places = 8
	return time.Duration(1e9 * (3*k.Launch.Value + float64(places*rows*LeastRead)/k.GatherMiss.Value + 2*float64(near)*float64(row)/k.Bandwidth.Value))
}

// kernel is the time in ns of a kernel by itself.
func (k *pace) kernel(w Work) float64 {
	flops, bytes := float64(w.Flops), k.byte*float64(w.Bytes)
	switch {
	case w.Product && k.apart:
		return k.product + k.dense*flops + bytes
	case w.Product: // the rate of products was measured with what they read and write
		return k.product + max(k.dense*flops, bytes)
	}
	return k.launch + max(k.elem*flops, bytes)
}
