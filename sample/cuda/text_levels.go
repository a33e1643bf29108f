package cuda

// levelsText is what the kernels of many batches at a time work with: a block of threads a batch. At each step vertices
// are drawn for all of a level, and the block has all edges from them into it.
//
// Before it stand THREADS, STEPS, KIND (below), FILTER (its bytes, a power of two), GUIDE, VERTICES,
// ROWS (that draw at most; half of them in ROWS_HALF, a power of two), BEGINS and EDGES_MOST (of a batch at most), MOST_DRAWS (of a step), ALL_DRAWS, WEIGHTS, ROW_NORMAL, and of each step sizes, rows_most,
// edges_most, edges_at and draws_at; after it edge_weight, where there are WEIGHTS. SLOTS are the places of a table, a power of two.
const levelsText = `
#define POOL 0       // an edge of all rows, each with equal probability
#define EVERYWHERE 1 // a vertex of the graph, by score
#define COLUMNS 2    // a source of these edges, by the sum of their scores
#define AMONG 3      // nothing: the edges among the seeds are taken
#define ROWS_ALONE 4 // edges of each row by itself
#define SCORED (KIND == EVERYWHERE || KIND == COLUMNS)
#define WARPS (THREADS / 32)

struct Batch { u32 seed0, seed1, epoch, number; };
struct Lists { // of all batches
	u32 *vertices, *begin, *far, *edge;
	float *weight;
	u32 *counts; // STEPS + 1 levels, then edges of the steps, then 1 where there was no room
};

// What is read. Far are pairs of far end and edge number where each row draws by itself. Scores, of whole numbers, are the sums of those of the edges before
// each; sums those of the vertices up to and with each, of which guide says where to begin to search.
struct Rowed { const u32 *offsets, *far, *edge; const float *weight; const u64 *scores, *sums; const u32 *guide; u64 vertices; };
struct Edged { u32 source, target, at; float probability, draws, times; };

static __device__ __forceinline__ Batch batch_of(const u32 *named, u64 i) {
	Batch b = {named[0], named[1], named[2], named[3] + (u32)i};
	return b;
}

static __device__ __forceinline__ Lists lists_of(u64 i, u32 *vertices, u32 *begin, u32 *far, u32 *edge, float *weight, u32 *counts) {
	Lists l = {vertices + i * VERTICES, begin + i * BEGINS, far + i * EDGES_MOST, edge + i * EDGES_MOST, WEIGHTS ? weight + i * EDGES_MOST : 0, counts + i * (2 * STEPS + 2)};
	return l;
}

// A table of vertices.
struct Table { u32 *key, mask; };

static __device__ __forceinline__ u32 find(const Table &t, u32 v) {
	for (u32 at = v * 0x9e3779b1u >> 7 & t.mask;; at = at + 1 & t.mask) {
		u32 k = t.key[at];
		if (k == v)
			return at;
		if (k == NONE)
			return NONE;
	}
}

static __device__ __forceinline__ u32 insert(const Table &t, u32 v) {
	for (u32 at = v * 0x9e3779b1u >> 7 & t.mask;; at = at + 1 & t.mask) {
		u32 k = atomicCAS(t.key + at, NONE, v);
		if (k == NONE || k == v)
			return at;
	}
}

// Sets words, a multiple of four that begins at a multiple of 16 bytes.
static __device__ __forceinline__ void fill(u32 *list, u32 words, u32 x) {
	uint4 four = {x, x, x, x};
	for (u32 j = threadIdx.x; j < words / 4; j += THREADS)
		((uint4 *)list)[j] = four;
}

static __device__ __forceinline__ float norm_of(const Rowed &g, const Edged &x) {
	double d = (double)(g.offsets[x.source + 1] - g.offsets[x.source]) * (double)(g.offsets[x.target + 1] - g.offsets[x.target]);
	return d == 0 ? 0.0f : (float)(1.0 / __dsqrt_rn(d));
}

// The sum of x over the threads before, and over all.
static __device__ __forceinline__ u64 wide_scan(u64 x, u64 *room, u64 *all) {
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	u64 sum = x;
	for (u32 d = 1; d < 32; d <<= 1) {
		u64 y = __shfl_up_sync(ALL, sum, d);
		if (lane >= d)
			sum += y;
	}
	if (lane == 31)
		room[warp] = sum;
	__syncthreads();
	u64 before = 0, total = 0;
	for (u32 w = 0; w < WARPS; w++) {
		before += w < warp ? room[w] : 0;
		total += room[w];
	}
	__syncthreads();
	*all = total;
	return before + sum - x;
}

// The last of n rows that begins at a place or before.
template <class T> static __device__ __forceinline__ u32 row_at(const T *before, u32 n, T place) {
	u32 lo = 0;
	#pragma unroll
	for (u32 half = ROWS_HALF; half > 0; half >>= 1)
		if (lo + half < n && before[lo + half] <= place)
			lo += half;
	return lo;
}
`

// levelsArguments are those of both kernels. Starts are of the seeds of each batch, named what names the first; again is for batches of rows alone that have too little room.
const levelsArguments = `const u32 *offsets, const u32 *far, const u32 *edge, const float *weight, const u64 *scores, const u64 *sums,
		const u32 *guide, u64 vertices, const u32 *seeds, const u32 *starts, const u32 *named, u32 *l_vertices, u32 *l_begin, u32 *l_far, u32 *l_edge, float *l_weight, u32 *l_counts`
