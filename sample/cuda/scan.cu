
// The sum of x over the block, which all threads get. room is one word a warp.
static __device__ __forceinline__ u32 block_sum(u32 x, u32 *room) {
	for (int d = 16; d > 0; d >>= 1)
		x += __shfl_down_sync(ALL, x, d);
	if ((threadIdx.x & 31) == 0)
		room[threadIdx.x >> 5] = x;
	__syncthreads();
	u32 sum = 0;
	for (u32 w = 0; w < THREADS / 32; w++)
		sum += room[w];
	__syncthreads();
	return sum;
}

// The sum of x over the threads before, and over all.
static __device__ __forceinline__ u32 block_scan(u32 x, u32 *room, u32 *all) {
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, sum = x;
	for (u32 d = 1; d < 32; d <<= 1) {
		u32 y = __shfl_up_sync(ALL, sum, d);
		if (lane >= d)
			sum += y;
	}
	if (lane == 31)
		room[warp] = sum;
	__syncthreads();
	u32 before = 0, total = 0;
	for (u32 w = 0; w < THREADS / 32; w++) {
		before += w < warp ? room[w] : 0;
		total += room[w];
	}
	__syncthreads();
	*all = total;
	return before + sum - x;
}
