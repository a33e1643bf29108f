
extern "C" __global__ void __launch_bounds__(256) saga_begin(u32 *b, const u32 *seeds, u64 *table, u32 *vertices) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = b[SIZE];
	if (i < n) {
		u32 v = seeds[i];
		vertices[i] = v;
		atomicMax(table + v, marked(b[TAG], i));
	}
	if (i == 0)
		b[COUNT] = n;
}

extern "C" __global__ void __launch_bounds__(256) saga_mark(u32 *b, u64 hop, const u32 *list, u64 m, u64 *table, u64 start) {
	u32 e = blockIdx.x * blockDim.x + threadIdx.x;
	if (e < m)
		atomicMax(table + list[e], marked(b[TAG], (u32)start + e));
	if (e == 0)
		b[EDGES + hop] = m;
}
