
// A table of vertices.
struct Table { u32 *key, mask; };

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

// The last of n rows that begins at a place or before.
template <class T> static __device__ __forceinline__ u32 row_at(const T *before, u32 n, T place) {
	u32 lo = 0;
	#pragma unroll
	for (u32 half = ROWS_HALF; half > 0; half >>= 1)
		if (lo + half < n && before[lo + half] <= place)
			lo += half;
	return lo;
}

#define NEW 0x80000000u // on the number of an edge: of a vertex that has no number yet, its first

struct Alone {
	Table t;
	u32 *name;            // of a vertex its number, or NEW and its first edge
	u32 *lo, *degree;     // of rows; until a row is entered, lo is its vertex
	u32 *at;              // its edges in the block begin there
	unsigned short *slot; // of an edge its far end's place in the table
	u32 *of;              // of 32 edges: the row of the first; and then bits of those that are the first of a vertex
	u32 *room, *places;
	u32 n, k, step, k0, k1, most_edges;
};

static __device__ __forceinline__ void place_alone(Alone &s, u32 *at, u32 slots, u32 edges) {
	s.t.key = at;
	s.t.mask = slots - 1;
	s.name = at + slots;
	at += 2 * slots;
	s.lo = at;
	s.degree = at + ROW_ROOM;
	s.at = at + 2 * ROW_ROOM;
	at += 3 * ROW_ROOM;
	s.room = at;
	s.places = at + ROOM_OF_BLOCK;
	s.of = s.places + WARPS * ROOM_OF_WARP;
	s.slot = (unsigned short *)(s.of + edges / 32);
	s.most_edges = edges;
}

// The rows from one on, which are new, and how many edges each has at this step: rows draw anew at each. The number of them all.
static __device__ __forceinline__ u32 count_rows(const Rowed &g, const Alone &s, u32 from, u32 *begin) {
	u32 m = 0, all;
	for (u32 r0 = 0; r0 < s.n; r0 += THREADS) {
		u32 r = r0 + threadIdx.x, d = 0;
		if (r < s.n && r >= from) {
			u32 v = s.lo[r];
			s.lo[r] = g.offsets[v];
			s.degree[r] = g.offsets[v + 1] - s.lo[r];
		}
		if (r < s.n)
			d = s.degree[r] < s.k ? s.degree[r] : s.k;
		u32 at = m + block_scan(d, s.room, &all);
		m += all;
		if (r < s.n)
			s.at[r] = begin[r] = at;
	}
	if (threadIdx.x == 0)
		s.at[s.n] = begin[s.n] = m;
	return m;
}

static __device__ __forceinline__ void rows_of_edges(const Alone &s, u32 m) {
	for (u32 e = 32 * threadIdx.x; e < m; e += 32 * THREADS)
		s.of[e / 32] = row_at(s.at, s.n, e);
}

// Places of rows that have more edges than are drawn, a warp a row.
static __device__ __forceinline__ void draw_rows(const Alone &s, const Lists &l, u32 base) {
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	for (u32 r0 = 0; r0 < s.n; r0 += THREADS) {
		u32 mine = r0 + lane * WARPS + warp; // the warp's rows lie apart, as long ones do not
		for (u32 rest = __ballot_sync(ALL, mine < s.n && s.degree[mine < s.n ? mine : 0] > s.k); rest; rest &= rest - 1) {
			u32 r = r0 + (__ffs(rest) - 1) * WARPS + warp;
			Row row = {*(volatile u32 *)(l.vertices + r), s.lo[r], s.degree[r], 0, 0, s.k};
			draw_row(s.k0, s.k1, s.step, row, s.places + warp * ROOM_OF_WARP, l.edge + base + s.at[r]);
			__syncwarp();
		}
	}
}

#define AT_A_TIME 4 // edges of a thread whose reads overlap

// All edges: their far ends come into the table, with the first edge of each.
static __device__ __forceinline__ void enter_edges(const Rowed &g, const Alone &s, const Lists &l, u32 base, u32 m) {
	for (u32 e0 = threadIdx.x; e0 < m; e0 += AT_A_TIME * THREADS) {
		uint2 x[AT_A_TIME];
		#pragma unroll
		for (u32 q = 0; q < AT_A_TIME; q++) {
			u32 e = e0 + q * THREADS;
			if (e < m) {
				u32 r = s.of[e / 32];
				while (s.at[r + 1] <= e)
					r++;
				x[q] = ((const uint2 *)g.far)[s.degree[r] > s.k ? *(volatile u32 *)(l.edge + base + e) : s.lo[r] + (e - s.at[r])];
			}
		}
		#pragma unroll
		for (u32 q = 0; q < AT_A_TIME; q++) {
			u32 e = e0 + q * THREADS;
			if (e < m) {
				u32 slot = insert(s.t, x[q].x);
				atomicMin(s.name + slot, NEW | e);
				s.slot[e] = (unsigned short)slot;
				l.edge[base + e] = x[q].y;
			}
		}
	}
}

// New vertices get numbers in the order in which they first appear, and edges those of their far ends. The number of vertices.
static __device__ __forceinline__ u32 number_edges(const Alone &s, const Lists &l, u32 base, u32 m) {
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, each = (m + THREADS - 1) / THREADS * 32, from = warp * each, end = from + each < m ? from + each : m, own = 0, n = s.n;
	for (u32 e0 = from; e0 < end; e0 += 32) {
		u32 e = e0 + lane, firsts = __ballot_sync(ALL, e < end && s.name[s.slot[e < end ? e : e0]] == (NEW | e));
		own += __popc(firsts);
		if (lane == 0)
			s.of[e0 / 32] = firsts;
	}
	if (lane == 0)
		s.room[warp] = own;
	__syncthreads();
	u32 at = n;
	for (u32 w = 0; w < WARPS; w++) {
		at += w < warp ? s.room[w] : 0;
		n += s.room[w];
	}
	for (u32 e0 = from; e0 < end; e0 += 32) {
		u32 firsts = s.of[e0 / 32], number = at + __popc(firsts & (1u << lane) - 1);
		at += __popc(firsts);
		if (firsts >> lane & 1) {
			u32 slot = s.slot[e0 + lane];
			s.name[slot] = l.far[base + e0 + lane] = number;
			l.vertices[number] = s.t.key[slot];
			if (s.step + 1 < STEPS)
				s.lo[number] = s.t.key[slot];
		}
	}
	__syncthreads();
	for (u32 e = threadIdx.x; e < m; e += THREADS)
		if (!(s.of[e / 32] >> lane & 1))
			l.far[base + e] = s.name[s.slot[e]];
	return n;
}

// False where there is too little room.
static __device__ __forceinline__ bool rows_alone(const Rowed &g, const Batch &b, const Lists &l, const u32 *seeds, u32 n, u32 *shared, u32 slots, u32 edges) {
	Alone s;
	place_alone(s, shared, slots, edges);
	Words w = philox(b.seed0, b.seed1, b.epoch, b.number, 0, 0);
	s.k0 = w.w0;
	s.k1 = w.w1;
	s.n = n;
	__syncthreads(); // of the batch before
	fill(s.t.key, 2 * slots, NONE);
	__syncthreads();
	for (u32 j = threadIdx.x; j < n; j += THREADS) {
		u32 v = seeds[j];
		l.vertices[j] = s.lo[j] = v;
		s.name[insert(s.t, v)] = j;
	}
	u32 *begin = l.begin, from = 0;
	for (s.step = 0; s.step < STEPS; s.step++) {
		u32 base = edges_at[s.step];
		s.k = sizes[s.step];
		__syncthreads();
		u32 m = count_rows(g, s, from, begin);
		if (m > s.most_edges || 4 * (s.n + m) > 3 * slots)
			return false;
		__syncthreads();
		rows_of_edges(s, m);
		draw_rows(s, l, base);
		__syncthreads();
		enter_edges(g, s, l, base, m);
		__syncthreads();
		from = s.n;
		s.n = number_edges(s, l, base, m);
		if (threadIdx.x == 0) {
			l.counts[s.step] = from;
			l.counts[STEPS + 1 + s.step] = m;
			l.counts[STEPS] = s.n;
		}
		begin += rows_most[s.step] + 1;
	}
	if (threadIdx.x == 0)
		l.counts[2 * STEPS + 1] = 0;
	return true;
}

// again has a count and batches. The first launch, a block a batch, lists there those that had too little room, unless it is none; in the second one, which has more, blocks
// go over the list.
extern "C" __global__ void __launch_bounds__(THREADS) saga_levels(LEVELS_ARGUMENTS, u64 slots, u64 edges, u32 *again, u64 second) {
	extern __shared__ u32 shared[];
	Rowed g = {offsets, far, edge, weight, scores, sums, guide, vertices};
	u32 many = second ? again[0] : gridDim.x;
	for (u32 j = blockIdx.x; j < many; j += gridDim.x) {
		u64 i = second ? again[1 + j] : j;
		Lists l = lists_of(i, l_vertices, l_begin, l_far, l_edge, l_weight, l_counts);
		if (!rows_alone(g, batch_of(named, i), l, seeds + starts[i], starts[i + 1] - starts[i], shared, (u32)slots, (u32)edges) && threadIdx.x == 0)
			again[1 + atomicAdd(again, 1u)] = (u32)i;
	}
}
