package cuda

import (
	"fmt"
	"slices"
	"strings"

	"sagann/kernel"
)

// Products by tiles (kernel/tiles.go). Tensor cores multiply: each operand is the sum of two numbers of 11 bits, and three of
// the four products of these are added, so that a product is off by 2^-21 of itself at most. With TF32 there is one product.
// Where instructions follow, each thread goes over the rows of its numbers of the tile, with four lanes a row.

// tiled is the kernel of a product, or of two that are added.
type tiled struct {
	of     []*kernel.Instr
	fn     int
	follow work // per row, of the instructions that follow
}

// tileSide is the rows and columns of a tile, tileThreads the threads that compute it.
const (
	tileSide    = 128
	tileThreads = 256
)

// tiledProducts renders the products by tiles.
func tiledProducts(b *strings.Builder, c *Program) error {
	for i := range c.p.Instrs {
		if !c.Tiled(&c.p.Instrs[i]) {
			continue
		}
		of := []int{i}
		level := slices.IndexFunc(c.After, func(of []int) bool { return slices.Contains(of, i) })
		if level >= 0 {
			of = c.After[level]
		}
		if of[len(of)-1] != i {
			continue // with the later one
		}
		tileText(b)
		if err := tiledProduct(b, c, of, level); err != nil {
			return err
		}
	}
	return nil
}

// tiledProduct renders the kernel of products and of the instructions of a level; below 0: of none.
func tiledProduct(b *strings.Builder, c *Program, of []int, level int) error {
	var body strings.Builder
	t := &emitter{c: c, b: &body, tab: "\t\t", ptr: make([]string, len(c.p.Widths)), g: 4, v: 2, slice: 32, two: true}
	k := tiled{}
	for _, i := range of {
		k.of = append(k.of, &c.p.Instrs[i])
	}
	last := k.of[len(k.of)-1]
	sum, add := last.Dst, -1
	if len(of) > 1 {
		add = c.Added(of)
		sum = c.p.Instrs[add].Dst
	}
	t.declare(sum)
	t.line("#pragma unroll")
	t.line("for (int k = 0; k < 8; k++) r%d[k] = acc[h / 2][k / 2][h %% 2 * 2 + k %% 2];", sum)
	var used []int
	if level >= 0 {
		f := c.fragmentOf(level)
		var puts []int
		for _, r := range f.used {
			if !slices.ContainsFunc(k.of, func(in *kernel.Instr) bool { return in.Dst == r }) {
				used = append(used, r)
			}
		}
		t.loadAll(used, "row")
		for _, x := range f.instrs {
			if add >= 0 && x == &c.p.Instrs[add] {
				continue
			}
			if err := t.instr(x); err != nil {
				return err
			}
		}
		for _, o := range f.puts {
			t.store(o.reg, o.ptr, t.vector(o.ld))
			puts = append(puts, o.reg)
		}
		k.follow = c.countRows(used, f.instrs, puts)
	} else {
		t.store(sum, c.homeRow(sum, "i"), t.vector(c.Home[sum].LD))
		k.follow = c.wide(sum)
	}
	name := fmt.Sprintf("product%d", len(c.tiled))
	k.fn = c.name(name)
	c.tiled = append(c.tiled, k)
	fmt.Fprintf(b, "extern \"C\" __global__ void __launch_bounds__(%d, 2) %s(%s, ll tf32) {\n", tileThreads, name, c.params())
	fmt.Fprintf(b, "\tconstexpr int G = 4, V = 2, across = %d;\n", (c.p.Widths[sum]+tileSide-1)/tileSide)
	fmt.Fprintf(b, "\tconst ll m0 = blockIdx.x / across * %d, n0 = blockIdx.x %% across * %d;\n\tSAGA_TILE;\n", tileSide, tileSide)
	args := make([]string, 5) // of the products, the later ones first
	for q, in := range k.of {
		w := c.p.Leaves[slices.IndexFunc(c.p.Leaves, func(l kernel.Leaf) bool { return l.Reg == in.In[1] })]
		for i, x := range []string{c.homeRow(in.In[0], "0"), fmt.Sprint(c.Home[in.In[0]].LD), fmt.Sprintf("b%d", w.Operand), fmt.Sprint(w.LD), fmt.Sprint(c.p.Widths[in.In[0]])} {
			if q > 0 {
				x = fmt.Sprintf("q == %d ? %s : %s", q, x, args[i])
			}
			args[i] = x
		}
	}
	fmt.Fprintf(b, "#pragma unroll 1\n\tfor (int q = 0; q < %d; q++)\n\t\tsaga_tile<true, %t, false>(%s, %s, %s, %s, n, %d, 0, %s, m0, n0, !tf32, as, bs, acc, [](int, int, const float *) {});\n", len(k.of),
		last.Role == kernel.MatMulNT, args[0], args[1], args[2], args[3], c.p.Widths[sum], args[4])
	b.WriteString("\tconst int lane = threadIdx.x % G, base = (int)n0 + saga_warp_col();\n\tconst unsigned mask = 15u << threadIdx.x % 32 / G * G; (void)mask;\n")
	fmt.Fprintf(b, "\tif (base >= %d) return;\n", c.p.Widths[sum])
	g := *t
	g.b, g.tab = b, "\t"
	g.globals(used)
	b.WriteString("#pragma unroll\n\tfor (int h = 0; h < 8; h++) {\n" +
		"\t\tconst ll i = m0 + saga_warp_row() + h / 2 * 16 + h % 2 * 8 + threadIdx.x % 32 / G, row = first + i; (void)row;\n\t\tif (i >= n) continue;\n")
	b.WriteString(body.String())
	b.WriteString("\t}\n}\n")
	return nil
}

// homeRow is the code of a pointer to row i of the tile of register r, which has a home.
func (c *Program) homeRow(r int, i string) string {
	if h := c.Home[r]; h.Kind == kernel.InOperand {
		return fmt.Sprintf("b%d + (first + %s) * %d", h.Operand, i, h.LD)
	}
	return fmt.Sprintf("s%d + %s * (ll)%d", r, i, c.Home[r].LD)
}
