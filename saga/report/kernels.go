package report

import (
	"errors"
	"time"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// KernelTime is the time of one command of an epoch on a GPU: a kernel or a dense product.
//
// Bytes are those of its operands. A gathered row counts once per edge, even if the cache serves it.
// Flops are 2 per multiply-add of products, and 1 per column of other instructions. Both are 0 if
// not counted. Predicted is for steps over sampled blocks only: the first command of a task has the
// predicted time of all its commands.
type KernelTime struct {
	Task, Kernel    string
	Time, Predicted time.Duration
	Bytes, Flops    int64
}

// KernelTimes lists the commands of an epoch with their work. spans are the measured times by task.
// render must render a program as it was rendered for the device. It is an error if spans has no
// times.
func (r *Run) KernelTimes(grids []*chunk.Grid, render func(*kernel.Program) (kernel.Rendered, error), spans map[int64][]device.Span) ([]KernelTime, error) {
	work := make([][]kernel.GPUStep, len(r.Plan.Tasks))
	if r.Plan.Places.Sets == nil { // the work of sampled batches differs
		var err error
		if work, err = r.commandWork(grids, render); err != nil {
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

// commandWork lists by task the work of its commands, in the order in which the executor submits them.
func (r *Run) commandWork(grids []*chunk.Grid, render func(*kernel.Program) (kernel.Rendered, error)) ([][]kernel.GPUStep, error) {
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
			side := grids[t.Dir.Relation()].CSC
			if t.Dir.Way() == plan.CSR {
				side = grids[t.Dir.Relation()].CSR
			}
			k := int(t.Own)*side.P + int(t.Other)
			l.Cell, l.Far, l.Room = &kernel.GPUCell{Ptr: side.View(k).Ptr}, r.Plan.Cells.Reach(int(t.Other)), r.Plan.Places.Work[t.Phase].Bytes
			if side.Cells[k].RowsOff >= 0 {
				l.Cell.RowIDs = 1
			}
		}
		out[i] = programs[t.Kernel].Steps(l)
		for k := range out[i] {
			out[i][k].Args = nil // of a launch that does not run
		}
	}
	return out, nil
}
