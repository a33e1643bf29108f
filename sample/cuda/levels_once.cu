
#define AHEAD 4 // draws of a lane whose reads overlap

static __device__ __forceinline__ void draw_ahead(const Rowed &g, Level &s, u32 *table, unsigned char *step_of) {
	s.total = g.sums[g.vertices - 1];
	for (u32 i0 = threadIdx.x; i0 < DRAWS && s.total > 0; i0 += AHEAD * THREADS) {
		u32 lo[AHEAD], n[AHEAD], step[AHEAD];
		u64 at[AHEAD];
		#pragma unroll
		for (u32 q = 0; q < AHEAD; q++) {
			u32 i = i0 + q * THREADS;
			step[q] = lo[q] = n[q] = 0;
			at[q] = 0;
			if (i < DRAWS) {
				#pragma unroll
				for (u32 t = 1; t < STEPS; t++)
					step[q] += draws_at[t] <= i;
				Words w = philox(s.k0, s.k1, 0, step[q], i - draws_at[step[q]], 0);
				at[q] = __umul64hi((u64)w.w0 << 32 | w.w1, s.total);
				lo[q] = g.guide[w.w0 >> GUIDE];
				n[q] = g.guide[(w.w0 >> GUIDE) + 1] - lo[q];
			}
		}
		for (u32 more = 1; more;) { // the first vertices whose sums are above
			u64 x[AHEAD];
			#pragma unroll
			for (u32 q = 0; q < AHEAD; q++)
				x[q] = n[q] ? g.sums[lo[q] + (n[q] >> 1)] : 0;
			more = 0;
			#pragma unroll
			for (u32 q = 0; q < AHEAD; q++) {
				u32 half = n[q] >> 1;
				bool up = n[q] && x[q] <= at[q];
				lo[q] = up ? lo[q] + half + 1 : lo[q];
				more |= n[q] = up ? n[q] - half - 1 : half;
			}
		}
		#pragma unroll
		for (u32 q = 0; q < AHEAD; q++) {
			if (i0 + q * THREADS < DRAWS) {
				u32 v = lo[q], slot = v * 0x9e3779b1u >> 7 & SLOTS - 1;
				#pragma unroll 1
				while (atomicCAS(table + slot, NONE, v) != NONE)
					slot = slot + 1 & SLOTS - 1;
				step_of[slot] = (unsigned char)step[q];
				atomicOr(s.filter + (v >> 5 & FILTER - 1), 1u << (v & 31));
			}
		}
	}
}

// How often a step draws a vertex.
static __device__ __forceinline__ u32 times_of(const Level &s, const u32 *table, const unsigned char *step_of, u32 v) {
	u32 times = 0;
	#pragma unroll 1
	for (u32 at = v * 0x9e3779b1u >> 7 & SLOTS - 1, k; (k = table[at]) != NONE; at = at + 1 & SLOTS - 1)
		times += k == v && step_of[at] == s.step;
	return times;
}

// Takes those of the edges that wait that the step draws. The number of edges.
static __device__ __forceinline__ u32 take_waiting(const Rowed &g, const Level &s, const u32 *table, const unsigned char *step_of, const Lists &l, u32 base, u32 wait) {
	const u32 *places = l.edge + edges_at[STEPS - 1], *rows = l.far + edges_at[STEPS - 1];
	u32 m = 0, all;
	for (u32 i0 = 0; i0 < wait; i0 += THREADS) {
		u32 i = i0 + threadIdx.x, place = 0, row = 0, v = NONE, times = 0;
		if (i < wait) {
			place = places[i];
			row = rows[i];
			v = g.far[place];
			times = times_of(s, table, step_of, v);
		}
		u32 e = m + block_scan(times > 0, s.room, &all);
		m += all;
		if (times > 0 && e < edges_most[s.step]) {
			u32 slot = insert(s, v);
			atomicMin(s.first + slot, e);
			atomicAdd(s.count + row, 1u);
			l.far[base + e] = slot;
			l.edge[base + e] = g.edge[place];
#if WEIGHTS
			Edged x = {v, l.vertices[row], place, (float)((double)(g.sums[v] - (v ? g.sums[v - 1] : 0)) / (double)s.total), (float)s.k, (float)times};
			l.weight[base + e] = edge_weight(g, x);
#endif
		}
	}
	__syncthreads();
	return m;
}

// Reads the rows from one on, which are new. The number of edges that wait.
static __device__ __forceinline__ u32 read_new(const Rowed &g, const Level &s, u32 *table, const Lists &l, u32 from, u32 wait) {
	Level fresh = s;
	fresh.key = table;
	fresh.n = s.n - from;
	fresh.row0 = from;
	enter_rows(g, fresh, l.vertices + from, 0);
	return wait + find_edges(g, fresh, l, edges_at[STEPS - 1] + wait, edges_most[STEPS - 1] - wait);
}

// False where there is too little room.
static __device__ __forceinline__ bool levels(const Rowed &g, const Batch &b, const Lists &l, const u32 *seeds, u32 n, u32 *shared) {
	Level s;
	s.room = shared;
	s.key = shared + ROOM;
	s.number = s.key + SLOTS;
	s.first = s.key + 2 * SLOTS;
	u32 *table = s.key + 3 * SLOTS;
	s.filter = table + SLOTS;
	s.before = s.filter + FILTER;
	s.quads = s.before + NEW_ROOM;
	s.shift = s.before + 2 * NEW_ROOM;
	s.count = s.before + 3 * NEW_ROOM;
	unsigned char *step_of = (unsigned char *)(s.count + ROW_ROOM);
	Words w = philox(b.seed0, b.seed1, b.epoch, b.number, 0, 0);
	s.k0 = w.w0;
	s.k1 = w.w1;
	s.n = n;
	s.row0 = 0;
	for (u32 j = threadIdx.x; j < 4 * SLOTS; j += THREADS)
		s.key[j] = NONE; // and numbers, first edges, and what is drawn
	for (u32 j = threadIdx.x; j < FILTER; j += THREADS)
		s.filter[j] = 0;
	if (threadIdx.x == 0)
		s.before[0] = s.quads[0] = 0;
	__syncthreads();
	for (u32 j = threadIdx.x; j < n; j += THREADS) {
		l.vertices[j] = seeds[j];
		s.number[insert(s, seeds[j])] = j;
	}
	draw_ahead(g, s, table, step_of);
	__syncthreads(); // now what is drawn stands
	u32 *begin = l.begin, from = 0, wait = 0;
	for (s.step = 0; s.step < STEPS; s.step++) {
		u32 base = edges_at[s.step];
		s.k = sizes[s.step];
		for (u32 j = threadIdx.x; j < SLOTS; j += THREADS)
			s.first[j] = NONE;
		for (u32 r = threadIdx.x; r < s.n; r += THREADS)
			s.count[r] = 0;
		__syncthreads();
		if (from < s.n && (wait = read_new(g, s, table, l, from, wait)) > edges_most[STEPS - 1])
			return false;
		u32 m = take_waiting(g, s, table, step_of, l, base, wait);
		if (m > edges_most[s.step])
			return false;
		begin_rows(s, begin, m);
		normalise(s, l, base);
		from = s.n;
		s.n = number_new(s, l, base, m);
		if (threadIdx.x == 0) {
			l.counts[s.step] = from;
			l.counts[STEPS + 1 + s.step] = m;
			l.counts[STEPS] = s.n;
		}
		begin += rows_most[s.step] + 1;
	}
	return true;
}
