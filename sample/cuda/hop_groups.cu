
#define CALLS(n) (((n) + 3) / 4) // of philox, for n words
#define QC CALLS(CHILDREN)

static __device__ __forceinline__ u32 pick(u32 word, u32 n) { return __umulhi(word, n); }

// Draws the children of n sources, CHILDREN each, and counts how often each vertex comes. Place is the number
// of a draw among those of its vertex.
extern "C" __global__ void __launch_bounds__(256) saga_children(const u32 *offsets, const u32 *far, const u32 *sources, u64 n, u64 key, u32 *children, u32 *place, u32 *counts) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n * QC; i += gridDim.x * (u64)blockDim.x) {
		u32 s = (u32)(i / QC), q = (u32)(i % QC), v = sources[s], lo = offsets[v], d = offsets[v + 1] - lo;
		Words w = philox((u32)key, (u32)(key >> 32), v, 0, q, 0);
		#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			u32 j = 4 * q + k, u = NONE;
			if (j >= CHILDREN)
				break;
			if (d > 0)
				u = far[lo + pick(k == 0 ? w.w0 : k == 1 ? w.w1 : k == 2 ? w.w2 : w.w3, d)];
			else if (SELF)
				u = v;
			children[(u64)s * CHILDREN + j] = u;
			if (u != NONE)
				place[(u64)s * CHILDREN + j] = atomicAdd(counts + u, 1u);
		}
	}
}

// Sums over a block's vertices, EACH a thread: of draws and of tiles.
extern "C" __global__ void __launch_bounds__(256) saga_tile_sums(const u32 *counts, u64 vertices, u32 *sums) {
	extern __shared__ u32 shared[];
	u64 lo = (blockIdx.x * (u64)THREADS + threadIdx.x) * EACH;
	u32 draws = 0, tiles = 0;
	for (u32 k = 0; k < EACH && lo + k < vertices; k++) {
		draws += counts[lo + k];
		tiles += (counts[lo + k] + TILE - 1) / TILE;
	}
	draws = block_sum(draws, shared);
	tiles = block_sum(tiles, shared);
	if (threadIdx.x == 0) {
		sums[2 * blockIdx.x] = draws;
		sums[2 * blockIdx.x + 1] = tiles;
	}
}

// One block: sums become the sums before them. The number of tiles stands behind them.
extern "C" __global__ void __launch_bounds__(256) saga_tile_starts(u32 *sums, u64 blocks) {
	extern __shared__ u32 shared[];
	u32 draws = 0, tiles = 0, all;
	for (u32 i0 = 0; i0 < (u32)blocks; i0 += THREADS) {
		u32 i = i0 + threadIdx.x, a = i < blocks ? sums[2 * i] : 0, b = i < blocks ? sums[2 * i + 1] : 0;
		a = draws + block_scan(a, shared, &all);
		draws += all;
		b = tiles + block_scan(b, shared, &all);
		tiles += all;
		if (i < blocks) {
			sums[2 * i] = a;
			sums[2 * i + 1] = b;
		}
	}
	if (threadIdx.x == 0)
		sums[2 * blocks + 1] = tiles;
}

// Start is the place of a vertex's first draw; tiles are its draws, TILE at a time: vertex, first place, and how many.
// Counts are cleared for the next sources.
extern "C" __global__ void __launch_bounds__(256) saga_tiles(u32 *counts, u64 vertices, const u32 *sums, u32 *start, u32 *tiles) {
	extern __shared__ u32 shared[];
	u64 lo = (blockIdx.x * (u64)THREADS + threadIdx.x) * EACH;
	u32 draws = 0, many = 0, all;
	for (u32 k = 0; k < EACH && lo + k < vertices; k++) {
		draws += counts[lo + k];
		many += (counts[lo + k] + TILE - 1) / TILE;
	}
	draws = sums[2 * blockIdx.x] + block_scan(draws, shared, &all);
	many = sums[2 * blockIdx.x + 1] + block_scan(many, shared, &all);
	for (u32 k = 0; k < EACH && lo + k < vertices; k++) {
		u32 n = counts[lo + k];
		start[lo + k] = draws;
		for (u32 i = 0; i < n; i += TILE) {
			uint4 t = {(u32)(lo + k), draws + i, n - i < TILE ? n - i : TILE, 0};
			((uint4 *)tiles)[many++] = t;
		}
		draws += n;
		counts[lo + k] = 0;
	}
}

// Lists draws by vertex.
extern "C" __global__ void __launch_bounds__(256) saga_group_draws(const u32 *children, u64 n, const u32 *start, u32 *place, u32 *draws) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (u64)blockDim.x)
		if (children[i] != NONE) {
			u32 at = start[children[i]] + place[i];
			place[i] = at;
			draws[at] = (u32)i;
		}
}
