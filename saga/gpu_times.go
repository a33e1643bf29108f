package saga

import (
	"errors"
	"fmt"
	"time"

	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// KernelTime is one command of an epoch on a GPU: a kernel or a product. Bytes are those
// of its operands, a row that edges gather once an edge, so that rows which the cache
// serves count too; Flops are two a multiply and add of products, and an operation a
// column of every other instruction. Both are 0 where nothing counts them.
type KernelTime struct {
	Task, Kernel string
	Time         time.Duration
	Bytes, Flops int64
}

// KernelTimes trains for one epoch with an event before and after every command and
// lists the commands in their order. It is an error on other devices than GPUs.
func (p *Program) KernelTimes() ([]KernelTime, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	spans := map[int64][]device.Span{}
	g, ok := p.session.devices[0].(device.GPU)
	if !ok || len(p.session.devices) > 1 {
		return nil, fmt.Errorf("saga: the times of kernels are known on one GPU, not on %q", p.cfg.Device)
	}
	p.session.arena.OneByOne = true
	defer func() { p.session.arena.OneByOne = false }()
	g.Detail(func(s device.Span) { spans[s.Tag] = append(spans[s.Tag], s) })
	_, err := p.Step()
	g.Detail(nil) // the last spans come before it returns
	if err != nil {
		return nil, err
	}
	work, err := p.commandWork()
	if err != nil {
		return nil, err
	}
	var out []KernelTime
	for i := range p.train.plan.Tasks {
		for k, s := range spans[int64(i)] {
			t := KernelTime{Task: p.train.plan.Describe(i), Kernel: s.Kernel, Time: s.End - s.Start}
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
func (p *Program) commandWork() ([][]kernel.CUDAStep, error) {
	u := p.train
	cuda := make([]*kernel.CUDA, len(u.low.Kernels))
	for i, k := range u.low.Kernels {
		var err error
		if cuda[i], err = kernel.RenderCUDA(k); err != nil {
			return nil, err
		}
	}
	out := make([][]kernel.CUDAStep, len(u.plan.Tasks))
	for i := range u.plan.Tasks {
		t := &u.plan.Tasks[i]
		if t.Kind == plan.Zero {
			out[i] = []kernel.CUDAStep{{Bytes: t.Bytes}}
		}
		if t.Kind != plan.Run {
			continue
		}
		l := &kernel.CUDALaunch{Rows: int(t.Rows), First: t.Is.First, Last: t.Is.Last, Bufs: make([]uint64, u.low.Kernels[t.Kernel].Operands)}
		if t.Other >= 0 {
			grid := p.grid.grid
			side := grid.CSC
			if t.Dir == plan.CSR {
				side = grid.CSR
			}
			k := int(t.Own)*side.P + int(t.Other)
			l.Cell = &kernel.CUDACell{Ptr: side.View(k).Ptr}
			if side.Cells[k].RowsOff >= 0 {
				l.Cell.RowIDs = 1
			}
		}
		out[i] = cuda[t.Kernel].Steps(l)
	}
	return out, nil
}

// DevicePeak is the most device memory in bytes that any device has held so far, what
// kernels take beside the plan included, a GPU's context and libraries not.
func (p *Program) DevicePeak() int64 { return p.peak() }

// KernelBytes is the device memory in bytes that kernels may take on each GPU beside what
// the plans lay out; 0 on other devices.
func (p *Program) KernelBytes() int64 { return p.memory.scratch }
