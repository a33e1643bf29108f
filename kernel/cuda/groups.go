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
	second := x.second()
	fmt.Fprintf(b, "extern \"C\" __global__ void __launch_bounds__(%d, 1) %s(%s) {\n", groupThreads, c.Names[k.groups], c.params())
	b.WriteString("#ifdef SAGA_GROUPS\n\tconstexpr int G = 4, V = 4;\n\tconst int lane = threadIdx.x % G;\n\tconst unsigned mask = 15u << threadIdx.x % 32 / G * G; (void)mask;\n")
	fmt.Fprintf(b, "\tsaga_groups<%t, %d, %s, %s>(%s, %s, n, %d, [&](ll m0, int n0, float (&d)[%d]) {\n", k.of[0].Role == kernel.MatMulNT, columns, x.each[0][4], second[4],
		strings.Join(x.each[0][:4], ", "), strings.Join(second[:4], ", "), w, columns/2)
	fmt.Fprintf(b, "#pragma unroll\n\tfor (int c = 0; c < %d; c += 16) {\n\t\tconst int base = n0 + c * 2;\n\t\tif (base >= %d) break;\n", columns/2, w)
	g := *x.t
	g.b, g.tab = b, "\t\t"
	g.globals(x.used)
	b.WriteString("#pragma unroll\n\tfor (int h = 0; h < 4; h += 2) {\n\t\tconst ll i = m0 + saga_group_row() + h * 4, row = first + i; (void)row;\n")
	g.declare(x.sum)
	g.line("*(float4 *)r%d = saga_beside(d[c + h], d[c + h + 1], d[c + h + 4], d[c + h + 5]);", x.sum)
	g.line("*(float4 *)(r%d + 4) = saga_beside(d[c + h + 8], d[c + h + 9], d[c + h + 12], d[c + h + 13]);", x.sum)
	g.line("if (i >= n) continue;")
	b.WriteString(x.body)
	b.WriteString("\t}\n\t}\n\t});\n#endif\n}\n")
}

// second is the operands of the second product, or of none.
func (x *tileCode) second() [5]string {
	if len(x.each) > 1 {
		return x.each[1]
	}
	return [5]string{"nullptr", "0", "nullptr", "0", "0"}
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

// groupMMA is the device function that adds eight terms of 64 rows and so many columns.
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
	fmt.Fprintf(&b, "#ifdef SAGA_GROUPS\ntemplate <> __device__ __forceinline__ void saga_group_mma(float (&d)[%d], const unsigned (&a)[4], unsigned long long b) {\n", n)
	fmt.Fprintf(&b, "\tasm volatile(\"wgmma.mma_async.sync.aligned.m64n%dk8.f32.tf32.tf32 {", columns)
	list(n, ",", "%%%d")
	fmt.Fprintf(&b, "}, {%%%d,%%%d,%%%d,%%%d}, %%%d, 1, 1, 1;\"\n\t\t: ", n, n+1, n+2, n+3, n+4)
	list(n, ", ", "\"+f\"(d[%d])")
	b.WriteString("\n\t\t: \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"l\"(b));\n}\n#endif\n")
	return b.String()
}
