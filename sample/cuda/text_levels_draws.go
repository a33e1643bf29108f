package cuda

// levelsDraws draws vertices.
const levelsDraws = `
static __device__ __forceinline__ u32 drawn(const Level &s, u32 v) {
	u32 at = insert(s, v);
	s.first[at] = DRAWN;
	atomicOr(s.filter + (v >> 5 & FILTER - 1), 1u << (v & 31));
	return at;
}

static __device__ __forceinline__ void draw_pool(const Rowed &g, const Level &s) {
	u32 edges = s.before[s.n];
	for (u32 j = threadIdx.x; j < s.k && edges > 0; j += THREADS) {
		u32 place = __umulhi(philox(s.k0, s.k1, 0, s.step, j, counter(0, 0)).w0, edges), r = row_at(s.before, s.n, place);
		drawn(s, g.far[begin_of(s, r) + (place - s.before[r])]);
	}
}

// The first place from lo to end whose sum is above at.
static __device__ __forceinline__ u32 sum_above(const u64 *sums, u32 lo, u32 end, u64 at) {
	for (u32 n = end - lo; n > 0;) {
		u32 half = n >> 1;
		bool up = sums[lo + half] <= at;
		lo = up ? lo + half + 1 : lo;
		n = up ? n - half - 1 : half;
	}
	return lo;
}

static __device__ __forceinline__ void draw_everywhere(const Rowed &g, Level &s) {
	s.total = g.sums[g.vertices - 1];
	for (u32 j = threadIdx.x; j < s.k && s.total > 0; j += THREADS) {
		Words w = philox(s.k0, s.k1, 0, s.step, j, 0);
		u64 at = __umul64hi((u64)w.w0 << 32 | w.w1, s.total);
		u32 near = w.w0 >> GUIDE, v = sum_above(g.sums, g.guide[near], g.guide[near + 1], at), slot = drawn(s, v);
		atomicAdd(s.times + slot, 1u);
		s.own[slot] = g.sums[v] - (v ? g.sums[v - 1] : 0);
	}
}

// An edge by its score, and so its source by the sum of its own: first a row by its sum.
static __device__ __forceinline__ void draw_columns(const Rowed &g, Level &s) {
	s.total = s.sums[s.n];
	for (u32 j = threadIdx.x; j < s.k && s.total > 0; j += THREADS) {
		Words w = philox(s.k0, s.k1, 0, s.step, j, 0);
		u64 at = __umul64hi((u64)w.w0 << 32 | w.w1, s.total);
		u32 r = row_at(s.sums, s.n, at), lo = begin_of(s, r), d = s.before[r + 1] - s.before[r];
		u32 e = sum_above(g.scores + 1, lo, lo + d - 1, at - s.sums[r] + g.scores[lo]);
		atomicAdd(s.times + drawn(s, g.far[e]), 1u);
	}
}

`

// levelsHead draws a batch step by step.
const levelsHead = `
static __device__ __forceinline__ void place_level(Level &s, u32 *at) {
	s.own = (u64 *)at;
	at += SCORED ? 2 * SLOTS : 0;
	s.sums = (u64 *)at;
	at += KIND == COLUMNS ? 2 * (ROWS + 1) : 0;
	s.room = at;
	at += ROOM;
	s.key = at;
	s.number = at + SLOTS;
	s.first = at + 2 * SLOTS;
	s.times = at + 3 * SLOTS;
	at += (SCORED ? 4 : 3) * SLOTS;
	s.before = at;
	s.quads = at + (ROWS + 1);
	s.shift = at + 2 * (ROWS + 1);
	s.count = at + 3 * (ROWS + 1);
	s.filter = at + 4 * (ROWS + 1);
}

// Nothing is drawn yet.
static __device__ __forceinline__ void clear_drawn(const Level &s) {
	for (u32 j = threadIdx.x; j < SLOTS; j += THREADS) {
		s.first[j] = NONE;
		if (SCORED)
			s.own[j] = s.times[j] = 0;
	}
	for (u32 j = threadIdx.x; j < FILTER; j += THREADS)
		s.filter[j] = 0;
	for (u32 r = threadIdx.x; r < s.n; r += THREADS)
		s.count[r] = 0;
}

// False where there is too little room.
static __device__ __forceinline__ bool levels(const Rowed &g, const Batch &b, const Lists &l, const u32 *seeds, u32 n, u32 *shared) {
	Level s;
	place_level(s, shared);
	Words w = philox(b.seed0, b.seed1, b.epoch, b.number, 0, 0);
	s.k0 = w.w0;
	s.k1 = w.w1;
	s.n = n;
	s.total = 0;
	s.row0 = 0;
	for (u32 j = threadIdx.x; j < SLOTS; j += THREADS)
		s.key[j] = s.number[j] = NONE;
	if (threadIdx.x == 0) {
		s.before[0] = s.quads[0] = 0;
		if (KIND == COLUMNS)
			s.sums[0] = 0;
	}
	__syncthreads();
	for (u32 j = threadIdx.x; j < n; j += THREADS) {
		l.vertices[j] = seeds[j];
		s.number[insert(s, seeds[j])] = j;
	}
	u32 *begin = l.begin, from = 0, m;
	for (s.step = 0; s.step < STEPS; s.step++) {
		u32 base = edges_at[s.step];
		s.k = sizes[s.step];
		__syncthreads();
		clear_drawn(s);
		enter_rows(g, s, l.vertices, from);
		if (KIND == POOL)
			draw_pool(g, s);
		else if (KIND == EVERYWHERE)
			draw_everywhere(g, s);
		else if (KIND == COLUMNS)
			draw_columns(g, s);
		else
			for (u32 j = threadIdx.x; j < n; j += THREADS)
				drawn(s, seeds[j]);
		__syncthreads();
		m = find_edges(g, s, l, base, edges_most[s.step]);
		if (m > edges_most[s.step])
			return false;
		begin_rows(s, begin, m);
		weigh_edges(g, s, l, base, m);
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
`

// levelsKernel is the kernel: a block a batch.
const levelsKernel = `
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) saga_levels(LEVELS_ARGUMENTS) {
	extern __shared__ u32 shared[];
	Rowed g = {offsets, far, edge, weight, scores, sums, guide, vertices};
	u64 i = blockIdx.x;
	Lists l = lists_of(i, l_vertices, l_begin, l_far, l_edge, l_weight, l_counts);
	bool fits = levels(g, batch_of(named, i), l, seeds + starts[i], starts[i + 1] - starts[i], shared);
	if (threadIdx.x == 0)
		l.counts[2 * STEPS + 1] = !fits;
}
`
