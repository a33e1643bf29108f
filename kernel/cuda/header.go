package cuda

import (
	"fmt"
	"slices"
	"strings"

	"sagann/kernel"
)

// How kernels begin: their names, the parameters that all of a program share, blocks and lanes.

func (c *Program) name(s string) int {
	c.Names = append(c.Names, s)
	return len(c.Names) - 1
}

// parameter is a parameter that all kernels of a program share, and its argument.
type parameter struct {
	typ, name string
	of        func(s *launcher, x *span) uint64
}

// span is what a kernel of a launch works on: n rows or entries from first on and, in edge programs, their edges between from
// and to. begin and end say whether accumulators start and are finished. Rows of more than large edges are the hub kernel's.
type span struct {
	from, to, first, n int
	begin, end         bool
	large              int
	slice              int  // over pairs: the first slice
	rounds             bool // of terms: sums go in rounds
}

// parameters are those of all kernels of the program, in order.
func (c *Program) parameters() (list []parameter) {
	add := func(typ, name string, of func(s *launcher, x *span) uint64) {
		list = append(list, parameter{typ, name, of})
	}
	write := make([]bool, c.p.Operands)
	outs := c.p.Outs
	if c.p.Then != nil {
		outs = slices.Concat(outs, c.p.Then.Outs)
	}
	for _, o := range outs {
		write[o.Operand] = true
		if o.Aux >= 0 {
			write[o.Aux] = true
		}
	}
	for i := range c.p.Operands {
		typ := "const float *__restrict__ "
		if write[i] {
			typ = "float *"
		}
		add(typ, fmt.Sprintf("b%d", i), func(s *launcher, _ *span) uint64 { return s.l.Bufs[i] })
	}
	for _, r := range c.Order {
		add("float *", fmt.Sprintf("s%d", r), func(s *launcher, _ *span) uint64 { return s.scratch[r] })
	}
	const ids, floats = "const unsigned *__restrict__ ", "const float *__restrict__ "
	if c.p.Indexes() {
		add(ids, "index", func(s *launcher, _ *span) uint64 { return s.l.Index })
	}
	for i := range c.p.Operands {
		if c.p.Pads(i) {
			add("ll ", fmt.Sprintf("live%d", i), func(s *launcher, _ *span) uint64 { return uint64(s.l.Live[i]) })
		}
	}
	if c.p.Edges {
		add(ids, "rowids", func(s *launcher, _ *span) uint64 { return s.l.Cell.RowIDs })
		add(ids, "ptr", func(s *launcher, _ *span) uint64 { return s.l.Cell.PtrAt })
		add(ids, "other", func(s *launcher, _ *span) uint64 { return s.l.Cell.Other })
		add(floats, "rank", func(s *launcher, _ *span) uint64 { return s.l.Cell.Rank })
		add(ids, "type", func(s *launcher, _ *span) uint64 { return s.l.Cell.Type })
		add(floats, "weight", func(s *launcher, _ *span) uint64 { return s.l.Cell.Weight })
		add(floats, "data", func(s *launcher, _ *span) uint64 { return s.l.Cell.Data })
		add("ll ", "bits", func(s *launcher, _ *span) uint64 { return uint64(s.l.Cell.Bits) })
		add("ll ", "entries", func(s *launcher, _ *span) uint64 { n, _ := s.l.Cell.Size(); return uint64(n) })
		add("ll ", "from", func(_ *launcher, x *span) uint64 { return uint64(x.from) })
		add("ll ", "to", func(_ *launcher, x *span) uint64 { return uint64(x.to) })
	}
	add("ll ", "first", func(_ *launcher, x *span) uint64 { return uint64(x.first) })
	add("ll ", "n", func(_ *launcher, x *span) uint64 { return uint64(x.n) })
	add("ll ", "begin", func(_ *launcher, x *span) uint64 { return kernel.GPUFlag("", x.begin).Value })
	add("ll ", "end", func(_ *launcher, x *span) uint64 { return kernel.GPUFlag("", x.end).Value })
	if c.p.Edges {
		add("ll ", "large", func(_ *launcher, x *span) uint64 { return uint64(x.large) })
	}
	if c.laid.Pair || c.laid.Terms {
		add("float *", "laid", func(s *launcher, _ *span) uint64 { return s.l.Scratch })
		add("ll ", "fars", func(s *launcher, _ *span) uint64 { return uint64(s.l.Far) })
		add("ll ", "slice", func(_ *launcher, x *span) uint64 { return uint64(x.slice) })
		add("ll ", "rounds", func(_ *launcher, x *span) uint64 { return kernel.GPUFlag("", x.rounds).Value })
	}
	return list
}

// params is the parameter list that all kernels of the program share.
func (c *Program) params() string {
	var b strings.Builder
	for i, p := range c.common {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.typ + p.name)
	}
	return b.String()
}

// block is how many groups of lanes a block of at most so many threads has, fewer if shared memory is short, and its
// shared memory in bytes.
func (t *emitter) block(lanes, threads int) (groups int, shared uint32) {
	groups = threads / lanes
	for groups*lanes > 32 && groups*t.shared*4 > sharedLimit {
		groups /= 2
	}
	return groups, uint32(groups * t.shared * 4)
}

// head opens a kernel whose groups are G lanes each.
func (t *emitter) head(b *strings.Builder, name string, threads int, globals []int) {
	fmt.Fprintf(b, "extern \"C\" __global__ void __launch_bounds__(%d) %s(%s) {\n", threads, name, t.c.params())
	fmt.Fprintf(b, "\tconstexpr int G = %d, V = %d;\n", t.g, t.v)
	b.WriteString("\tconst int lane = threadIdx.x % G, group = threadIdx.x / G;\n" +
		"\tconst unsigned mask = (G == 32 ? 0xffffffffu : (1u << G % 32) - 1u) << (threadIdx.x % 32 / G * G);\n" +
		"\tconst int base = " + firstColumn(t.slice) + "; (void)lane; (void)mask; (void)base; (void)group;\n")
	if ofPairs(t.slice) {
		fmt.Fprintf(b, "\tconst float *side = laid + (blockIdx.y * (size_t)fars * %d + lane * 4);\n", kernel.PairLine/4)
	}
	if t.shared > 0 {
		fmt.Fprintf(b, "\textern __shared__ float shared_[];\n\tfloat *sm = shared_ + group * %d;\n", t.shared)
	}
	g := *t
	g.b, g.tab, g.few = b, "\t", false
	g.globals(globals)
}

// firstColumn is the first column that a block computes, of slices of so many.
func firstColumn(slice int) string {
	if ofPairs(slice) {
		return fmt.Sprintf("((int)blockIdx.y + (int)slice) * %d", slice)
	}
	return fmt.Sprintf("blockIdx.y * %d", slice)
}
