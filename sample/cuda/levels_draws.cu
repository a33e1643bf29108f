
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

