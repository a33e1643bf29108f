
// Entries of 16 bytes: far end, where its row begins, and its length.
extern "C" __global__ void __launch_bounds__(256) saga_widen(const u32 *offsets, const u32 *far, u32 *wide, u64 edges) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < edges; i += gridDim.x * (u64)blockDim.x) {
		u32 v = far[i], lo = offsets[v];
		uint4 x = {v, lo, offsets[v + 1] - lo, 0};
		((uint4 *)wide)[i] = x;
	}
}

// Entries of alias tables, of 32 bytes: below cut the edge's own end, else another place and its end.
extern "C" __global__ void __launch_bounds__(256) saga_widen_table(const u32 *offsets, const u32 *far, const u32 *table, u32 *wide, u64 vertices) {
	u64 warp = (blockIdx.x * (u64)blockDim.x + threadIdx.x) >> 5, warps = gridDim.x * (u64)blockDim.x >> 5;
	for (u64 u = warp; u < vertices; u += warps) {
		u32 begin = offsets[u], end = offsets[u + 1];
		for (u64 i = begin + (threadIdx.x & 31); i < end; i += 32) {
			uint2 a = ((const uint2 *)table)[i];
			u32 v = far[i], lo = offsets[v];
			uint4 own = {a.x, v, lo, offsets[v + 1] - lo}, other = {a.y, NONE, 0, 0};
			if (a.y != NONE) {
				v = far[begin + a.y];
				lo = offsets[v];
				other.y = v;
				other.z = lo;
				other.w = offsets[v + 1] - lo;
			}
			((uint4 *)wide)[2 * i] = own;
			((uint4 *)wide)[2 * i + 1] = other;
		}
	}
}

extern "C" __global__ void __launch_bounds__(256) saga_pairs(const u32 *far, const u32 *edge, u32 *pairs, u64 edges) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < edges; i += gridDim.x * (u64)blockDim.x) {
		uint2 x = {far[i], edge[i]};
		((uint2 *)pairs)[i] = x;
	}
}
