package saga

import (
	"slices"

	"sagann/kernel"
)

// Kernels lists the fused programs of training and evaluation, in the order in which
// plans number them; a backend renders each.
func (p *Program) Kernels() []*kernel.Program {
	return slices.Concat(p.train.low.Kernels, p.eval.low.Kernels)
}
