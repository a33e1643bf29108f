package cuda

import (
	_ "embed"
	"fmt"
)

// atEdges is the text of the kernels that count the triangles at every edge: t[first[u]+i] is the number
// of triangles at the edge to the i-th neighbour above u. Roots are divided as for cliques. The
// counts of the root's own edges are added up in shared memory, or by lanes.
func atEdges(p Part) string { return p.define() + prelude + hashing + atEdgesText }

var atEdgesText = `
extern "C" __global__ void __launch_bounds__(1024) saga_edges_block(const Row *rows, const u32 *order, u64 *state, u64 *next,
		u64 lo, u64 hi, u64 step, u64 base, u64 ends, u64 most, u64 slots, const u64 *first, u32 *t) {
	extern __shared__ u32 shared[];
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
	u64 *taken = (u64 *)shared;
	u32 *near = shared + 4, *key = near + most;
	u16 *place = (u16 *)(key + slots);
	u32 *own = key + slots + slots / 2;
` + nextRoot + `		for (u32 i = threadIdx.x; i < d; i += blockDim.x)
			own[i] = 0;
		__syncthreads();
` + fmt.Sprintf(eachFound, `atomicAdd(t + first[v] + j, 1u);
						atomicAdd(own + i, 1u);
						atomicAdd(own + place[h], 1u);`) + `		__syncthreads();
		for (u32 i = threadIdx.x; i < d; i += blockDim.x)
			if (own[i])
				atomicAdd(t + first[u] + i, own[i]);
	}
}

extern "C" __global__ void __launch_bounds__(256) saga_edges_warp(const Row *rows, const u32 *order, u64 *state,
		u64 lo, u64 hi, u64 step, u64 base, const u64 *first, u32 *t) {
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	u64 stride = (u64)gridDim.x * (blockDim.x >> 5) * step;
	for (u64 task = lo + (blockIdx.x * (u64)(blockDim.x >> 5) + warp) * step; task < hi; task += stride) {
		if (__any_sync(ALL, stopped(state)))
			break;
		u32 u = order[task];
		Above root = above(rows[u]);
		u32 d = root.n, count = 0;
		u32 x = lane < d ? member(root, lane, base) : 0;
		for (u32 i = 0; i + 1 < d; i++) {
			u32 v = __shfl_sync(ALL, x, i);
			u32 p = lane > i && lane < d ? place_of(above(rows[v]), x, base) : ALL;
			bool found = p != ALL;
			u32 all = __popc(__ballot_sync(ALL, found));
			if (found) {
				atomicAdd(t + first[v] + p, 1u);
				count++;
			}
			if (lane == i)
				count += all;
		}
		if (lane < d && count)
			atomicAdd(t + first[u] + lane, count);
	}
}
`

// edgeAdd is the text of the kernel that adds the counts of another GPU.
const edgeAdd = `
extern "C" __global__ void __launch_bounds__(256) saga_edges_add(unsigned *a, const unsigned *b, unsigned long long n) {
	for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n; i += (unsigned long long)gridDim.x * blockDim.x)
		a[i] += b[i];
}
`

// edgeSums is the text of the kernel that computes four sums over the edges (u, v), v above u: of t,
// C(t, 2), t·(d(u)+d(v)-4) and (d(u)-1)·(d(v)-1). Every warp writes four sums to out. If the pointer t
// is 0, all t are 0.
func edgeSums(p Part) string { return p.define() + prelude + edgeSumsText }

//go:embed edge_sums.cu
var edgeSumsText string
