
#define SIDE 128 // of a block's numbers
#define DEEP 8   // of the inner numbers that lie in shared memory at a time
#define LINE (SIDE + 4)

// Four numbers of a row of n from column c on; 0 behind its end.
static __device__ __forceinline__ float4 four(const float *row, u32 c, u32 n) {
	float4 x = {0, 0, 0, 0};
	if ((n & 3) == 0)
		return c < n ? *(const float4 *)(row + c) : x;
	if (c < n)
		x.x = row[c];
	if (c + 1 < n)
		x.y = row[c + 1];
	if (c + 2 < n)
		x.z = row[c + 2];
	if (c + 3 < n)
		x.w = row[c + 3];
	return x;
}

// Block number block of a product.
template <class T> static __device__ __forceinline__ void product(const float *a, const float *b, T *to, u64 rows, u32 in, u32 n, u64 ld, u32 block, u32 *shared) {
	float *as = (float *)shared, *bs = as + DEEP * LINE; // a's part transposed
	u32 t = threadIdx.x, across = (n + SIDE - 1) / SIDE, col0 = block % across * SIDE, ty = t / 16 * 4, tx = t % 16 * 4;
	u64 row0 = (u64)(block / across) * SIDE;
	float sum[8][8];
	#pragma unroll
	for (u32 i = 0; i < 8; i++)
		#pragma unroll
		for (u32 j = 0; j < 8; j++)
			sum[i][j] = 0;
	// A thread brings four inner numbers of a row of a, and four columns of a row of b.
	u32 ar = t / 2, ak = t % 2 * 4, bk = t / 32, bc = t % 32 * 4;
	bool is = row0 + ar < rows;
	const float *from = a + (is ? row0 + ar : 0) * in;
	float4 none = {0, 0, 0, 0}, na = is ? four(from, ak, in) : none, nb = bk < in ? four(b + (u64)bk * n, col0 + bc, n) : none;
	for (u32 k0 = 0; k0 < in; k0 += DEEP) {
		__syncthreads();
		as[ak * LINE + ar] = na.x;
		as[(ak + 1) * LINE + ar] = na.y;
		as[(ak + 2) * LINE + ar] = na.z;
		as[(ak + 3) * LINE + ar] = na.w;
		*(float4 *)(bs + bk * SIDE + bc) = nb;
		__syncthreads();
		u32 next = k0 + DEEP; // which comes while this is added
		na = is ? four(from, next + ak, in) : none;
		nb = next + bk < in ? four(b + (u64)(next + bk) * n, col0 + bc, n) : none;
		#pragma unroll
		for (u32 k = 0; k < DEEP; k++) {
			float x[8], y[8];
			*(float4 *)x = *(const float4 *)(as + k * LINE + ty);
			*(float4 *)(x + 4) = *(const float4 *)(as + k * LINE + 64 + ty);
			*(float4 *)y = *(const float4 *)(bs + k * SIDE + tx);
			*(float4 *)(y + 4) = *(const float4 *)(bs + k * SIDE + 64 + tx);
			#pragma unroll
			for (u32 i = 0; i < 8; i++)
				#pragma unroll
				for (u32 j = 0; j < 8; j++)
					sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
		}
	}
	bool whole = ((n | ld) & 3) == 0 && ((u64)to & 15) == 0;
	#pragma unroll
	for (u32 i = 0; i < 8; i++) {
		u64 r = row0 + ty + i % 4 + i / 4 * 64;
		if (r >= rows)
			continue;
		#pragma unroll
		for (u32 h = 0; h < 2; h++) {
			u32 c = col0 + tx + 64 * h;
			float4 x = {sum[i][4 * h], sum[i][4 * h + 1], sum[i][4 * h + 2], sum[i][4 * h + 3]};
			if (whole && c < n)
				set4(to + r * ld + c, x);
			#pragma unroll
			for (u32 j = 0; j < 4; j++)
				if (!whole && c + j < n)
					set(to + r * ld + c + j, sum[i][4 * h + j]);
		}
	}
}

extern "C" __global__ void __launch_bounds__(256, 2) saga_product(const float *a, const float *b, Number *to, u64 rows, u64 inner, u64 cols, u64 ld) {
	extern __shared__ u32 shared[];
	product(a, b, to, rows, (u32)inner, (u32)cols, ld, blockIdx.x, shared);
}

// Two products side by side: [a·b, a2·b2].
extern "C" __global__ void __launch_bounds__(256, 2) saga_products(const float *a, const float *b, const float *a2, const float *b2, float *to, u64 rows, u64 inner, u64 cols, u64 cols2, u64 ld) {
	extern __shared__ u32 shared[];
	u32 first = ((u32)cols + SIDE - 1) / SIDE * (u32)((rows + SIDE - 1) / SIDE);
	bool second = blockIdx.x >= first;
	product(second ? a2 : a, second ? b2 : b, second ? to + cols : to, rows, (u32)inner, second ? (u32)cols2 : (u32)cols, ld, second ? blockIdx.x - first : blockIdx.x, shared);
}
