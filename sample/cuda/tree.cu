
template <u32 PER, u32 SIZE> static __device__ __forceinline__ void tree(const G &g, const u32 *from, const u32 *roots, u32 *out, u64 n, u32 step, u64 first, u64 key, u64 *wrong) {
	u64 base = blockIdx.x * (u64)blockDim.x;
	u64 all = n * PER;
	if (base + threadIdx.x >= all)
		return;
	u64 sample = base / PER, transit = base / SIZE;
	u32 inside = (u32)(base % PER) + threadIdx.x;
	transit += ((u32)(base % SIZE) + threadIdx.x) / SIZE;
	sample += inside / PER;
	F f = {};
	f.i = sample;
	f.n = n;
	f.of = (u32)first + (u32)sample;
	f.step = step;
	f.slot = inside % PER;
	f.k0 = (u32)key;
	f.k1 = (u32)(key >> 32);
	f.roots = roots;
	f.wrong = wrong;
	End e = {from[transit], 0, 0};
	if (e.far != NONE) {
		e.lo = g.offsets[e.far];
		e.degree = g.offsets[e.far + 1] - e.lo;
	}
	f.at = e.far;
	f.lo = e.lo;
	f.degree = e.degree;
	Words w = {};
	out[base + threadIdx.x] = e.far != NONE && e.degree > 0 ? next<0>(g, f, w).far : NONE;
}
