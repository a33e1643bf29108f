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

// tiled is the kernels of a product, or of several that are added.
type tiled struct {
	of     []*kernel.Instr
	fn     int   // -1 where groups of warps compute all of it
	groups int   // by groups of warps (groups.go), -1 without one
	halves int   // in float32 by groups of warps (halves.go)
	follow work  // per row, of the instructions that follow
	elem   int64 // their operations, where drawing is many
}

// tileCode is the code of a tile: how products are read, and what is made of a row's numbers.
type tileCode struct {
	sum  int       // register of the first product, which has the sum of all
	args [5]string // rows of the first operand, floats apart, the matrix, floats apart, terms; with several products by q
	each [][5]string
	used []int
	body string
	t    *emitter
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
		g, level := followed(c, i)
		if g.Of[len(g.Of)-1] != i {
			continue // with the later one
		}
		tileText(b)
		if err := tiledProduct(b, c, g, level); err != nil {
			return err
		}
	}
	return nil
}

// followed is product i with those that are added to it and what follows it at a level; alone it has none.
func followed(c *Program, i int) (*kernel.Follow, int) {
	for v, list := range c.After {
		for k := range list {
			if slices.Contains(list[k].Of, i) {
				return &list[k], v
			}
		}
	}
	return &kernel.Follow{Of: []int{i}}, -1
}

// tiledProduct renders the kernels of products and of the instructions that follow them.
func tiledProduct(b *strings.Builder, c *Program, g *kernel.Follow, level int) error {
	k := tiled{fn: -1, groups: -1, halves: -1}
	for _, i := range g.Of {
		k.of = append(k.of, &c.p.Instrs[i])
	}
	name, fours := fmt.Sprintf("product%d", len(c.tiled)), c.Fours(k.of[0])
	if fours && (!c.Chip.Groups || groupColumns(c, k.of) == 0) {
		x, err := newTileCode(c, &k, g, level, 2)
		if err != nil {
			return err
		}
		k.fn = c.name(name)
		tileKernel(c, b, &k, x)
	}
	if c.Chip.Groups {
		for _, way := range []struct {
			side   int
			kernel func(*Program, *strings.Builder, *tiled, *tileCode, string)
		}{{4, groupsKernel}, {2, halvesKernel}} {
			if way.side == 4 && !fours { // cuBLAS multiplies in TF32
				continue
			}
			x, err := newTileCode(c, &k, g, level, way.side)
			if err != nil {
				return err
			}
			way.kernel(c, b, &k, x, name)
		}
	}
	c.tiled = append(c.tiled, k)
	return nil
}

// tileKernel renders the kernel of k by tiles.
func tileKernel(c *Program, b *strings.Builder, k *tiled, x *tileCode) {
	w := c.p.Widths[x.sum]
	fmt.Fprintf(b, "extern \"C\" __global__ void __launch_bounds__(%d, 2) %s(%s, ll tf32) {\n", tileThreads, c.Names[k.fn], c.params())
	fmt.Fprintf(b, "\tconstexpr int G = 4, V = 2, across = %d;\n", (w+tileSide-1)/tileSide)
	fmt.Fprintf(b, "\tconst ll m0 = blockIdx.x / across * %d, n0 = blockIdx.x %% across * %d;\n\tSAGA_TILE;\n", tileSide, tileSide)
	fmt.Fprintf(b, "#pragma unroll 1\n\tfor (int q = 0; q < %d; q++)\n\t\tsaga_tile<true, %t, false>(%s, %s, %s, %s, n, %d, 0, %s, m0, n0, !tf32, as, bs, acc, [](int, int, const float *) {});\n", len(k.of),
		k.of[0].Role == kernel.MatMulNT, x.args[0], x.args[1], x.args[2], x.args[3], w, x.args[4])
	b.WriteString("\tconst int lane = threadIdx.x % G, base = (int)n0 + saga_warp_col();\n\tconst unsigned mask = 15u << threadIdx.x % 32 / G * G; (void)mask;\n")
	fmt.Fprintf(b, "\tif (base >= %d) return;\n", w)
	g := *x.t
	g.b, g.tab = b, "\t"
	g.globals(x.used)
	b.WriteString("#pragma unroll\n\tfor (int h = 0; h < 8; h++) {\n" +
		"\t\tconst ll i = m0 + saga_warp_row() + h / 2 * 16 + h % 2 * 8 + threadIdx.x % 32 / G, row = first + i; (void)row;\n\t\tif (i >= n) continue;\n")
	g.tab = "\t\t"
	g.declare(x.sum)
	g.line("#pragma unroll")
	g.line("for (int k = 0; k < 8; k++) r%d[k] = acc[h / 2][k / 2][h %% 2 * 2 + k %% 2];", x.sum)
	b.WriteString(x.body)
	b.WriteString("\t}\n}\n")
}

// newTileCode is the code of k where a lane has so many columns side by side.
func newTileCode(c *Program, k *tiled, g *kernel.Follow, level, side int) (*tileCode, error) {
	var body strings.Builder
	t := &emitter{c: c, b: &body, tab: "\t\t", ptr: make([]string, len(c.p.Widths)), g: 4, v: side, slice: 32, side: side}
	x := &tileCode{sum: k.of[0].Dst, t: t}
	if level >= 0 {
		f := following(c, level, g)
		var puts []int
		for _, r := range f.used {
			if !slices.ContainsFunc(k.of, func(in *kernel.Instr) bool { return in.Dst == r }) {
				x.used = append(x.used, r)
			}
		}
		for _, in := range k.of[1:] { // the tile has them all in the first one
			t.declare(in.Dst)
			t.line("saga_fill(r%d, 0.f);", in.Dst)
		}
		t.loadAll(x.used, "row")
		for _, in := range f.instrs {
			if err := t.instr(in); err != nil {
				return nil, err
			}
		}
		for _, o := range f.puts {
			t.store(o.reg, o.ptr, t.vector(o.ld))
			puts = append(puts, o.reg)
		}
		k.follow, k.elem = c.countRows(x.used, f.instrs, puts), 0
		for _, in := range f.instrs {
			n := c.instrWork(in).flops
			if strings.Contains(in.CUDA, "saga_dropout") {
				n *= dropoutOps
			}
			k.elem += n
		}
	} else {
		t.store(x.sum, c.homeRow(x.sum, "i"), t.vector(c.Home[x.sum].LD))
		k.follow = c.wide(x.sum)
	}
	x.body = body.String()
	for q, in := range k.of {
		w := matrixOf(c.p, in)
		x.each = append(x.each, [5]string{c.homeRow(in.In[0], "0"), fmt.Sprint(c.Home[in.In[0]].LD), fmt.Sprintf("b%d", w.Operand), fmt.Sprint(w.LD), fmt.Sprint(c.p.Widths[in.In[0]])})
		for i, s := range x.each[q] {
			if q > 0 { // the later ones first
				s = fmt.Sprintf("q == %d ? %s : %s", q, s, x.args[i])
			}
			x.args[i] = s
		}
	}
	return x, nil
}

// homeRow is the code of a pointer to row i of the tile of register r, which has a home.
func (c *Program) homeRow(r int, i string) string {
	if h := c.Home[r]; h.Kind == kernel.InOperand {
		return fmt.Sprintf("b%d + (first + %s) * %d", h.Operand, i, h.LD)
	}
	return fmt.Sprintf("s%d + %s * (ll)%d", r, i, c.Home[r].LD)
}
