package cuda

// levelsDraws draws vertices.
const levelsDraws = `
// A vertex has a byte of the filter, or where many are drawn a bit.
static __device__ __forceinline__ u32 passes(const Level &s, u32 v) {
	return FILTER_BITS ? s.filter[v >> 3 & FILTER - 1] >> (v & 7) & 1 : s.filter[v & FILTER - 1];
}

static __device__ __forceinline__ void pass(const Level &s, u32 v) {
	u32 bit = FILTER_BITS ? v : 8 * v;
	atomicOr((u32 *)s.filter + (bit >> 5 & FILTER / 4 - 1), 1u << (bit & 31));
}

static __device__ __forceinline__ void drawn(const Level &s, u32 j, u32 v) {
	u32 at = insert(s.t, v);
	s.slot[j] = at;
	atomicMin(s.drawn + at, j);
	pass(s, v);
}

static __device__ __forceinline__ void draw_pool(const Rowed &g, const Level &s) {
	u32 edges = s.before[s.n];
	for (u32 j = threadIdx.x; j < s.k; j += THREADS) {
		u32 place = __umulhi(philox(s.k0, s.k1, 0, s.step, j, counter(0, 0)).w0, edges), r = row_at(s.before, s.n, place);
		drawn(s, j, g.far[begin_of(s, r) + (place - s.before[r])]);
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

#define AT_A_TIME 4 // searches of a thread side by side, so that their reads overlap

// The draws of all steps from all vertices: they depend on no level.
static __device__ __forceinline__ void draw_ahead(const Rowed &g, Level &s) {
	s.total = g.sums[g.vertices - 1];
	for (u32 i0 = threadIdx.x; i0 < ALL_DRAWS && s.total > 0; i0 += AT_A_TIME * THREADS) {
		u32 lo[AT_A_TIME], n[AT_A_TIME];
		u64 at[AT_A_TIME];
		#pragma unroll
		for (u32 q = 0; q < AT_A_TIME; q++) {
			u32 i = i0 + q * THREADS, step = 0;
			#pragma unroll
			for (u32 t = 1; t < STEPS; t++)
				step += i >= draws_at[t];
			n[q] = 0;
			if (i < ALL_DRAWS) {
				Words w = philox(s.k0, s.k1, 0, step, i - draws_at[step], 0);
				at[q] = __umul64hi((u64)w.w0 << 32 | w.w1, s.total);
				lo[q] = g.guide[w.w0 >> GUIDE];
				n[q] = g.guide[(w.w0 >> GUIDE) + 1] - lo[q];
			}
		}
		for (bool more = true; more;) {
			more = false;
			u64 sum[AT_A_TIME];
			#pragma unroll
			for (u32 q = 0; q < AT_A_TIME; q++)
				sum[q] = n[q] ? g.sums[lo[q] + (n[q] >> 1)] : 0;
			#pragma unroll
			for (u32 q = 0; q < AT_A_TIME; q++)
				if (n[q]) {
					u32 half = n[q] >> 1;
					bool up = sum[q] <= at[q];
					lo[q] = up ? lo[q] + half + 1 : lo[q];
					n[q] = up ? n[q] - half - 1 : half;
					more |= n[q] > 0;
				}
		}
		#pragma unroll
		for (u32 q = 0; q < AT_A_TIME; q++)
			if (i0 + q * THREADS < ALL_DRAWS)
				s.ahead[i0 + q * THREADS] = lo[q];
	}
}

static __device__ __forceinline__ void draw_everywhere(const Level &s) {
	for (u32 j = threadIdx.x; j < s.k; j += THREADS)
		drawn(s, j, s.ahead[draws_at[s.step] + j]);
}

// An edge by its score, and so its source by the sum of its own: first a row by its sum.
static __device__ __forceinline__ void draw_columns(const Rowed &g, Level &s) {
	s.total = s.sums[s.n];
	for (u32 j = threadIdx.x; j < s.k; j += THREADS) {
		Words w = philox(s.k0, s.k1, 0, s.step, j, 0);
		u64 at = __umul64hi((u64)w.w0 << 32 | w.w1, s.total);
		u32 r = row_at(s.sums, s.n, at), lo = begin_of(s, r), d = s.before[r + 1] - s.before[r];
		drawn(s, j, g.far[sum_above(g.scores + 1, lo, lo + d - 1, at - s.sums[r] + g.scores[lo])]);
	}
}

// How many draws this step has, of so many.
static __device__ __forceinline__ u32 draws_of(const Level &s, u32 size) {
	return (KIND == POOL ? s.before[s.n] : KIND == COLUMNS ? s.sums[s.n] : KIND == EVERYWHERE ? s.total : 0) > 0 ? size : 0;
}
`
