package saga

import (
	"fmt"

	"sagann/backend"
	"sagann/chunk"
	"sagann/device"
	"sagann/kernel"
	"sagann/saga/report"
)

// KernelTime is the time of one command of an epoch on a GPU: a kernel or a dense product.
type KernelTime = report.KernelTime

// KernelTimes trains for one epoch, in sampled training on one batch, with an event before and
// after every command, and lists the commands in their order. It is an error unless the program runs on one GPU.
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
	var grid []*chunk.Grid
	if p.train.plan.Places.Sets == nil { // not over blocks
		grid = p.grids.built.grids
	}
	return p.report().KernelTimes(grid, render, spans)
}

// DevicePeak is the most memory in bytes that a device has held so far: the plan's and the kernels',
// without a GPU's context and libraries.
func (p *Program) DevicePeak() int64 { return p.peak() }

// KernelBytes is how many bytes of memory kernels may take on each GPU in addition to the plans; 0
// on other devices.
func (p *Program) KernelBytes() int64 { return p.chosen.memory.scratch }
