package sim

import (
	"time"

	"sagann/dataflow/plan"
)

// Work is the work of one kernel: bytes that it reads and writes in device memory, and operations.
type Work struct {
	Bytes, Flops int64
	Elem         int64 // of products: operations of what follows them
	Product      bool  // a dense product at the library's rate
	Tiles        bool  // a dense product by tiles, at about the library's rate in single precision
	Halves       bool  // a dense product in single precision by groups of warps
}

// tilesTF32 is how many times faster products by tiles are in TF32: 361 us in place of 441 for 17 GFLOP on an H200, bound by how soon tensor cores
// answer (bench sampled --profile).
const tilesTF32 = 1.2

// Products in single precision by groups of warps have so many times the library's rate for 128 columns, but do not hide their memory traffic, and
// what follows them takes so many times as long as alone: fitted to products of 100 to 512 terms of sage, gcn and gat on an H200 (bench sampled --profile).
const (
	halvesFaster = 2.75
	halvesElem   = 4
)

// Batch is, by task, how long the kernels of a step over sampled blocks take on one device of the kind. rows
// and edges are the sizes of the batch, by vertex set and edge set (plan.Sets). work is, by task, the work of
// each of its kernels. It may be shorter than the plan or have nothing for a task; then the cost of the task's
// program counts, which knows nothing of what kernels write for each other. Drawing and loading the next batch
// are not part of the step; see Draw and Bring.
func (k *DeviceKind) Batch(p *plan.Plan, rows, edges []int, work [][]Work) []time.Duration {
	c := newClock(p, k)
	short := map[int][]absent{}
	p.Spec.Padded(func(call *plan.Call, operand int, from uint16) {
		short[call.Kernel] = append(short[call.Kernel], absent{p.Spec.Values[call.Operands[operand].ID].RowBytes, from})
	})
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
			cost := *c.costs[t.Kernel]
			for _, a := range short[int(t.Kernel)] {
				cost.FixedBytes -= a.row * int64(own-float64(rows[a.from]))
			}
			if t.Other < 0 {
				ns = c.pace.call(&cost, own, 0, 0)
				break
			}
			st := &p.Spec.Phases[t.Phase].Steps[t.Step]
			ns = c.pace.call(&cost, own, float64(edges[t.Other]), float64(rows[st.Far()]))
		case t.Kind == plan.Take:
			ns = c.pace.bytes(2 * int64(rows[t.Own]) * p.Spec.Values[t.Value].RowBytes)
		case t.Kind == plan.Zero:
			ns = c.ns(t)
		case t.Kind == plan.Update:
			ns = c.ns(t)
		}
		list[i] = time.Duration(ns)
	}
	return list
}

// absent is an operand of which only the rows of a set are there and read (plan.Spec.Padded), and the bytes of a row.
type absent struct {
	row  int64
	from uint16
}

// LeastRead is how many bytes of a GPU's memory traffic a random read of a few bytes costs.
const LeastRead = 64

// Draw is how long drawing the blocks of a batch takes, given how many vertices each level and how many edges
// each hop has. A vertex costs one random access, that of its row's beginning. An edge costs four: reading it,
// marking its far end, and reading the far end's place twice, to number it and to name it in the block. Each
// hop has two kernels, and one more ends the batch. Where rows are the vertices that walks visit most, moves is how many moves
// the walks from a vertex make at each hop; a move costs two random accesses, the row's beginning and an edge.
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

// Bring is how long it takes to find which of the rows of a batch must come over the link, and to copy the
// others, near rows of row bytes each, within the device. A row costs eight random accesses: three tables are
// read in each of two kernels, and a place and a bit are written.
func (k *DeviceKind) Bring(rows, near int, row int64) time.Duration {
	const places = 8
	return time.Duration(1e9 * (3*k.Launch.Value + float64(places*rows*LeastRead)/k.GatherMiss.Value + 2*float64(near)*float64(row)/k.Bandwidth.Value))
}

// kernel is the time in ns of one kernel, given its work.
func (k *pace) kernel(w Work) float64 {
	flops, elem, bytes := float64(w.Flops), k.elem*float64(w.Elem), k.byte*float64(w.Bytes)
	switch {
	case w.Tiles:
		return k.launch + max(k.tiles*flops, elem, bytes)
	case w.Halves:
		return k.launch + k.tiles/halvesFaster*flops + halvesElem*elem + bytes
	case w.Product && k.apart:
		return k.product + k.dense*flops + elem + bytes
	case w.Product: // the rate of products was measured with their memory traffic
		return k.product + max(k.dense*flops, elem, bytes)
	}
	return k.launch + max(k.elem*float64(w.Flops), bytes)
}
