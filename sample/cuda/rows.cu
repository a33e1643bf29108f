
// A row of which some edges are drawn: d places from lo on, of which first to first+loops-1 are always taken
// and take no part in the draw. It has m places in the block.
struct Row { u32 v, lo, d, first, loops, m; };

// How many places a row gives: K or all, and the loops.
template <u32 K, bool AGAIN> static __device__ __forceinline__ u32 places(u32 d, u32 loops) {
	u32 n = d - loops;
	return (AGAIN ? (n ? K : 0) : n < K ? n : K) + loops;
}

// Writes place c of those that take part, of which rank are before it.
static __device__ __forceinline__ void put(const Row &r, u32 *to, u32 rank, u32 c) {
	u32 after = c >= r.first ? r.loops : 0;
	to[rank + after] = r.lo + c + after;
}

#define AGAIN_BIT 0x80000000u // on a place, which is less

// Places in a row, ascending: without replacement by Floyd's method, or with it.
template <u32 K, bool AGAIN> struct Chosen {
	// A thread a row.
	static __device__ __forceinline__ void thread(u32 k0, u32 k1, u32 step, const Row &r, u32 *to) {
		u32 n = r.d - r.loops;
		if (!AGAIN && n <= K) {
			for (u32 j = 0; j < r.d; j++)
				to[j] = r.lo + j;
			return;
		}
		u32 c[K], less = 0;
		#pragma unroll
		for (u32 q = 0; q < (K + 3) / 4; q++) {
			Words w = philox(k0, k1, r.v, step, q, 0);
			u32 word[4] = {w.w0, w.w1, w.w2, w.w3};
			#pragma unroll
			for (u32 i = 0; i < 4; i++) {
				u32 j = 4 * q + i;
				if (j < K) {
					u32 top = AGAIN ? n - 1 : n - K + j, x = __umulhi(word[i], top + 1);
					bool taken = false;
					#pragma unroll
					for (u32 a = 0; a < K; a++)
						if (a < j)
							taken |= c[a] == x;
					c[j] = !AGAIN && taken ? top : x;
				}
			}
		}
		if (r.m == r.loops) // there is nothing to draw from
			n = 0;
		#pragma unroll
		for (u32 j = 0; j < K; j++) {
			u32 rank = 0;
			#pragma unroll
			for (u32 a = 0; a < K; a++)
				rank += c[a] < c[j] || a < j && c[a] == c[j];
			if (n)
				put(r, to, rank, c[j]);
			less += n && c[j] < r.first;
		}
		for (u32 j = 0; j < r.loops; j++)
			to[less + j] = r.lo + r.first + j;
	}

	// LANES lanes a row, all of the warp at work.
	template <u32 LANES> static __device__ __forceinline__ void lanes(u32 k0, u32 k1, u32 step, const Row &r, u32 *to) {
		u32 l = threadIdx.x % LANES, n = r.d - r.loops, m = r.m - r.loops;
		Words w = philox(k0, k1, r.v, step, l, 0);
		u32 w0 = __shfl_sync(ALL, w.w0, l >> 2, LANES), w1 = __shfl_sync(ALL, w.w1, l >> 2, LANES);
		u32 w2 = __shfl_sync(ALL, w.w2, l >> 2, LANES), w3 = __shfl_sync(ALL, w.w3, l >> 2, LANES);
		u32 word = (l & 3) == 0 ? w0 : (l & 3) == 1 ? w1 : (l & 3) == 2 ? w2 : w3;
		bool whole = !AGAIN && n <= K;
		u32 top = AGAIN ? n - 1 : n - K + l, c = whole ? l : __umulhi(word, top + 1);
		if (!AGAIN) {
			#pragma unroll
			for (u32 q = 0; q < K; q++) {
				u32 x = __shfl_sync(ALL, c, q, LANES);
				if (!whole && l > q && c == x)
					c = top;
			}
		}
		u32 rank = 0, less = 0;
		#pragma unroll
		for (u32 q = 0; q < K; q++) {
			u32 x = __shfl_sync(ALL, c, q, LANES);
			rank += q < m && (x < c || x == c && q < l);
			less += q < m && x < r.first;
		}
		if (l < m)
			put(r, to, rank, c);
		for (u32 j = l; j < r.loops; j += LANES)
			to[less + j] = r.lo + r.first + j;
	}

	// A warp a row, for any K: places are kept in room, K words, and compared there.
	static __device__ __forceinline__ void warp(u32 k0, u32 k1, u32 step, const Row &r, u32 *room, u32 *to) {
		u32 l = threadIdx.x % 32, n = r.d - r.loops, m = r.m - r.loops;
		bool whole = !AGAIN && n <= K;
		for (u32 j = l; j < m; j += 32) {
			Words w = philox(k0, k1, r.v, step, j >> 2, 0);
			u32 word = (j & 3) == 0 ? w.w0 : (j & 3) == 1 ? w.w1 : (j & 3) == 2 ? w.w2 : w.w3;
			room[j] = whole ? j : __umulhi(word, AGAIN ? n : n - K + j + 1);
		}
		__syncwarp();
		if (!AGAIN && !whole) { // a place that was drawn before gives way to the last one that its draw could have given
			for (u32 j0 = 0; j0 < m; j0 += 32) {
				u32 j = j0 + l, x = j < m ? room[j] : 0;
				bool same = false;
				for (u32 a = 0; a < j0 + 32 && a < m; a++)
					same |= a < j && (room[a] & ~AGAIN_BIT) == x;
				__syncwarp();
				if (same && j < m)
					room[j] = x | AGAIN_BIT;
				__syncwarp();
			}
			for (bool more = true; more;) { // which another draw may have given, too
				more = false;
				for (u32 j0 = 0; j0 < m; j0 += 32) {
					u32 j = j0 + l, x = j < m ? room[j] : AGAIN_BIT;
					bool taken = !(x & AGAIN_BIT) && x >= n - K && x - (n - K) < j && room[x - (n - K)] & AGAIN_BIT;
					__syncwarp();
					if (taken)
						room[j] = x | AGAIN_BIT;
					more |= taken;
					__syncwarp();
				}
				more = __any_sync(ALL, more);
			}
			for (u32 j = l; j < m; j += 32)
				if (room[j] & AGAIN_BIT)
					room[j] = n - K + j;
			__syncwarp();
		}
		u32 less = 0;
		for (u32 j = l; j < m; j += 32) {
			u32 c = room[j], rank = 0;
			for (u32 a = 0; a < m; a++)
				rank += room[a] < c || room[a] == c && a < j;
			put(r, to, rank, c);
			less += c < r.first;
		}
		for (u32 d = 16; d > 0; d >>= 1)
			less += __shfl_down_sync(ALL, less, d);
		less = __shfl_sync(ALL, less, 0);
		for (u32 j = l; j < r.loops; j += 32)
			to[less + j] = r.lo + r.first + j;
	}
};

// What draws in proportion to scores read.
struct Scores { const void *table; const float *most, *score; const u32 *drawable; };

#if METHOD
// A place in proportion to scores, some of which are above 0; ALL where the reference walks over the row.
static __device__ __forceinline__ u32 scored(const Scores &s, u32 k0, u32 k1, u32 step, const Row &r, u32 slot) {
	Words w = philox(k0, k1, r.v, step, slot, 0);
#if METHOD == 1 // alias table
	u32 i = __umulhi(w.w0, r.d);
	uint2 x = ((const uint2 *)s.table)[r.lo + i];
	return w.w1 < x.x ? i : x.y;
#elif METHOD == 2 // sums
	const u32 *row = (const u32 *)s.table + r.lo;
	u32 word = w.w0 < 0xfffffffeu ? w.w0 : 0xfffffffeu, at = 0, left = r.d - 1;
	while (left > 0) {
		u32 half = left >> 1;
		bool up = row[at + half] <= word;
		at = up ? at + half + 1 : at;
		left = up ? left - half - 1 : half;
	}
	return at;
#else // rejection
	for (u32 again = 1; again <= 1u << 16; again++) {
		u32 i = __umulhi(w.w0, r.d);
		if (__fmul_rn((float)(w.w1 >> 8) * (1.0f / 16777216.0f), s.most[r.v]) < s.score[r.lo + i])
			return i;
		w = philox(k0, k1, r.v, step, slot, again);
	}
	return ALL;
#endif
}

// A thread a row: places in ascending order, one draw after the other until m differ, or m draws with replacement. False
// where the reference has another way for a row that is hard to draw from.
template <u32 K, bool AGAIN> static __device__ __forceinline__ bool by_score(const Scores &s, u32 k0, u32 k1, u32 step, const Row &r, u32 drawable, u32 *to) {
	u32 have = 0;
	if (!AGAIN && drawable <= K) {
		for (u32 j = 0; j < r.d; j++)
			if (s.score[r.lo + j] > 0)
				to[have++] = r.lo + j;
		return true;
	}
	for (u32 slot = 0; have < r.m; slot++) {
		u32 c = slot < 64 * K ? scored(s, k0, k1, step, r, slot) : ALL;
		if (c == ALL)
			break;
		u32 at = have;
		while (at > 0 && to[at - 1] > r.lo + c)
			at--;
		if (!AGAIN && at > 0 && to[at - 1] == r.lo + c)
			continue;
		for (u32 j = have++; j > at; j--)
			to[j] = to[j - 1];
		to[at] = r.lo + c;
	}
	bool all = have == r.m;
	for (; have < r.m; have++)
		to[have] = r.lo;
	return all;
}
#endif

// The places of the row of v that come from v itself.
static __device__ __forceinline__ void find_loops(const uint2 *pairs, Row &r) {
	u32 lo = 0, n = r.d;
	while (n > 0) {
		u32 half = n >> 1;
		bool up = pairs[r.lo + lo + half].x < r.v;
		lo = up ? lo + half + 1 : lo;
		n = up ? n - half - 1 : half;
	}
	r.first = lo;
	while (lo < r.d && pairs[r.lo + lo].x == r.v)
		lo++;
	r.loops = lo - r.first;
}
