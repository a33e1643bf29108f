
static __device__ __forceinline__ u64 power(u64 x, u32 k) {
	u64 y = 1;
	for (u32 i = 0; i < k; i++)
		y *= x;
	return y;
}

static __device__ __forceinline__ u64 warp_sum(u64 x) {
	for (int d = 16; d > 0; d >>= 1)
		x += __shfl_down_sync(ALL, x, d);
	return x;
}

// The sum over the lanes' part of a row of what x has there; times the triangles at the edge to the power of closed.
template <u32 closed> static __device__ __forceinline__ u64 pulled(const u64 *x, Row r, const u32 *t, u32 lane) {
	u64 s = 0;
	#pragma unroll 4
	for (u32 e = lane; e < r.degree; e += 32)
		s += closed ? x[r.at[e]] * power(t[e], closed) : x[r.at[e]];
	return warp_sum(s);
}

// Adds y to the row's vertices, and notes those that had nothing.
template <u32 closed> static __device__ __forceinline__ void spread(u64 *x, u32 *ends, u32 *count, Row r, const u32 *t, u64 y, u32 lane) {
	for (u32 e = lane; e < (r.degree + 31 & ~31u); e += 32) {
		u64 z = e < r.degree ? closed ? y * power(t[e], closed) : y : 0;
		u32 v = z ? r.at[e] : 0;
		bool first = z && atomicAdd(x + v, z) == 0;
		u32 m = __ballot_sync(ALL, first);
		if (m == 0)
			continue;
		u32 at = lane == 0 ? atomicAdd(count, (u32)__popc(m)) : 0;
		at = __shfl_sync(ALL, at, 0);
		if (first)
			ends[at + __popc(m & ((1u << lane) - 1))] = v;
	}
}

static __device__ __forceinline__ Sum times(Sum a, Sum b) {
	Sum c = {a.lo * b.lo, __umul64hi(a.lo, b.lo) + a.lo * b.hi + a.hi * b.lo};
	return c;
}

// The block's sum, for its first thread.
static __device__ Sum block_sum(Sum s, Sum *room) {
	for (int d = 16; d > 0; d >>= 1) {
		u64 lo = __shfl_down_sync(ALL, s.lo, d), hi = __shfl_down_sync(ALL, s.hi, d);
		add(s, lo);
		s.hi += hi;
	}
	__syncthreads();
	if ((threadIdx.x & 31) == 0)
		room[threadIdx.x >> 5] = s;
	__syncthreads();
	if (threadIdx.x == 0)
		for (u32 i = 1; i < blockDim.x >> 5; i++) {
			add(s, room[i].lo);
			s.hi += room[i].hi;
		}
	return s;
}

extern "C" __global__ void __launch_bounds__(512) saga_maps(const Row *rows, u64 *state, u64 *next, u64 lo, u64 hi, u64 step, u64 vertices,
		u64 most, const u64 *first, const u32 *closed, const u64 *shareds, u64 *scratch, u64 words, Sum *out) {
	extern __shared__ u32 shared[];
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
	u64 *taken = (u64 *)shared;
	Sum *room = (Sum *)(taken + 2);
	u32 *count = (u32 *)(room + warps);
	u64 *own = scratch + blockIdx.x * words, half = (vertices + 1) / 2;
	Sum sum = {0, 0};
	(void)lane; (void)warp; (void)first; (void)closed; (void)shareds; (void)half; (void)room;
	for (;;) {
		__syncthreads();
		if (threadIdx.x == 0)
			*taken = next_task(state, next, lo, hi, step);
		if (threadIdx.x < NODES)
			count[threadIdx.x] = 0;
		__syncthreads();
		if (*taken == ~0ull)
			break;
		u32 a = (u32)(vertices - 1 - *taken);
		Row root = rows[a];
		if (root.degree == 0)
			continue;
