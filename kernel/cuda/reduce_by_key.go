package cuda

import (
	_ "embed"
	"strings"

	"sagann/kernel"
)

// Reductions by key on a GPU. A block sums a range of rows in their order into a partial result of its own, in float64,
// with a thread per column. Then the partial results are added in the order of the blocks. Consecutive rows of one key
// are summed in a register. If a result is too large for two copies, one block adds to it in place. Maxima do not depend
// on the order: they are atomic.

// byDoubles is about how many numbers the partial results of one sum may have: 64 MiB.
const byDoubles = 1 << 23

// byBlocks is the number of partial sums of n numbers each. It depends on n alone.
func byBlocks(n int) int { return max(1, min(1024, byDoubles/max(1, n))) }

// byBytes is the size of these partial sums in bytes.
func byBytes(n int) int64 {
	if byBlocks(n) == 1 {
		return 0
	}
	return kernel.Align(int64(n) * int64(byBlocks(n)) * 8)
}

//go:embed sum_by_key.cu
var sumBySource string

//go:embed max_by_key.cu
var maxBySource string

// byKernels adds the kernels of the reductions by key that the program has.
func (c *Program) byKernels(b *strings.Builder) {
	sum, top := false, false
	for _, o := range c.p.Outs {
		sum, top = sum || o.Acc == kernel.SumBy, top || o.Acc == kernel.MaxBy
	}
	if sum {
		b.WriteString(sumBySource)
		c.Names = append(c.Names, "saga_sum_by", "saga_sum_by_add", "saga_sum_by_here")
	}
	if top {
		b.WriteString(maxBySource)
		c.Names = append(c.Names, "saga_max_by")
	}
}

// byKey reduces n rows of the tile that begins at row lo.
func (s *launcher) byKey(o *kernel.Out, lo, n int) {
	w := s.c.p.Widths[o.Reg]
	x, ld := s.at(o.Reg, lo)
	key, ldk := s.at(o.Reg2, lo)
	args := kernel.GPUArgs{at("x", x), num("ld", ld), at("key", key), num("ldk", ldk), num("rows", n), num("w", w), num("groups", o.Blocks)}
	dst := at("dst", s.l.Bufs[o.Operand])
	if o.Acc == kernel.MaxBy {
		s.call(s.c.lookup("saga_max_by"), 1024, 256, 0, 1, append(args, dst))
		return
	}
	blocks, threads := byBlocks(w*o.Blocks), min(256, (w+31)/32*32)
	if blocks == 1 {
		s.call(s.c.lookup("saga_sum_by_here"), 1, threads, 0, 1, append(args, dst))
		return
	}
	s.call(s.c.lookup("saga_sum_by"), blocks, threads, 0, 1, append(args, at("part", s.partial)))
	s.call(s.c.lookup("saga_sum_by_add"), 1024, 256, 0, 1, kernel.GPUArgs{dst, at("part", s.partial), num("n", w*o.Blocks), num("blocks", blocks)})
}
