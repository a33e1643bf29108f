package cuda

import (
	"fmt"
	"strings"
)

// How kernels begin: their names, the parameters that all of a program share, blocks and lanes.

func (c *Program) name(s string) int {
	c.Names = append(c.Names, s)
	return len(c.Names) - 1
}

// params is the parameter list that all kernels of the program share.
func (c *Program) params() string {
	var b strings.Builder
	write := make([]bool, c.p.Operands)
	for _, o := range c.p.Outs {
		write[o.Operand] = true
		if o.Aux >= 0 {
			write[o.Aux] = true
		}
	}
	for i := range c.p.Operands {
		if write[i] {
			fmt.Fprintf(&b, "float *b%d, ", i)
		} else {
			fmt.Fprintf(&b, "const float *__restrict__ b%d, ", i)
		}
	}
	for _, r := range c.Order {
		fmt.Fprintf(&b, "float *s%d, ", r)
	}
	if c.p.Indexes() {
		b.WriteString("const unsigned *__restrict__ index, ")
	}
	if c.p.Edges {
		b.WriteString("const unsigned *__restrict__ rowids, const unsigned *__restrict__ ptr, const unsigned *__restrict__ other, " +
			"const float *__restrict__ rank, const unsigned *__restrict__ type, const float *__restrict__ weight, " +
			"const float *__restrict__ data, ll bits, ll entries, ll from, ll to, ")
	}
	b.WriteString("ll first, ll n, ll begin, ll end")
	if c.p.Edges {
		b.WriteString(", ll large") // rows of more edges are the hub kernel's
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
		"\tconst int base = " + fmt.Sprintf("blockIdx.y * %d", t.slice) + "; (void)lane; (void)mask; (void)base; (void)group;\n")
	if t.shared > 0 {
		fmt.Fprintf(b, "\textern __shared__ float shared_[];\n\tfloat *sm = shared_ + group * %d;\n", t.shared)
	}
	g := *t
	g.b, g.tab, g.few = b, "\t", false
	g.globals(globals)
}
