package cuda

import "sagann/kernel"

// Backend is the kernel.Renderer of CUDA.
type Backend struct{}

// Render is the function Render.
func (Backend) Render(p *kernel.Program, chip kernel.Chip) (kernel.Rendered, error) {
	c, err := Render(p, chip)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Scratch is the function Scratch.
func (Backend) Scratch(p *kernel.Program, chip kernel.Chip, rows, edges int) int64 {
	return Scratch(p, chip, rows, edges)
}

// Need is the function Need.
func (Backend) Need(p *kernel.Program, chip kernel.Chip, room int64) kernel.Need {
	return Need(p, chip, room)
}

// Optimizer returns the kernels of an optimiser.
func (Backend) Optimizer(kind kernel.Optimizer) kernel.GPUText { return optimizerText(kind) }

// Join returns the kernels that add up the sums, and take the larger of the maxima, of several devices.
func (Backend) Join() kernel.GPUText {
	return kernel.GPUText{Source: joinSource, Names: []string{"saga_add", "saga_larger"}}
}

// Blocks returns the kernels that make parts of sampled blocks on the device.
func (Backend) Blocks() kernel.GPUText {
	return kernel.GPUText{Source: blockSource + farSource, Names: blockNames}
}

// Text returns the program's source and the names of its kernels.
func (c *Program) Text() kernel.GPUText { return kernel.GPUText{Source: c.Source, Names: c.Names} }
