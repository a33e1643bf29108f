package cuda

import (
	"slices"
	"strings"

	"sagann/kernel"
)

// Program is a program as text for a GPU: kernels in Source, and the steps that a launch
// takes. Element-wise and row-wise instructions are fused into kernels that give a
// group of lanes a row; products stand between them; an edge program without products
// is one gather kernel with a warp a row, or a group of lanes where rows have few edges.
type Program struct {
	Source string   // CUDA C++
	Names  []string // its kernels, in the order of GPUStep.Func

	*kernel.Layout
	p      *kernel.Program // the layout's
	frags  []entry         // by level; no name where there is nothing to do
	gather []gatherKernels // edge programs: the accumulators; slice by slice and, last, whole rows
	start  bool            // accumulators are started and finished by kernels of their own
}

// entry is a kernel and its shape.
type entry struct {
	fn     int // index in Names, -1 when empty
	groups int // rows (warps in gathers) a block
	block  int // threads of a block
	shared uint32
	slices int
	row    work // of a row (or an edge of a tile); of an entry of the row list in gathers
	edge   work // gathers: of an edge
}

// gatherKernels is the kernels of one way to gather.
type gatherKernels struct {
	rows   entry
	few    entry // for rows of few edges; no name without
	hub    entry // for rows of many edges; no name where one kernel does them all
	large  int   // edges that a row has at most which is not of many
	far    int64 // bytes of the cache that a row of the far end takes, of all operands
	slice  int64 // and a slice of it
	narrow bool  // two slices make the row
}

// H200 is the chip of an H200, for which the constants of these kernels were measured.
var H200 = kernel.Chip{Processors: 132, Cache: 60 << 20}

// Render checks p and renders it for a chip. The text is the same for every chip; what
// launches do is not. It is an error when an instruction has no CUDA code.
func Render(p *kernel.Program, chip kernel.Chip) (*Program, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	c := &Program{Layout: kernel.NewLayout(p, chip)}
	c.p = c.Program
	p = c.p
	c.frags = make([]entry, c.Levels)
	var b strings.Builder
	b.WriteString(preludeSource)
	if p.Packed {
		b.WriteString(packedSource)
	}
	if slices.ContainsFunc(p.Outs, func(o kernel.Out) bool { return c.ascend(&o) }) {
		b.WriteString(ascendSource)
	}
	for l := range c.frags {
		c.frags[l].fn = -1
		if err := c.fragment(&b, l); err != nil {
			return nil, err
		}
	}
	if p.Edges {
		b.WriteString(foldSource)
		if err := c.gatherKernel(&b); err != nil {
			return nil, err
		}
	}
	for i := range p.Outs {
		if a := p.Outs[i].Acc; a == kernel.SumRows || a == kernel.SumTN {
			b.WriteString(columnsSource)
			c.Names = append(c.Names, "saga_columns", "saga_columns_add")
			break
		}
	}
	c.productKernels(&b)
	c.byKernels(&b)
	c.sparseKernels(&b)
	c.Source = b.String()
	return c, nil
}
