
extern "C" __global__ void __launch_bounds__(THREADS) saga_walk(const u32 *offsets, const void *edges, const u32 *far, const float *weight, const float *most,
		const void *table, u64 vertices, const u32 *roots, u32 *out, Number *state, u64 n, u64 steps, u64 first, u64 key, u64 *wrong) {
	u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	G g = {offsets, edges, far, weight, most, table, vertices};
	F f = {};
	u32 *to = out + i;
	u32 step = 0;
	f.i = i;
	f.n = n;
	f.of = (u32)first + (u32)i;
	f.k0 = (u32)key;
	f.k1 = (u32)(key >> 32);
	f.roots = roots;
	f.out = out;
#if HELD
	extern __shared__ u32 shared[];
	f.state = (Number *)shared;
	f.stride = THREADS;
	f.own = threadIdx.x;
#else
	f.state = state;
	f.stride = n;
	f.own = i;
#endif
	f.wrong = wrong;
	f.length = ROOTS;
	f.before = NONE;
#ifdef STATE
	begin_state(f);
#endif
	End e = {roots[i * ROOTS], 0, 0};
	e.lo = offsets[e.far];
	e.degree = offsets[e.far + 1] - e.lo;
	for (; step < (u32)steps;) {
		Words w = {};
#if PACK > 1
		if (GOES_ON)
			w = philox(f.k0, f.k1, f.of, step / PACK, 0, counter(0, 0));
#endif
		WALK_TURNS
	}
}
