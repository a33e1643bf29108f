package cuda

import (
	"fmt"
	"strings"
)

// Shape of the kernels.
const (
	threads   = 256 // of a block
	warps     = threads / 32
	sharedMax = 48 << 10 // bytes of shared memory that every GPU gives a block
	// widest is the most neighbours above it that a root of the clique kernel may have:
	// they, and a set for each warp and depth up to cliques of eight, leave half of the
	// shared memory for the matrix.
	widest = 2048
)

// prelude is what both kernels use.
const prelude = `
typedef unsigned int u32;
typedef unsigned long long u64;

// The number of members of the sorted list, of n, that are below x.
static __device__ __forceinline__ u32 lower(const u32 *list, u32 n, u32 x) {
	u32 lo = 0;
	while (n > 0) {
		u32 half = n >> 1;
		bool up = list[lo + half] < x;
		lo = up ? lo + half + 1 : lo;
		n = up ? n - half - 1 : half;
	}
	return lo;
}

// Adds every thread's count to the block's sum in out.
static __device__ __forceinline__ void add_up(u64 count, u64 *out) {
	for (int d = 16; d > 0; d >>= 1)
		count += __shfl_down_sync(~0u, count, d);
	if ((threadIdx.x & 31) == 0 && count)
		atomicAdd(out + blockIdx.x, count);
}
`

// triangles is the text of the triangle kernel: a warp an edge (u, v) of the oriented
// graph. The members of u's row behind v that v's row has close a triangle; lanes look
// those of the shorter list up in the longer one.
func triangles() string {
	return prelude + `
extern "C" __global__ void __launch_bounds__(256) saga_triangles(const u64 *row, const u32 *degree, const u32 *from,
		const u64 *first, long long edges, u64 *out) {
	u32 lane = threadIdx.x & 31;
	u64 count = 0;
	long long step = (long long)gridDim.x * (blockDim.x >> 5);
	for (long long e = (long long)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); e < edges; e += step) {
		u32 u = from[e], at = (u32)(e - first[u]);
		const u32 *a = (const u32 *)row[u] + at;
		u32 v = *a++, n = degree[u] - at - 1, m = degree[v];
		if (n == 0 || m == 0)
			continue;
		const u32 *b = (const u32 *)row[v];
		if (n > m) {
			const u32 *p = a; a = b; b = p;
			u32 k = n; n = m; m = k;
		}
		for (u32 i = lane; i < n; i += 32) {
			u32 x = a[i], k = lower(b, m, x);
			count += k < m && b[k] == x;
		}
	}
	add_up(count, out);
}
`
}

// cliques is the text of the kernel that counts cliques of k vertices, 4 to 8: a block a
// root, whose neighbours above it become a matrix of bits, in shared memory if it fits.
// Warps take rows of the matrix; for each further vertex but the last two there is a loop
// over the bits of a set and a smaller set.
func cliques(k int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s", prelude, pairs)
	fmt.Fprintf(&b, head, k, k-4)
	b.WriteString(cliquesFill)
	b.WriteString("\t\tfor (u32 i = warp; i < d; i += WARPS) {\n\t\t\tconst u32 *s0 = B + (u64)i * W;\n")
	indent := "\t\t\t"
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
	b.WriteString("\t\t}\n\t}\n\tadd_up(count, out);\n}\n")
	return b.String()
}

// pairs counts the neighbours within a set. A word of many members has each lane take one
// of them, whose whole row it reads; of few, all lanes read one row after the other.
const pairs = `
static __device__ __forceinline__ u32 pairs(const u32 *set, const u32 *B, u32 W, u32 lane) {
	u32 n = 0;
	for (u32 q = 0; q < W; q++) {
		u32 word = set[q];
		if (__popc(word) > (W - q + 31) / 32 * 2 && (W - q) < 2 * __popc(word)) {
			if (word >> lane & 1) {
				const u32 *r = B + (u64)(q * 32 + lane) * W;
				for (u32 t = q; t < W; t++)
					n += __popc(set[t] & r[t]);
			}
		} else
			for (; word; word &= word - 1) {
				const u32 *r = B + (u64)(q * 32 + __ffs(word) - 1) * W;
				for (u32 t = q + lane; t < W; t += 32)
					n += __popc(set[t] & r[t]);
			}
	}
	return n;
}
`

// head begins the clique kernel: K vertices, DEPTH sets for each warp. wide is the number
// of words of the widest row, room that of the matrix in shared memory.
const head = `
#define K %d
#define DEPTH %d
#define WARPS 8
extern "C" __global__ void __launch_bounds__(256) saga_cliques(const u32 *order, const u64 *row, const u32 *degree,
		long long roots, u32 *scratch, long long most, long long room, u64 *next, u64 *out) {
	extern __shared__ u32 shared[];
	__shared__ u64 taken;
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, wide = (u32)(most + 31) / 32 | 1;
	u32 *near = shared, *sets = near + most + warp * DEPTH * wide, *inside = near + most + WARPS * DEPTH * wide;
	u64 count = 0;
`

// cliquesFill takes the next root and fills its matrix B, whose rows are W words apart: an
// odd number, so that lanes that read different rows meet in no bank.
const cliquesFill = `	for (;;) {
		__syncthreads();
		if (threadIdx.x == 0)
			taken = atomicAdd(next, 1ull);
		__syncthreads();
		if (taken >= (u64)roots)
			break;
		u32 u = order[taken], d = degree[u], W = (d + 31) / 32 | 1;
		if (d + 1 < K) // roots come in descending order of d
			break;
		const u32 *own = (const u32 *)row[u];
		u32 *B = (long long)d * W <= room ? inside : scratch + (u64)blockIdx.x * most * wide;
		for (u32 i = threadIdx.x; i < d; i += blockDim.x)
			near[i] = own[i];
		for (u32 i = threadIdx.x; i < d * W; i += blockDim.x)
			B[i] = 0;
		__syncthreads();
		for (u32 i = warp; i < d; i += WARPS) {
			u32 v = near[i], n = degree[v], rest = d - i - 1;
			const u32 *r = (const u32 *)row[v];
			for (u32 j = lane; j < n; j += 32) {
				u32 x = r[j], p = i + 1 + lower(near + i + 1, rest, x);
				if (p < d && near[p] == x)
					atomicOr(B + (u64)i * W + (p >> 5), 1u << (p & 31));
			}
		}
		__syncthreads();
`
