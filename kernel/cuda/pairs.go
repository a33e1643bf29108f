package cuda

import (
	"fmt"
	"strings"
)

// Pairs of rows. An edge that reads two rows of its far end reads two lines of a slice, and the slices of all far ends take twice the
// cache. So where far ends have many edges, both rows are laid out anew in scratch memory (kernel/laid.go): a line of 128 bytes holds pairCols
// columns of each, two and two. A lane reads two columns of both rows at once. The lines of a slice lie one after the other, and as
// many slices at a time are laid out and gathered as there is room for. Sums have the order that they have without.

// pairLay renders the kernel that lays pairs out.
func pairLay(b *strings.Builder, c *Program) {
	k, l := &c.p.Leaves[c.laid.Leaves[0]], &c.p.Leaves[c.laid.Leaves[1]]
	c.name("pair_lay")
	fmt.Fprintf(b, "extern \"C\" __global__ void __launch_bounds__(256) pair_lay(%s) {\n", c.params())
	fmt.Fprintf(b, pairLines, k.Operand, k.LD, l.Operand, l.LD, k.Cols)
}

// pairLines lays out n slices from number slice on: a thread writes 16 bytes. Threads of one row are neighbours.
const pairLines = `	const unsigned each = (unsigned)n * 8u, all = each * (unsigned)fars;
	for (unsigned i = blockIdx.x * 256u + threadIdx.x; i < all; i += gridDim.x * 256u) {
		const unsigned row = i / each, k = i %% each;
		const float *p = b%d + row * (size_t)%d, *q = b%d + row * (size_t)%d;
		const int col = ((int)slice * 8 + (int)k) * 2;
		constexpr int W = %d;
		const float a0 = col < W ? p[col] : 0.f, a1 = col + 1 < W ? p[col + 1] : 0.f;
		const float c0 = col < W ? q[col] : 0.f, c1 = col + 1 < W ? q[col + 1] : 0.f;
		((float4 *)laid)[(k / 8u * (size_t)fars + row) * 8u + k %% 8u] = make_float4(a0, a1, c0, c1);
	}
}
`

// pairSource reads two columns of both rows.
const pairSource = `
SAGA_INLINE void saga_pair(const float *p, float (&a)[2], float (&b)[2]) {
	const float4 v = *(const float4 *)p;
	a[0] = v.x; a[1] = v.y; b[0] = v.z; b[1] = v.w;
}
`
