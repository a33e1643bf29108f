package cuda

import (
	_ "embed"
	"fmt"
	"strings"
)

// small is the most neighbours above of a root that one warp does alone.
const small = 32

// cliques is the text of the kernels that count cliques of k vertices, 3 to 8, each at its
// lowest vertex. The root's neighbours above it become a matrix of bits: bit j of row i
// says that neighbours i and j of the root, i before j, are neighbours. Rows of the graph
// come from a table that the positions in order name; roots come in descending order of
// their number of neighbours above.
func cliques(k int, p Part) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s%s#define K %d\n#define DEPTH %d\n", p.define(), prelude, hashing, k, max(k-4, 0))
	if k == 3 {
		return b.String() + cliquesHead + trianglesBlock + warpHead + "\t\tadd(sum, __popc(bits));\n" + warpTail
	}
	b.WriteString(pairs + cliquesHead + cliquesFill)
	b.WriteString("\t\tfor (u32 i = warp; i < d; i += warps) {\n\t\t\tconst u32 *s0 = B + (u64)i * W;\n")
	indent := "\t\t\t"
	if k > 4 {
		b.WriteString(indent + "if (__any_sync(ALL, stopped(state)))\n" + indent + "\tbreak;\n")
	}
	for depth := range k - 4 {
		fmt.Fprintf(&b, "%[1]sfor (u32 q%[2]d = 0; q%[2]d < W; q%[2]d++)\n%[1]sfor (u32 left%[2]d = s%[2]d[q%[2]d]; left%[2]d; left%[2]d &= left%[2]d - 1) {\n", indent, depth)
		indent += "\t"
		fmt.Fprintf(&b, "%[1]su32 *s%[3]d = sets + %[2]d * wide;\n%[1]s{ const u32 *r = B + (u64)(q%[2]d * 32 + __ffs(left%[2]d) - 1) * W;\n"+
			"%[1]s__syncwarp();\n%[1]sfor (u32 t = lane; t < W; t += 32) s%[3]d[t] = s%[2]d[t] & r[t];\n%[1]s__syncwarp(); }\n", indent, depth, depth+1)
	}
	fmt.Fprintf(&b, "%scount += pairs(s%d, B, W, lane);\n", indent, k-4)
	for range k - 4 {
		indent = indent[1:]
		b.WriteString(indent + "}\n")
	}
	b.WriteString("\t\t}\n\t\tadd(sum, count);\n\t}\n\tfinish(sum, out);\n}\n")
	b.WriteString(warpHead)
	b.WriteString(lanes(k))
	b.WriteString(warpTail)
	return b.String()
}

// pairs counts the edges within a set. For a word of the set with many members, each lane takes one
// member and reads its whole row. For a word with few, all lanes read one row after the other together.
//
//go:embed pairs.cu
var pairs string

// cliquesHead begins the kernel in which a block does a root. most is the largest number of
// neighbours above a root, slots the size of the hash table for so many.
const cliquesHead = `
extern "C" __global__ void __launch_bounds__(1024) saga_cliques_block(const Row *rows, const u32 *order, u64 *state, u64 *next,
		u64 lo, u64 hi, u64 step, u64 base, u64 ends, u64 most, u64 slots, u32 *scratch, Sum *out) {
	extern __shared__ u32 shared[];
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
	u64 *taken = (u64 *)shared;
	u32 *near = shared + 4, *key = near + most;
	u16 *place = (u16 *)(key + slots);
	Sum sum = {0, 0};
`

// nextRoot takes the next root and fills the table.
const nextRoot = `	for (;;) {
		__syncthreads();
		if (threadIdx.x == 0)
			*taken = ends ? next_of_ends(state, next, lo, hi, step, blockIdx.x >= gridDim.x / 2) : next_task(state, next, lo, hi, step);
		__syncthreads();
		u64 task = *taken;
		if (task == ~0ull)
			break;
		u32 u = order[task];
		Above root = above(rows[u]);
		u32 d = root.n, mask = fill_table(near, key, place, root, base);
`

// eachFound reads the rows of the root's neighbours, four vertices a lane at a time, and
// looks each up in the table. The caller inserts the text for a vertex that was found: h is its slot, i
// the row, j the position in the row. A lane without a vertex looks up the vertex of the row
// itself, which is never in its own row.
const eachFound = `		for (u32 i = warp; i < d; i += warps) {
			u32 v = near[i];
			Above r = above(rows[v]);
			u32 words = r.whole + (r.n - r.whole + 1) / 2;
			for (u32 w = lane; w < words; w += 32 * WORDS) {
				u32 x[4];
				#pragma unroll
				for (u32 q = 0; q < WORDS; q++) {
					u32 m = w + 32 * q, a = m < words ? r.at[m] : v;
#ifdef PACKED
					bool half = m >= r.whole && m < words;
					x[q] = half ? (u32)base + (a & 0xffff) : a;
					x[q + WORDS] = half && 2 * m - r.whole + 1 < r.n ? (u32)base + (a >> 16) : v;
#else
					x[q] = a;
#endif
				}
				#pragma unroll
				for (u32 q = 0; q < 4; q++) {
					u32 h = find(key, mask, x[q]);
					if (h != NONE && x[q] != v) {
						u32 m = w + 32 * (q %% WORDS), j = m < r.whole ? m : 2 * m - r.whole + q / WORDS;
						%s
					}
				}
			}
		}
`

var trianglesBlock = "\tu64 count = 0;\n" + nextRoot + fmt.Sprintf(eachFound, "(void)j; count++;") + `	}
	add(sum, count);
	finish(sum, out);
}
`

// cliquesFill fills the matrix B. Its rows are W words apart, an odd number, so that lanes that read
// different rows have no bank conflicts. B lies behind the sets in shared memory, or in scratch, which
// has a matrix for each block.
var cliquesFill = `	u32 wide = (u32)(most + 31) / 32 | 1;
	u32 *sets = key + slots + slots / 2 + warp * DEPTH * wide, *inside = key + slots + slots / 2 + warps * DEPTH * wide;
` + nextRoot + `		u32 W = (d + 31) / 32 | 1;
		u32 *B = scratch ? scratch + (u64)blockIdx.x * most * wide : inside;
		u64 count = 0;
		for (u32 i = threadIdx.x; i < d * W; i += blockDim.x)
			B[i] = 0;
		__syncthreads();
` + fmt.Sprintf(eachFound, "(void)j;\n\t\t\t\t\t\tu32 p = place[h];\n\t\t\t\t\t\tatomicOr(B + (u64)i * W + (p >> 5), 1u << (p & 31));") + "\t\t__syncthreads();\n"

// warpHead begins the kernel in which a warp does a root of at most 32 neighbours above it. Lane i
// holds the i-th neighbour, and then row i of the matrix. The later neighbours are searched
// for in its row.
//
//go:embed cliques_warp.cu
var warpHead string

const warpTail = `	}
	finish(sum, out);
}
`

// lanes is the text that counts cliques of k vertices in matrices of 32 rows of 32 bits. Lane i counts
// those whose second lowest vertex is the i-th neighbour.
func lanes(k int) string {
	var b strings.Builder
	b.WriteString("\t\t__syncwarp();\n\t\tB[lane] = bits;\n\t\t__syncwarp();\n\t\tu64 count = 0;\n\t\tu32 s0 = bits;\n")
	indent := "\t\t"
	for depth := range k - 3 {
		fmt.Fprintf(&b, "%[1]sfor (u32 left%[2]d = s%[2]d; left%[2]d; left%[2]d &= left%[2]d - 1) {\n%[1]s\tu32 s%[3]d = s%[2]d & B[__ffs(left%[2]d) - 1];\n", indent, depth, depth+1)
		indent += "\t"
	}
	fmt.Fprintf(&b, "%scount += __popc(s%d);\n", indent, k-3)
	for range k - 3 {
		indent = indent[1:]
		b.WriteString(indent + "}\n")
	}
	b.WriteString("\t\tadd(sum, count);\n")
	return b.String()
}
