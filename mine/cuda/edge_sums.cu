
extern "C" __global__ void __launch_bounds__(256) saga_edge_sums(const Row *rows, const u32 *degree, u64 vertices, u64 start, u64 step,
		u64 base, const u64 *first, const u32 *t, Sum *out) {
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	Sum thrice = {0, 0}, pairs = {0, 0}, tails = {0, 0}, paths = {0, 0};
	u64 stride = (u64)gridDim.x * (blockDim.x >> 5) * step;
	for (u64 u = start + (blockIdx.x * (u64)(blockDim.x >> 5) + warp) * step; u < vertices; u += stride) {
		Above r = above(rows[u]);
		u32 du = degree[u];
		for (u32 i = lane; i < r.n; i += 32) {
			u64 dv = degree[member(r, i, base)], c = t ? t[first[u] + i] : 0;
			add(thrice, c);
			if (c) {
				add(pairs, c * (c - 1) / 2);
				add_product(tails, c, du + dv - 4);
			}
			add_product(paths, du - 1, dv - 1);
		}
	}
	u64 all = gridDim.x * (u64)(blockDim.x >> 5);
	finish(thrice, out);
	finish(pairs, out + all);
	finish(tails, out + 2 * all);
	finish(paths, out + 3 * all);
}
