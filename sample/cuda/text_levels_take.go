package cuda

// levelsTake numbers what was found and writes it, and is the kernel of levels that draw together.
const levelsTake = `
// An edge of the step: its place, its far end's slot beside its row, and its number.
struct Taken { u32 place, which, number; };
static __device__ __forceinline__ Taken edge_of(const Level &s, const Lists &l, u32 base, u32 i, u32 m) {
	Taken x = {0, m > FOUND ? l.far[base + i] : s.which[i], m > FOUND ? i : s.rank[i]};
	x.place = m > FOUND ? l.edge[base + i] : (s.shift[x.which & 0xffffu] & ~3u) + s.order[i];
	return x;
}

// Numbers of the edges, by rows and their places, and the first edge of each vertex that was drawn. After the last one stand four that are NONE.
static __device__ __forceinline__ void number_edges(const Rowed &g, const Level &s, const Lists &l, u32 base, u32 m) {
	for (u32 i = threadIdx.x; i < m; i += THREADS) {
		if (m <= FOUND) {
			u32 own = s.order[i], less = 0;
			for (u32 j = 0; j < m; j += 4) {
				uint4 x = *(const uint4 *)(s.order + j);
				less += (x.x < own) + (x.y < own) + (x.z < own) + (x.w < own);
			}
			s.rank[i] = less;
			s.row[less] = s.which[i] & 0xffffu;
		}
		Taken x = edge_of(s, l, base, i, m);
		if (KIND != AMONG) {
			u32 j = s.drawn[x.which >> 16];
			atomicMin(s.first + j, x.number);
			if (KIND == COLUMNS)
				atomicAdd(s.own + j, g.scores[(u64)x.place + 1] - g.scores[x.place]);
		}
	}
}

// New vertices get numbers in the order in which they first appear. The number of vertices.
static __device__ __forceinline__ u32 number_new(const Level &s, const Lists &l) {
	for (u32 j = threadIdx.x; j < s.k; j += THREADS) {
		if (s.first[j] != NONE && s.number[s.slot[j]] != NONE)
			s.first[j] = NONE; // it has one
		if (s.first[j] != NONE)
			s.fresh[atomicAdd(s.many + 1, 1u)] = s.first[j];
	}
	__syncthreads();
	u32 fresh = s.many[1];
	for (u32 j = threadIdx.x; j < s.k; j += THREADS) {
		u32 own = s.first[j], number = s.n;
		if (own == NONE)
			continue;
		for (u32 i = 0; i < fresh; i++)
			number += s.fresh[i] < own;
		u32 v = s.t.key[s.slot[j]];
		s.number[s.slot[j]] = number;
		l.vertices[number] = v;
		if (s.step + 1 < STEPS)
			s.shift[number] = v;
	}
	return s.n + fresh;
}

#define FEW_EDGES 16 // so many are counted faster than their rows are gone over

// Where rows begin. Of edges with numbers in rank each fills in the rows after that of the one before.
static __device__ __forceinline__ void begin_rows(const Level &s, u32 *begin, u32 m) {
	if (m > FOUND) {
		u32 sum = 0, all;
		for (u32 r0 = 0; r0 < s.n; r0 += THREADS) {
			u32 r = r0 + threadIdx.x, at = sum + block_scan(r < s.n ? s.begin[r] : 0, s.room, &all);
			sum += all;
			if (r < s.n)
				s.begin[r] = begin[r] = at;
		}
		if (threadIdx.x == 0)
			s.begin[s.n] = begin[s.n] = m;
	} else if (m <= FEW_EDGES) {
		for (u32 r = threadIdx.x; r <= s.n; r += THREADS) {
			u32 before = 0;
			for (u32 i = 0; i < m; i++)
				before += s.row[i] < r;
			s.begin[r] = begin[r] = before;
		}
	} else
		for (u32 e = threadIdx.x; e <= m; e += THREADS)
			for (u32 r = e > 0 ? s.row[e - 1] + 1 : 0; r <= (e < m ? s.row[e] : s.n); r++)
				s.begin[r] = begin[r] = e;
}

// Far ends, numbers and weights of the edges.
static __device__ __forceinline__ void write_edges(const Rowed &g, const Level &s, const Lists &l, u32 base, u32 m) {
	for (u32 i = threadIdx.x; i < m; i += THREADS) {
		Taken x = edge_of(s, l, base, i, m);
		u32 slot = x.which >> 16, e = base + x.number;
		l.far[e] = s.number[slot];
		l.edge[e] = g.edge[x.place];
#if WEIGHTS
		u32 v = s.t.key[slot], j = s.drawn[slot];
		u64 own = KIND == COLUMNS ? s.own[j] : KIND == EVERYWHERE ? g.sums[v] - (v ? g.sums[v - 1] : 0) : 0;
		Edged y = {v, l.vertices[x.which & 0xffffu], x.place, (float)((double)own / (double)s.total), (float)s.k, (float)s.times[j]};
		l.weight[e] = edge_weight(g, y);
#endif
	}
}

#if ROW_NORMAL
static __device__ __forceinline__ void normal_rows(const Level &s, const Lists &l, u32 base) {
	for (u32 r = threadIdx.x; r < s.n; r += THREADS) {
		double sum = 0;
		for (u32 e = s.begin[r]; e < s.begin[r + 1]; e++)
			sum += (double)l.weight[base + e];
		for (u32 e = s.begin[r]; e < s.begin[r + 1]; e++)
			l.weight[base + e] = (float)((double)l.weight[base + e] / sum);
	}
}
#endif

static __device__ __forceinline__ void begin_level(const Rowed &g, Level &s, const Batch &b, const Lists &l, const u32 *seeds, u32 n) {
	Words w = philox(b.seed0, b.seed1, b.epoch, b.number, 0, 0);
	s.k0 = w.w0;
	s.k1 = w.w1;
	s.n = n;
	s.total = 0;
	fill(s.t.key, (KIND == AMONG ? 2 : 3) * SLOTS, NONE);
	if (KIND == AMONG)
		clear_drawn(s);
	if (threadIdx.x == 0) {
		l.counts[2 * STEPS + 1] = 0;
		s.before[0] = s.quads[0] = 0;
		if (KIND == COLUMNS)
			s.sums[0] = 0;
	}
	__syncthreads();
	for (u32 j = threadIdx.x; j < n; j += THREADS) {
		u32 v = seeds[j];
		l.vertices[j] = s.shift[j] = v;
		s.number[insert(s.t, v)] = j;
		if (KIND == AMONG)
			pass(s, v);
	}
	if (KIND == EVERYWHERE)
		draw_ahead(g, s);
}

static __device__ __forceinline__ void levels(const Rowed &g, const Batch &b, const Lists &l, const u32 *seeds, u32 n, u32 *shared) {
	Level s;
	place_level(s, shared);
	begin_level(g, s, b, l, seeds, n);
	u32 *begin = l.begin, from = 0;
	for (s.step = 0; s.step < STEPS; s.step++) {
		u32 base = edges_at[s.step];
		__syncthreads();
		if (KIND != AMONG)
			clear_drawn(s);
		enter_rows(g, s, from);
		__syncthreads();
		s.k = draws_of(s, sizes[s.step]);
		if (KIND == POOL)
			draw_pool(g, s);
		else if (KIND == EVERYWHERE)
			draw_everywhere(s);
		else if (KIND == COLUMNS)
			draw_columns(g, s);
		__syncthreads();
		if (SCORED)
			for (u32 j = threadIdx.x; j < s.k; j += THREADS)
				atomicAdd(s.times + s.drawn[s.slot[j]], 1u);
		find_edges(g, s);
		__syncthreads();
		u32 m = *s.many;
		if (m > edges_most[s.step]) {
			if (threadIdx.x == 0)
				l.counts[2 * STEPS + 1] = 1;
			return;
		}
		if (m <= FOUND && threadIdx.x < 4)
			s.order[m + threadIdx.x] = NONE;
		__syncthreads();
		if (m > FOUND) {
			find_in_order(g, s, l, base, true);
			__syncthreads();
			begin_rows(s, begin, m);
			__syncthreads();
			find_in_order(g, s, l, base, false);
			__syncthreads();
		}
		number_edges(g, s, l, base, m);
		__syncthreads();
		if (m <= FOUND)
			begin_rows(s, begin, m);
		from = s.n;
		u32 next = number_new(s, l);
		__syncthreads();
		write_edges(g, s, l, base, m);
		__syncthreads();
#if ROW_NORMAL
		normal_rows(s, l, base);
#endif
		for (u32 j = threadIdx.x; j < s.k; j += THREADS)
			s.drawn[s.slot[j]] = NONE;
		if (threadIdx.x == 0) {
			l.counts[s.step] = from;
			l.counts[STEPS + 1 + s.step] = m;
			l.counts[STEPS] = next;
		}
		s.n = next;
		begin += rows_most[s.step] + 1;
	}
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) saga_levels(LEVELS_ARGUMENTS) {
	extern __shared__ u32 shared[];
	Rowed g = {offsets, far, edge, weight, scores, sums, guide, vertices};
	u64 i = blockIdx.x;
	levels(g, batch_of(named, i), lists_of(i, l_vertices, l_begin, l_far, l_edge, l_weight, l_counts), seeds + starts[i], starts[i + 1] - starts[i], shared);
}
`
