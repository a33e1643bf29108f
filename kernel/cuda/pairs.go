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

// pairSide keeps the compiler from adding what is the same for all edges to an edge's far end before it multiplies: an address took eight instructions.
const pairSide = `	size_t begins = __cvta_generic_to_global(side);
	asm("" : "+l"(begins));
	side = (const float *)__cvta_global_to_generic(begins);
`

// pairEdges writes the loop over the edges of a row, with loads and body for each, for a warp. Four lanes of a group read the IDs of its next four edges,
// while those before are summed, and hand them out: where all lanes read each ID, rows pushed IDs out of the first cache.
func pairEdges(b *strings.Builder, t *emitter, loads, body string) {
	id, aliases := farID(t.c.p, "lo + mine"), ""
	for _, r := range t.held {
		aliases += "\t\t\t" + t.alias(r) + "\n"
	}
	deeper := func(s string) string { return strings.ReplaceAll(s, "\t\t\t", "\t\t\t\t\t") }
	loads, body = deeper(loads), deeper(aliases+body)
	fmt.Fprintf(b, pairRound, id, id, holding(t, "\t\t\t", pairAhead), loads, body, loads, body)
}

// holding declares what is held of n edges.
func holding(t *emitter, tab string, n int) string {
	text := ""
	for _, r := range t.held {
		text += fmt.Sprintf("%sfloat h%d[%d]%s;\n", tab, r, n, t.index(r))
	}
	return text
}

// pairAhead is how many edges of a group are read at once.
const pairAhead = 4

const pairRound = `		int mine = next + lane * step;
		unsigned ids = lane < 4 && mine < stop ? %s : 0u;
		for (next -= sub; next < stop; next += 4 * step) {
			unsigned fars[4];
			#pragma unroll
			for (int u = 0; u < 4; u++) fars[u] = __shfl_sync(0xffffffffu, ids, u, G);
			mine += 4 * step;
			ids = lane < 4 && mine < stop ? %s : 0u;
%s			if (stop - next >= 4 * step) {
				#pragma unroll
				for (int u = 0; u < 4; u++) {
					const ll e = lo + next + sub + u * step; (void)e;
					const unsigned far = fars[u];
%s				}
				#pragma unroll
				for (int u = 0; u < 4; u++) {
					const ll e = lo + next + sub + u * step; (void)e;
%s				}
			} else {
				const int left = (stop - next - sub + step - 1) / step;
				#pragma unroll
				for (int u = 0; u < 4; u++) {
					const ll e = lo + next + sub + u * step; (void)e;
					const unsigned far = fars[u];
					if (u >= left) break;
%s				}
				#pragma unroll
				for (int u = 0; u < 4; u++) {
					const ll e = lo + next + sub + u * step; (void)e;
					if (u >= left) break;
%s				}
			}
		}
`
