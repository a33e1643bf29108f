package report

import (
	"errors"
	"time"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// KernelTime is one command of an epoch on a GPU: a kernel or a product. Bytes are those
// of its operands, a row that edges gather once an edge, so that rows which the cache
// serves count too; Flops are two a multiply and add of products, and an operation a
// column of every other instruction. Both are 0 where nothing counts them. Predicted is what all commands of the task are
// expected to take, in the first of them; 0 but for steps over sampled blocks.
type KernelTime struct {
	Task, Kernel    string
	Time, Predicted time.Duration
	Bytes, Flops    int64
}

// KernelTimes puts the spans of an epoch's commands, by task, beside the work that they did.
// render makes a program ready as it was for the device.
func (r *Run) KernelTimes(grid *chunk.Grid, render func(*kernel.Program) (kernel.Rendered, error), spans map[int64][]device.Span) ([]KernelTime, error) {
	work := make([][]kernel.GPUStep, len(r.Plan.Tasks))
	if r.Plan.Places.Sets == nil { // the work of sampled batches differs
		var err error
		if work, err = r.commandWork(grid, render); err != nil {
			return nil, err
		}
	}
	var out []KernelTime
	for i := range r.Plan.Tasks {
		for k, s := range spans[int64(i)] {
			t := KernelTime{Task: r.Plan.Describe(i), Kernel: s.Kernel, Time: s.End - s.Start}
			if k == 0 && r.Sampled != nil && r.Sampled.Tasks != nil {
				t.Predicted = r.Sampled.Tasks[i]
			}
			if w := work[i]; k < len(w) {
				t.Bytes, t.Flops = w[k].Bytes, w[k].Flops
			}
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("saga: the device gave no times of kernels")
	}
	return out, nil
}

// commandWork lists the steps of each task that runs a kernel, in the order in which
// the executor makes commands of them.
func (r *Run) commandWork(grid *chunk.Grid, render func(*kernel.Program) (kernel.Rendered, error)) ([][]kernel.GPUStep, error) {
	programs := make([]kernel.Rendered, len(r.Low.Kernels))
	for i, k := range r.Low.Kernels {
		var err error
		if programs[i], err = render(k); err != nil {
			return nil, err
		}
	}
	out := make([][]kernel.GPUStep, len(r.Plan.Tasks))
	for i := range r.Plan.Tasks {
		t := &r.Plan.Tasks[i]
		if t.Kind == plan.Zero {
			out[i] = []kernel.GPUStep{{Bytes: t.Bytes}}
		}
		if t.Kind != plan.Run {
			continue
		}
		l := &kernel.GPULaunch{Rows: int(t.Rows), First: t.Is.First, Last: t.Is.Last, Bufs: make([]uint64, r.Low.Kernels[t.Kernel].Operands)}
		if t.Other >= 0 {
			side := grid.CSC
			if t.Dir == plan.CSR {
				side = grid.CSR
			}
			k := int(t.Own)*side.P + int(t.Other)
			l.Cell = &kernel.GPUCell{Ptr: side.View(k).Ptr}
			if side.Cells[k].RowsOff >= 0 {
				l.Cell.RowIDs = 1
			}
		}
		out[i] = programs[t.Kernel].Steps(l)
	}
	return out, nil
}
