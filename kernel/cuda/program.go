package cuda

import (
	"slices"
	"strings"

	"sagann/kernel"
)

// Program is a program rendered for a GPU: the kernels in Source, and what Steps needs to list the steps of a launch.
// Element-wise and row-wise instructions are fused into kernels in which a group of lanes computes a row. Products run
// between them. An edge program without products is one gather, with a warp per row, or a group of lanes per row where
// rows have few edges.
type Program struct {
	Source string   // CUDA C++
	Names  []string // its kernels, in the order of GPUStep.Func

	*kernel.Layout
	p      *kernel.Program // the layout's
	laid   kernel.Laying   // rows of far ends that are laid out anew where that pays
	common []parameter     // of all its kernels
	frags  []entry         // row kernels by level; fn is -1 if a level has nothing to compute
	gather []gatherKernels // of edge programs: a way that gathers slices of columns, if any, then one that gathers whole rows
	pair   *gatherKernels  // of gathers of two rows of far ends: like the first, over pairs
	won    []wonWay        // of the gradient of a maximum
	tiled  []tiled         // products by tiles
	start  bool            // kernels of their own start and finish the accumulators
	last   entry           // the kernel of what follows a gather, behind these; block is 0 where there is none
}

// entry is a kernel and its shape.
type entry struct {
	fn     int // index in Names, -1 when empty
	groups int // rows per block; in gathers warps per block
	block  int // threads per block
	shared uint32
	slices int
	row    work // per row, or per edge of a tile; in gathers per entry of the row list
	edge   work // in gathers: per edge
}

// gatherKernels is the kernels of one way to gather.
type gatherKernels struct {
	rows   entry
	few    entry // for cells whose rows have few edges; fn is -1 without one
	hub    entry // for rows of many edges; fn is -1 if the kernel rows takes them, too
	large  int   // a row of more edges has many edges
	most   int   // hub: rows of at most so many edges have a warp; 0: all have a block
	sums   int   // rows: groups of a warp, each of which has a sum
	far    int64 // bytes of cache that a row of a far end takes, over all operands
	slice  int64 // bytes of cache that a slice of it takes
	narrow bool  // a row has two slices
}

// H200 is the chip of an H200, for which the constants of these kernels were measured.
var H200 = kernel.Chip{Processors: 132, Cache: 60 << 20, Groups: true}

// Render checks p and renders it for a chip. The text is the same for every chip; what
// launches do is not. It is an error when an instruction has no CUDA code.
func Render(p *kernel.Program, chip kernel.Chip) (*Program, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	c := &Program{Layout: kernel.NewLayout(p.Join(), chip)}
	c.p = c.Program
	if p.Then == nil {
		c.laid = kernel.LayingOf(c.p)
	}
	p, c.common = c.p, c.parameters()
	c.frags = make([]entry, c.Levels)
	var b strings.Builder
	b.WriteString(preludeSource)
	if c.laid.Pair {
		b.WriteString(pairSource)
	}
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
	if err := tiledProducts(&b, c); err != nil {
		return nil, err
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
	c.productKernels(&b, func(o *kernel.Out) bool { return groupSumsKernel(c, o, false) != "" })
	groupSumsKernels(c, &b)
	c.byKernels(&b)
	c.sparseKernels(&b)
	c.Source = b.String()
	return c, nil
}
