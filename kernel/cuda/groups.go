package cuda

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"sagann/kernel"
)

// Products in TF32 by groups of warps, on chips that have them (kernel.Chip.Groups). A block stays on its multiprocessor and keeps its columns
// of the matrices in shared memory. Each of its three groups goes over tiles of 64 rows: while one writes, others multiply.

const (
	groupThreads = 4 * 128 // of products: three groups and the warps that copy
	groupTerms   = 1024    // most terms of a product
	groupShared  = 227 << 10
)

// groupColumns is how many columns a block has of products; 0: they have too many terms for shared memory.
func groupColumns(c *Program, of []*kernel.Instr) int {
	terms := 0
	for _, in := range of {
		terms = (terms+3)/4*4 + c.p.Widths[in.In[0]]
	}
	columns := 128
	for columns*terms > 32*groupTerms {
		columns /= 2
	}
	if columns < 32 {
		return 0
	}
	return min(columns, (c.p.Widths[of[0].Dst]+31)/32*32)
}

// groupsKernel renders the kernel of k by groups of warps in TF32, if it has one.
func groupsKernel(c *Program, b *strings.Builder, k *tiled, x *tileCode, name string) {
	w, columns := c.p.Widths[x.sum], groupColumns(c, k.of)
	if columns == 0 {
		return
	}
	groupsText(b, columns)
	k.groups = c.name(name + "_groups")
	fmt.Fprintf(b, "extern \"C\" __global__ void __launch_bounds__(%d, 1) %s(%s) {\n", groupThreads, c.Names[k.groups], c.params())
	b.WriteString("#ifdef SAGA_GROUPS\n")
	fmt.Fprintf(b, "%s\tsaga_groups<%t, %d, %s>(of, n, %d, ", x.factors(), k.of[0].Role == kernel.MatMulNT, columns, x.terms(), w)
	x.ofRow(b, columns, w)
	b.WriteString(");\n#endif\n}\n")
}

// ofRow is what is made of the numbers of row i, of so many columns from n0 on of w: a function of i, n0, d and h as saga_groups wants it. All columns of a
// row follow each other, so that what depends on the row alone, as most of the hash of dropout, is computed once.
func (x *tileCode) ofRow(b *strings.Builder, columns, w int) {
	fmt.Fprintf(b, "[&](ll i, int n0, const float (&d)[%d], int h) {\n\t\tconstexpr int G = 4, V = %d;\n", columns/2, x.t.v)
	b.WriteString("\t\tconst int lane = threadIdx.x % G;\n\t\tconst unsigned mask = 15u << threadIdx.x % 32 / G * G; (void)mask;\n" +
		"\t\tconst ll row = first + i; (void)row;\n\t\tif (i >= n) return;\n")
	fmt.Fprintf(b, "#pragma unroll\n\t\tfor (int c = 0; c < %d; c += 32) {\n\t\tconst int base = n0 + c;\n\t\tif (base >= %d) break;\n", columns, w)
	g := *x.t
	g.b, g.tab = b, "\t\t"
	g.globals(x.used)
	g.declare(x.sum)
	g.line("#pragma unroll")
	g.line("for (int k = 0; k < 8; k++) r%d[k] = d[c / 2 + k / 2 * 4 + h + k %% 2];", x.sum)
	b.WriteString(x.body)
	b.WriteString("\t\t}\n\t}")
}

// factors is the code of the products' operands, terms that of the numbers of their terms.
func (x *tileCode) factors() string {
	var list []string
	for _, of := range x.each {
		list = append(list, "{"+strings.Join(of[:4], ", ")+"}")
	}
	return "\tconst saga_factor of[] = {" + strings.Join(list, ", ") + "};\n"
}

func (x *tileCode) terms() string {
	var list []string
	for _, of := range x.each {
		list = append(list, of[4])
	}
	return strings.Join(list, ", ")
}

// matrixOf is the leaf of the matrix of product in.
func matrixOf(p *kernel.Program, in *kernel.Instr) *kernel.Leaf {
	return &p.Leaves[slices.IndexFunc(p.Leaves, func(l kernel.Leaf) bool { return l.Reg == in.In[1] })]
}

// groupsSource is what kernels of groups of warps share.
//
//go:embed groups.cu
var groupsSource string

// groupsText writes the source that kernels of groups of warps share, and how the tensor cores are told of so many columns, each once.
func groupsText(b *strings.Builder, columns int) {
	if !strings.Contains(b.String(), groupsSource) {
		b.WriteString(groupsSource)
	}
	if text := groupMMA(columns); !strings.Contains(b.String(), text) {
		b.WriteString(text)
	}
}

// groupMMA is the device functions that add eight terms of 64 rows and so many columns, and that begin with these.
func groupMMA(columns int) string {
	var b strings.Builder
	list := func(n int, sep, format string) {
		for e := range n {
			if e > 0 {
				b.WriteString(sep)
			}
			fmt.Fprintf(&b, format, e)
		}
	}
	n := columns / 2
	b.WriteString("#ifdef SAGA_GROUPS\n")
	for _, way := range [][3]string{{"mma", "1", "+f"}, {"first", "0", "=&f"}} {
		fmt.Fprintf(&b, "template <> __device__ __forceinline__ void saga_group_%s(float (&d)[%d], const unsigned (&a)[4], unsigned long long b) {\n", way[0], n)
		fmt.Fprintf(&b, "\tasm volatile(\"wgmma.mma_async.sync.aligned.m64n%dk8.f32.tf32.tf32 {", columns)
		list(n, ",", "%%%d")
		fmt.Fprintf(&b, "}, {%%%d,%%%d,%%%d,%%%d}, %%%d, %s, 1, 1;\"\n\t\t: ", n, n+1, n+2, n+3, n+4, way[1])
		list(n, ", ", "\""+way[2]+"\"(d[%d])")
		b.WriteString("\n\t\t: \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"l\"(b));\n}\n")
	}
	b.WriteString("#endif\n")
	return b.String()
}
