package saga

import (
	"fmt"

	"sagann/backend"
	"sagann/chunk"
	"sagann/device"
	"sagann/kernel"
	"sagann/saga/report"
)

// KernelTime is one command of an epoch on a GPU: a kernel or a product.
type KernelTime = report.KernelTime

// KernelTimes trains for one epoch with an event before and after every command and
// lists the commands in their order. It is an error on other devices than GPUs.
func (p *Program) KernelTimes() ([]KernelTime, error) {
	open, err := p.open()
	if err != nil {
		return nil, err
	}
	spans := map[int64][]device.Span{}
	g, ok := open.devices[0].(device.GPU)
	if !ok || len(open.devices) > 1 {
		return nil, fmt.Errorf("saga: the times of kernels are known on one GPU, not on %q", p.cfg.Device)
	}
	open.arena.OneByOne = true
	defer func() { open.arena.OneByOne = false }()
	g.Detail(func(s device.Span) { spans[s.Tag] = append(spans[s.Tag], s) })
	_, err = p.Step()
	g.Detail(nil) // the last spans come before it returns
	if err != nil {
		return nil, err
	}
	kind := backend.Of(p.cfg.Device)
	render := func(k *kernel.Program) (kernel.Rendered, error) {
		return kind.Renderer.Render(k, kind.ChipOf(g.Info()))
	}
	var grid *chunk.Grid
	if p.sampled == nil {
		grid = p.grids.built.grid
	}
	return p.report().KernelTimes(grid, render, spans)
}

// DevicePeak is the most device memory in bytes that any device has held so far, what
// kernels take beside the plan included, a GPU's context and libraries not.
func (p *Program) DevicePeak() int64 { return p.peak() }

// KernelBytes is the device memory in bytes that kernels may take on each GPU beside what
// the plans lay out; 0 on other devices.
func (p *Program) KernelBytes() int64 { return p.chosen.memory.scratch }
