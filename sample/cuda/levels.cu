
#define POOL 0       // an edge of all rows, each with equal probability
#define EVERYWHERE 1 // a vertex of the graph, by score
#define COLUMNS 2    // a source of these edges, by the sum of their scores
#define AMONG 3      // nothing: the edges among the seeds are taken
#define SCORED (KIND == EVERYWHERE || KIND == COLUMNS)
#define DRAWN 0xfffffffeu

// A level and what is drawn for it, in shared memory.
struct Level {
	u32 *key, *number;   // a table of vertices: the level's with their numbers, and those that were drawn
	u32 *first;          // of each that is drawn at this step its first edge, DRAWN until it is known; else NONE
	u32 *times;          // how often it was drawn
	u64 *own;            // its scores
	u32 *before, *quads; // of rows: edges, and 16-byte pieces of far, before each
	u32 *shift;          // where a row begins, less 4 quads
	u64 *sums;           // scores before each
	u32 *count;          // its edges in the block, and then those before it
	u32 *filter;         // a bit set where a drawn vertex has it
	u32 *room;
	u32 n, k, step, k0, k1;
	u32 row0; // the first row that is there
	u64 total;
};

static __device__ __forceinline__ u32 find(const Level &s, u32 v) {
	for (u32 at = v * 0x9e3779b1u >> 7 & SLOTS - 1;; at = at + 1 & SLOTS - 1) {
		u32 k = s.key[at];
		if (k == v)
			return at;
		if (k == NONE)
			return NONE;
	}
}

static __device__ __forceinline__ u32 insert(const Level &s, u32 v) {
	for (u32 at = v * 0x9e3779b1u >> 7 & SLOTS - 1;; at = at + 1 & SLOTS - 1) {
		u32 k = atomicCAS(s.key + at, NONE, v);
		if (k == NONE || k == v)
			return at;
	}
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

// The last row that begins at a place or before.
template <class T> static __device__ __forceinline__ u32 row_at(const T *before, u32 n, T place) {
	u32 lo = 0, left = n - 1;
	while (left > 0) {
		u32 half = (left + 1) >> 1;
		bool up = before[lo + half] <= place;
		lo = up ? lo + half : lo;
		left = up ? left - half : half - 1;
	}
	return lo;
}

static __device__ __forceinline__ u32 begin_of(const Level &s, u32 row) { return s.shift[row] + 4 * s.quads[row]; }

// The rows from one on, which are new, with sums over them. A row has at least one piece.
static __device__ __forceinline__ void enter_rows(const Rowed &g, const Level &s, const u32 *vertices, u32 from) {
	u64 *room = (u64 *)s.room, base = (u64)s.quads[from] << 32 | s.before[from], scores = KIND == COLUMNS ? s.sums[from] : 0, all;
	for (u32 r0 = from; r0 < s.n; r0 += THREADS) {
		u32 r = r0 + threadIdx.x, lo = 0, d = 0, quads = 0;
		if (r < s.n) {
			u32 v = *(volatile const u32 *)(vertices + r);
			lo = g.offsets[v];
			d = g.offsets[v + 1] - lo;
			quads = ((lo & 3) + d + 3) >> 2;
			quads = quads ? quads : 1;
		}
		u64 x = (u64)quads << 32 | d, at = base + wide_scan(x, room, &all);
		base += all;
		if (r < s.n) {
			s.shift[r] = lo - 4 * (u32)(at >> 32);
			s.quads[r + 1] = (u32)(at + x >> 32);
			s.before[r + 1] = (u32)(at + x);
		}
		if (KIND == COLUMNS) {
			x = r < s.n ? g.scores[lo + d] - g.scores[lo] : 0;
			at = scores + wide_scan(x, room, &all);
			scores += all;
			if (r < s.n)
				s.sums[r + 1] = at + x;
		}
	}
	__syncthreads();
}
