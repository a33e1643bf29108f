
template <u32 SIZE> struct TreeDraws {
	const G &g;
	F &f;
	const u32 *from; // the transits of the sample

	__device__ __forceinline__ void enter(u32 draw) const {
		f.at = from[draw / SIZE];
		f.lo = f.degree = 0;
		if (f.at != NONE) {
			f.lo = g.offsets[f.at];
			f.degree = g.offsets[f.at + 1] - f.lo;
		}
	}
	__device__ __forceinline__ u32 vertex(u32 draw, u32 again) const {
		enter(draw);
		if (f.degree == 0)
			return NONE;
		f.slot = draw | again << 24;
		Words w = {};
		return next<0>(g, f, w).far;
	}
	// All of a row are looked up, which must not cost more than the draws so far.
	__device__ __forceinline__ bool exhausted(const Held &h, u32 draw, u32 again) const {
		enter(draw);
		bool all = f.degree <= 8 * again;
		#pragma unroll 4
		for (u32 j = 0; all && j < f.degree; j++)
			all = held_before(h, end_at(g, f.lo + j).far, draw);
		return all;
	}
};

template <u32 PER, u32 SIZE> static __device__ __forceinline__ void unique_tree(const G &g, const u32 *from, const u32 *roots, u32 *out, u64 n, u32 step, u64 first, u64 key, u64 *wrong, u32 *shared) {
	u32 mine = threadIdx.x / GROUP, t = threadIdx.x % GROUP;
	u64 i = blockIdx.x * (u64)(blockDim.x / GROUP) + mine;
	if (i >= n)
		return;
	Held h = {shared + mine * 2 * SLOTS, shared + mine * 2 * SLOTS + SLOTS, 0};
	for (u32 j = t; j < SLOTS; j += GROUP)
		h.key[j] = h.who[j] = NONE;
	F f = {};
	f.i = i;
	f.n = n;
	f.of = (u32)first + (u32)i;
	f.step = step;
	f.k0 = (u32)key;
	f.k1 = (u32)(key >> 32);
	f.roots = roots;
	f.wrong = wrong;
	out += i * PER;
	for (u32 j = t; j < PER; j += GROUP)
		out[j] = NONE;
	group_sync();
	TreeDraws<SIZE> d = {g, f, from + i * (PER / SIZE)};
	settle_all(h, d, t, PER);
	group_sync();
	for (u32 j = t; j < SLOTS; j += GROUP)
		if (h.key[j] != NONE)
			out[(h.who[j] >> 8) - 1] = h.key[j];
}
