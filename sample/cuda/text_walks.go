package cuda

// walkText is the kernel of samples that draw once a step: a thread a sample. Before
// the text stand THREADS, ROOTS, PACK (steps that share random words), GOES_ON, STATE, HELD (the state lies in shared memory), and the functions next and,
// with CHOOSE, transits. Roots are vertices of the graph.
const walkText = `
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
`

// walkTurn is one step of those that share random words; %d is which. CHOOSE sets e to the
// transit where a sampler has Transits.
const walkTurn = `
		if (step < (u32)steps) {
			f.step = step;
			CHOOSE
			f.at = e.far;
			f.lo = e.lo;
			f.degree = e.degree;
			if (e.far != NONE && e.degree > 0) {
				e = next<%d>(g, f, w);
				enter(g, e);
			} else {
				e = no_end();
			}
			f.before = f.at;
			*to = e.far;
			to += n;
			step++;
			f.length += e.far != NONE;
		}
`

// chooseText is CHOOSE.
const chooseText = `
			{
				i64 v = transits(g, f);
				e = no_end();
				if (v >= 0 && (u64)v < vertices) {
					e.far = (u32)v;
					e.lo = offsets[e.far];
					e.degree = offsets[e.far + 1] - e.lo;
				} else if (v != -1)
					*wrong = 1;
			}
`

// treeText is the kernel of a step in which samples draw many times: a thread a draw. PER are the draws of a sample,
// SIZE those of a transit.
const treeText = `
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
`

// treeHead is the kernel of one step: its number, PER and SIZE.
const treeHead = `
extern "C" __global__ void __launch_bounds__(256) saga_tree_%d(const u32 *offsets, const void *edges, const u32 *far, const float *weight, const float *most,
		const void *table, u64 vertices, const u32 *from, const u32 *roots, u32 *out, u64 n, u64 first, u64 key, u64 *wrong) {
	G g = {offsets, edges, far, weight, most, table, vertices};
	tree<%[2]d, %[3]d>(g, from, roots, out, n, %[1]d, first, key, wrong);
}
`
