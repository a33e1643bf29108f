
static __device__ __forceinline__ u32 part_of(const u32 *bound, u32 v) {
	if (v == NONE)
		return PARTS;
	u32 lo = 0, n = PARTS - 1;
	while (n > 0) { // the last interval that begins at v or before
		u32 half = (n + 1) >> 1;
		bool up = bound[lo + half] <= v;
		lo = up ? lo + half : lo;
		n = up ? n - half : half - 1;
	}
	return lo;
}

extern "C" __global__ void __launch_bounds__(256) saga_count(const u32 *from, u64 n, u64 each, const u32 *bound, u32 *counts) {
	extern __shared__ u32 shared[];
	u32 *bounds = shared, *own = shared + PARTS;
	for (u32 p = threadIdx.x; p <= PARTS; p += blockDim.x) {
		own[p] = 0;
		if (p < PARTS)
			bounds[p] = bound[p];
	}
	__syncthreads();
	u64 lo = blockIdx.x * each, end = lo + each < n ? lo + each : n;
	for (u64 i = lo + threadIdx.x; i < end; i += blockDim.x)
		atomicAdd(own + part_of(bounds, from[i]), 1u);
	__syncthreads();
	for (u32 p = threadIdx.x; p <= PARTS; p += blockDim.x)
		counts[p * gridDim.x + blockIdx.x] = own[p];
}

// One block: counts become the sums before them, and starts are those of intervals.
extern "C" __global__ void __launch_bounds__(256) saga_starts(u32 *counts, u64 blocks, u32 *starts) {
	extern __shared__ u32 shared[];
	u32 base = 0, all, n = (PARTS + 1) * (u32)blocks;
	for (u32 i0 = 0; i0 < n; i0 += THREADS) {
		u32 i = i0 + threadIdx.x, x = i < n ? counts[i] : 0;
		u32 before = base + block_scan(x, shared, &all);
		base += all;
		if (i < n) {
			counts[i] = before;
			if (i % (u32)blocks == 0)
				starts[i / (u32)blocks] = before;
		}
	}
	if (threadIdx.x == 0)
		starts[PARTS + 1] = base;
}

extern "C" __global__ void __launch_bounds__(256) saga_group(const u32 *from, u64 n, u64 each, const u32 *bound, const u32 *counts, u32 *list) {
	extern __shared__ u32 shared[];
	u32 *bounds = shared, *own = shared + PARTS;
	for (u32 p = threadIdx.x; p <= PARTS; p += blockDim.x) {
		own[p] = counts[p * gridDim.x + blockIdx.x];
		if (p < PARTS)
			bounds[p] = bound[p];
	}
	__syncthreads();
	u64 lo = blockIdx.x * each, end = lo + each < n ? lo + each : n;
	for (u64 i = lo + threadIdx.x; i < end; i += blockDim.x)
		list[atomicAdd(own + part_of(bounds, from[i]), 1u)] = (u32)i;
}

// A number for a vertex at a place of a sample. Their sum names samples, whatever the order of threads.
static __device__ __forceinline__ u64 mixed(u64 x) {
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}
static __device__ __forceinline__ u64 named(u32 of, u32 step, u32 slot, u32 v) { return mixed(mixed((u64)of << 32 | v) ^ ((u64)step << 32 | slot)); }

// Draws of the transits of an interval. PER are the draws of a sample, SIZE those of a transit, TURN which of
// the steps that share random words.
template <u32 PER, u32 SIZE, int TURN> static __device__ __forceinline__ void stream_step(const G &g, const u32 *list, u64 n, const u32 *from, const u32 *before,
		u32 *out, u32 step, u64 first, u64 key, u64 *wrong, u64 *sum) {
	u64 total = 0;
	for (u64 q = blockIdx.x * (u64)blockDim.x + threadIdx.x; q < n * SIZE; q += gridDim.x * (u64)blockDim.x) {
		u32 at = list[q / SIZE], draw = (u32)(q % SIZE);
		F f = {};
		f.i = at / (PER / SIZE);
		f.of = (u32)first + (u32)f.i;
		f.step = step;
		f.slot = at % (PER / SIZE) * SIZE + draw;
		f.k0 = (u32)key;
		f.k1 = (u32)(key >> 32);
		f.wrong = wrong;
		f.length = ROOTS;
		f.before = before ? before[at] : NONE;
		f.at = from[at];
		u32 v = NONE;
		if (f.at != NONE) {
			f.lo = g.offsets[f.at];
			f.degree = g.offsets[f.at + 1] - f.lo;
			if (f.degree > 0) {
				Words w = {};
#if PACK > 1
				w = philox(f.k0, f.k1, f.of, step / PACK, 0, counter(0, 0));
#endif
				v = next<TURN>(g, f, w).far;
			}
		}
		if (out)
			out[(u64)at * SIZE + draw] = v;
		if (sum && v != NONE)
			total += named(f.of, step, f.slot, v);
	}
	if (!sum)
		return;
	for (int d = 16; d > 0; d >>= 1)
		total += __shfl_down_sync(ALL, total, d);
	if ((threadIdx.x & 31) == 0)
		atomicAdd(sum, total);
}
