package cuda

// levelsText is the kernel of batches whose levels are drawn together: a block a batch, which goes on to further batches. At each step vertices
// are drawn for all of a level, and the block has all edges from them into it. A warp reads a row.
//
// Before it stand THREADS, STEPS, KIND (below), LEVEL_SLOTS and DRAWN_SLOTS (places of tables in shared memory, powers
// of two), VERTICES, BEGINS and EDGES_MOST (of a batch at most), WEIGHTS, ROW_NORMAL, and of each step sizes, rows_most, edges_most and edges_at;
// after it edge_weight, where there are WEIGHTS.
const levelsText = `
#define POOL 0       // an edge of all rows, each with equal probability
#define EVERYWHERE 1 // a vertex of the graph, by score
#define COLUMNS 2    // a source of these edges, by the sum of their scores
#define AMONG 3      // nothing: the edges among the seeds are taken

struct Batch { u32 seed0, seed1, epoch, number; };
struct Lists { // of all batches
	u32 *vertices, *begin, *far, *edge;
	float *weight;
	u32 *counts; // STEPS + 1 levels, then edges of the steps, then 1 where there was no room
};
struct Rowed { const u32 *offsets, *far, *edge; const float *weight, *score; double unit; const u64 *sums; u64 vertices; };
struct Edged { u32 source, target, at; float probability, draws, times; };
struct Table { u32 *key, *value; u32 slots; };

static __device__ __forceinline__ u32 find(const Table &t, u32 v) {
	for (u32 at = v * 0x9e3779b1u >> 7 & t.slots - 1;; at = at + 1 & t.slots - 1) {
		u32 k = *(volatile u32 *)(t.key + at);
		if (k == v)
			return at;
		if (k == NONE)
			return NONE;
	}
}

static __device__ __forceinline__ u32 insert(const Table &t, u32 v) {
	for (u32 at = v * 0x9e3779b1u >> 7 & t.slots - 1;; at = at + 1 & t.slots - 1) {
		u32 k = atomicCAS(t.key + at, NONE, v);
		if (k == NONE || k == v)
			return at;
	}
}

static __device__ __forceinline__ float norm_of(const Rowed &g, const Edged &x) {
	double d = (double)(g.offsets[x.source + 1] - g.offsets[x.source]) * (double)(g.offsets[x.target + 1] - g.offsets[x.target]);
	return d == 0 ? 0.0f : (float)(1.0 / __dsqrt_rn(d));
}

// A score as a whole number, as the reference has it.
static __device__ __forceinline__ u64 fixed_of(float score, double unit) {
	if (score == 0)
		return 0;
	u64 x = (u64)((double)score * unit);
	return x > 1 ? x : 1;
}

static __device__ __forceinline__ u64 warp_sum(u64 x) {
	for (u32 d = 16; d > 0; d >>= 1)
		x += __shfl_down_sync(ALL, x, d);
	return __shfl_sync(ALL, x, 0);
}

// Sums of the rows before, and of all: list[r] is a row's, and then that of the rows before it. Every thread gets all.
template <class T> static __device__ __forceinline__ T before_rows(T *list, u32 n) {
	__syncthreads();
	if (threadIdx.x < 32) {
		T base = 0;
		for (u32 r0 = 0; r0 < n; r0 += 32) {
			u32 r = r0 + threadIdx.x;
			T x = r < n ? list[r] : 0, sum = x;
			for (u32 d = 1; d < 32; d <<= 1) {
				T y = __shfl_up_sync(ALL, sum, d);
				if (threadIdx.x >= d)
					sum += y;
			}
			if (r < n)
				list[r] = base + sum - x;
			base += __shfl_sync(ALL, sum, 31);
		}
		if (threadIdx.x == 0)
			list[n] = base;
	}
	__syncthreads();
	return list[n];
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
`

// levelsHead is the kernel, after levelsDraws.
const levelsHead = `
extern "C" __global__ void __launch_bounds__(128) saga_levels(const u32 *offsets, const u32 *far, const u32 *edge, const float *weight, const float *score, const u64 *units,
		const u64 *sums, u64 vertices, const u32 *seeds, const u32 *starts, u64 batches, const u32 *named, u32 *l_vertices, u32 *l_begin, u32 *l_far, u32 *l_edge, float *l_weight, u32 *l_counts) {
	extern __shared__ u32 shared[];
	Rowed g = {offsets, far, edge, weight, score, 0, sums, vertices};
	if (KIND == COLUMNS)
		g.unit = *(const double *)units;
	for (u64 i = blockIdx.x; i < batches; i += gridDim.x) {
		Batch b = {named[0], named[1], named[2], named[3] + (u32)i};
		Lists l = {l_vertices + i * VERTICES, l_begin + i * BEGINS, l_far + i * EDGES_MOST, l_edge + i * EDGES_MOST, WEIGHTS ? l_weight + i * EDGES_MOST : 0, l_counts + i * (2 * STEPS + 2)};
		levels(g, b, l, seeds + starts[i], starts[i + 1] - starts[i], shared);
		__syncthreads();
	}
}
`

// levelsDraws is a batch.
const levelsDraws = `
// What is drawn at a step.
struct Step { u32 *before, *lo, *count; u64 *sums, *own; Table drawn; u32 *times, *first; u32 n, k, step, k0, k1; u64 total; };

// Draws of vertices go into the table of what is drawn.
static __device__ __forceinline__ void draw_pool(const Rowed &g, const Step &s) {
	u32 edges = s.before[s.n];
	for (u32 j = threadIdx.x; j < s.k && edges > 0; j += THREADS) {
		u32 place = __umulhi(philox(s.k0, s.k1, 0, s.step, j, counter(0, 0)).w0, edges), r = row_at(s.before, s.n, place);
		insert(s.drawn, g.far[s.lo[r] + (place - s.before[r])]);
	}
}

static __device__ __forceinline__ u64 place_of_draw(const Step &s, u32 j, u64 total) {
	Words w = philox(s.k0, s.k1, 0, s.step, j, 0);
	return __umul64hi((u64)w.w0 << 32 | w.w1, total);
}

// A draw gives v, whose scores in the end are own.
static __device__ __forceinline__ void drawn_once(const Step &s, u32 v, u64 own) {
	u32 at = insert(s.drawn, v);
	atomicAdd(s.times + at, 1u);
	if (own)
		atomicMax(s.own + at, own);
}

static __device__ __forceinline__ void draw_everywhere(const Rowed &g, Step &s) {
	s.total = g.sums[g.vertices - 1];
	for (u32 j = threadIdx.x; j < s.k && s.total > 0; j += THREADS) {
		u64 at = place_of_draw(s, j, s.total), lo = 0, n = g.vertices - 1;
		while (n > 0) {
			u64 half = n >> 1;
			bool up = g.sums[lo + half] <= at;
			lo = up ? lo + half + 1 : lo;
			n = up ? n - half - 1 : half;
		}
		drawn_once(s, (u32)lo, g.sums[lo] - (lo ? g.sums[lo - 1] : 0));
	}
}

// An edge by its score, and so its source by the sum of its own: first a row by its sum, then a warp goes over it.
static __device__ __forceinline__ void draw_columns(const Rowed &g, Step &s, const u32 *rows) {
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	for (u32 r = threadIdx.x; r < s.n; r += THREADS)
		s.sums[r] = g.sums[rows[r]];
	s.total = before_rows(s.sums, s.n);
	for (u32 j = warp; j < s.k && s.total > 0; j += THREADS / 32) {
		u64 at = place_of_draw(s, j, s.total);
		u32 r = row_at(s.sums, s.n, at), lo = s.lo[r], d = s.before[r + 1] - s.before[r];
		u64 base = s.sums[r];
		for (u32 i0 = 0; i0 < d && base <= at; i0 += 32) {
			u32 i = i0 + lane;
			u64 x = i < d ? fixed_of(g.score[lo + i], g.unit) : 0, sum = x;
			for (u32 e = 1; e < 32; e <<= 1) {
				u64 y = __shfl_up_sync(ALL, sum, e);
				if (lane >= e)
					sum += y;
			}
			u64 end = base + sum;
			if (end - x <= at && at < end)
				drawn_once(s, g.far[lo + i], 0);
			base = __shfl_sync(ALL, end, 31);
		}
	}
}

#define SCORED (KIND == EVERYWHERE || KIND == COLUMNS)
#define EACH 4 // edges that a thread reads at a time

// The edges from what was drawn, in order: far has their slots in the table, and edge their places. The number of them, and in count that of each row.
static __device__ __forceinline__ u32 find_edges(const Rowed &g, const Step &s, const Lists &l, u32 base, u32 most, u32 *room) {
	u32 edges = s.before[s.n], m = 0;
	for (u32 p0 = 0; p0 < edges; p0 += THREADS * EACH) {
		u32 p = p0 + threadIdx.x * EACH, row = p < edges ? row_at(s.before, s.n, p) : 0, at[EACH], v[EACH], of[EACH], mine = 0, all;
		#pragma unroll
		for (u32 q = 0; q < EACH; q++) {
			while (p + q < edges && s.before[row + 1] <= p + q)
				row++;
			of[q] = row;
			at[q] = s.lo[row] + (p + q - s.before[row]);
			v[q] = p + q < edges ? g.far[at[q]] : NONE;
		}
		u32 slot[EACH];
		#pragma unroll
		for (u32 q = 0; q < EACH; q++) {
			slot[q] = v[q] == NONE ? NONE : find(s.drawn, v[q]);
			mine += slot[q] != NONE;
		}
		u32 e = m + block_scan(mine, room, &all);
		m += all;
		#pragma unroll
		for (u32 q = 0; q < EACH; q++)
			if (slot[q] != NONE) {
				if (e < most) {
					l.far[base + e] = slot[q];
					l.edge[base + e] = at[q];
					atomicMin(s.first + slot[q], e);
					if (KIND == COLUMNS)
						atomicAdd(s.own + slot[q], fixed_of(g.score[at[q]], g.unit));
				}
				atomicAdd(s.count + of[q], 1u);
				e++;
			}
	}
	return m;
}

// Numbers and weights of the edges that were found, and where rows begin.
static __device__ __forceinline__ void take_edges(const Rowed &g, const Step &s, const Lists &l, const u32 *rows, u32 *begin, u32 base, u32 m) {
	before_rows(s.count, s.n);
	for (u32 r = threadIdx.x; r <= s.n; r += THREADS)
		begin[r] = s.count[r];
	for (u32 e = threadIdx.x; e < m; e += THREADS) {
		u32 at = l.edge[base + e];
		l.edge[base + e] = g.edge[at];
#if WEIGHTS
		u32 slot = l.far[base + e];
		Edged x = {s.drawn.key[slot], rows[row_at(s.count, s.n, e)], at, (float)((double)s.own[slot] / (double)s.total), (float)s.k, (float)s.times[slot]};
		l.weight[base + e] = edge_weight(g, x);
#endif
	}
	__syncthreads();
#if ROW_NORMAL
	for (u32 r = threadIdx.x; r < s.n; r += THREADS) {
		double sum = 0;
		for (u32 e = s.count[r]; e < s.count[r + 1]; e++)
			sum += (double)l.weight[base + e];
		for (u32 e = s.count[r]; e < s.count[r + 1]; e++)
			l.weight[base + e] = (float)((double)l.weight[base + e] / sum);
	}
#endif
}

// New vertices get numbers in the order in which they first appear, and edges those of their far ends. The number of vertices.
static __device__ __forceinline__ u32 number_new(const Step &s, const Lists &l, const Table &level, u32 base, u32 m, u32 *room) {
	for (u32 at = threadIdx.x; at < DRAWN_SLOTS; at += THREADS) {
		u32 there = s.drawn.key[at] == NONE ? NONE : find(level, s.drawn.key[at]);
		s.drawn.value[at] = there == NONE ? NONE : level.value[there];
	}
	__syncthreads();
	u32 n = s.n;
	for (u32 e0 = 0; e0 < m; e0 += THREADS) { // an edge may be the first from its source
		u32 e = e0 + threadIdx.x, slot = e < m ? l.far[base + e] : 0, all;
		bool first = e < m && s.first[slot] == e && s.drawn.value[slot] == NONE;
		u32 number = n + block_scan(first, room, &all);
		n += all;
		if (first) {
			s.drawn.value[slot] = number;
			l.vertices[number] = s.drawn.key[slot];
			level.value[insert(level, s.drawn.key[slot])] = number;
		}
	}
	__syncthreads();
	for (u32 e = threadIdx.x; e < m; e += THREADS)
		l.far[base + e] = s.drawn.value[l.far[base + e]];
	return n;
}

static __device__ __forceinline__ void levels(const Rowed &g, const Batch &b, const Lists &l, const u32 *seeds, u32 n, u32 *shared) {
	u64 *own = (u64 *)shared, *sums = own + DRAWN_SLOTS; // where there are scores
	u32 *at = shared + (SCORED ? 2 * DRAWN_SLOTS : 0) + (KIND == COLUMNS ? 2 * (VERTICES + 1) : 0);
	Table level = {at, at + LEVEL_SLOTS, LEVEL_SLOTS};
	at += 2 * LEVEL_SLOTS;
	Step s = {at, at + (VERTICES + 1), at + 2 * (VERTICES + 1), sums, own};
	at += 3 * (VERTICES + 1);
	s.drawn.key = at;
	s.drawn.value = at + DRAWN_SLOTS;
	s.drawn.slots = DRAWN_SLOTS;
	s.first = at + 2 * DRAWN_SLOTS;
	s.times = at + 3 * DRAWN_SLOTS;
	u32 *room = at + (SCORED ? 4 : 3) * DRAWN_SLOTS;
	Words w = philox(b.seed0, b.seed1, b.epoch, b.number, 0, 0);
	s.k0 = w.w0;
	s.k1 = w.w1;
	s.n = n;
	for (u32 j = threadIdx.x; j < LEVEL_SLOTS; j += THREADS)
		level.key[j] = NONE;
	if (threadIdx.x == 0)
		l.counts[2 * STEPS + 1] = 0;
	__syncthreads();
	for (u32 j = threadIdx.x; j < n; j += THREADS) {
		l.vertices[j] = seeds[j];
		level.value[insert(level, seeds[j])] = j;
	}
	u32 *begin = l.begin;
	for (s.step = 0; s.step < STEPS; s.step++) {
		s.k = sizes[s.step];
		__syncthreads();
		for (u32 j = threadIdx.x; j < DRAWN_SLOTS; j += THREADS) {
			s.drawn.key[j] = s.first[j] = NONE;
			if (SCORED)
				s.own[j] = s.times[j] = 0;
		}
		for (u32 r = threadIdx.x; r < s.n; r += THREADS) {
			u32 v = *(volatile u32 *)(l.vertices + r);
			s.lo[r] = g.offsets[v];
			s.before[r] = g.offsets[v + 1] - s.lo[r];
			s.count[r] = 0;
		}
		before_rows(s.before, s.n);
		if (KIND == POOL)
			draw_pool(g, s);
		else if (KIND == EVERYWHERE)
			draw_everywhere(g, s);
		else if (KIND == COLUMNS)
			draw_columns(g, s, l.vertices);
		else
			for (u32 j = threadIdx.x; j < n; j += THREADS)
				insert(s.drawn, seeds[j]);
		__syncthreads();
		u32 m = find_edges(g, s, l, edges_at[s.step], edges_most[s.step], room);
		if (m > edges_most[s.step]) {
			if (threadIdx.x == 0)
				l.counts[2 * STEPS + 1] = 1;
			return;
		}
		take_edges(g, s, l, l.vertices, begin, edges_at[s.step], m);
		u32 more = number_new(s, l, level, edges_at[s.step], m, room);
		if (threadIdx.x == 0) {
			l.counts[s.step] = s.n;
			l.counts[STEPS + 1 + s.step] = m;
			l.counts[STEPS] = more;
		}
		begin += rows_most[s.step] + 1;
		s.n = more;
	}
}
`
