
extern "C" __global__ void __launch_bounds__(256) saga_cliques_warp(const Row *rows, const u32 *order, u64 *state,
		u64 lo, u64 hi, u64 step, u64 base, Sum *out) {
	extern __shared__ u32 shared[];
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	u32 *B = shared + 32 * warp;
	Sum sum = {0, 0};
	u64 stride = (u64)gridDim.x * (blockDim.x >> 5) * step;
	for (u64 task = lo + (blockIdx.x * (u64)(blockDim.x >> 5) + warp) * step; task < hi; task += stride) {
		if (__any_sync(ALL, stopped(state)))
			break;
		Above root = above(rows[order[task]]);
		u32 d = root.n, bits = 0;
		u32 x = lane < d ? member(root, lane, base) : 0;
		for (u32 i = 0; i + 1 < d; i++) {
			Above r = above(rows[__shfl_sync(ALL, x, i)]);
			u32 m = __ballot_sync(ALL, lane > i && lane < d && place_of(r, x, base) != ALL);
			if (lane == i)
				bits = m;
		}
