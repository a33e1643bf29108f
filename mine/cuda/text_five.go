package cuda

// fiveWalks is the text of the kernel that counts closed walks of five edges, each where it
// begins at its highest vertex a: as run.FiveWalks does. A block does a root, from the highest
// on. A warp goes through the row of a neighbour below a, and counts at each vertex how many
// walks of two edges from a end there: x, and which vertices have any. Then LANES threads take
// such a vertex u, and add up x over what it has above, up to a: times x(u) that are the walks
// whose third edge begins at u. Vertices from base on are counted in shared memory, as many as
// near has up to a, those before it in counters of the block, one a vertex. Counters are 0 between
// roots. Walks that are at a twice are found twice: the second sum is twice their number.
const fiveWalks = prelude + `
#define LANES 8
static __device__ __forceinline__ u32 at_vertex(const u32 *near, const u32 *far, u32 base, u32 v) {
	return v >= base ? near[v - base] : far[v];
}

extern "C" __global__ void __launch_bounds__(1024) saga_five_walks(const Row *rows, u64 *state, u64 *next, u64 lo, u64 hi, u64 step,
		u64 vertices, u64 nears, u32 *counters, u32 *lists, Sum *out) {
	extern __shared__ u32 shared[];
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
	u64 *taken = (u64 *)shared;
	u32 *count = shared + 2, *near = shared + 4;
	u32 *far = counters + blockIdx.x * vertices, *ends = lists + blockIdx.x * vertices;
	Sum sum = {0, 0}, twice = {0, 0};
	for (u32 i = threadIdx.x; i < nears; i += blockDim.x)
		near[i] = 0;
	for (;;) {
		__syncthreads();
		if (threadIdx.x == 0) {
			*taken = next_task(state, next, lo, hi, step);
			*count = 0;
		}
		__syncthreads();
		u64 task = *taken;
		if (task == ~0ull)
			break;
		u32 a = (u32)(vertices - 1 - task);
		Row root = rows[a];
		if (root.below == 0)
			continue;
		u32 base = a < nears ? 0 : a + 1 - (u32)nears;
		for (u32 i = warp; i < root.below; i += warps) {
			Row r = rows[root.at[i]];
			for (u32 j = lane;; j += 32) {
				u32 v = j < r.degree ? r.at[j] : ALL;
				bool up = v <= a, first = false;
				if (up)
					first = atomicAdd(v >= base ? near + (v - base) : far + v, 1u) == 0;
				u32 m = __ballot_sync(ALL, first);
				if (m) {
					u32 k = lane == 0 ? atomicAdd(count, (u32)__popc(m)) : 0;
					k = __shfl_sync(ALL, k, 0);
					if (first)
						ends[k + __popc(m & ((1u << lane) - 1))] = v;
				}
				if (!__shfl_sync(ALL, up, 31))
					break;
			}
		}
		__syncthreads();
		for (u32 i = threadIdx.x; i < root.below; i += blockDim.x)
			add_product(twice, at_vertex(near, far, base, root.at[i]), root.below);
		u32 n = *count;
		for (u32 i = threadIdx.x / LANES; i < n; i += blockDim.x / LANES) {
			u32 u = ends[i];
			Row r = rows[u];
			u64 walks = 0;
			for (u32 j = r.below + threadIdx.x % LANES; j < r.degree; j += LANES) {
				u32 v = r.at[j];
				if (v > a)
					break;
				walks += at_vertex(near, far, base, v);
			}
			add_product(sum, walks, at_vertex(near, far, base, u));
		}
		__syncthreads();
		for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
			u32 u = ends[i];
			*(u >= base ? near + (u - base) : far + u) = 0;
		}
	}
	u64 all = gridDim.x * (u64)warps;
	finish(sum, out);
	finish(twice, out + all);
}
`
