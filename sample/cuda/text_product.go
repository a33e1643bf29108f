package cuda

// numberText is what kernels of rows share: a Number of a row is a float or, with HALF, a bfloat16.
const numberText = `
typedef unsigned short u16;
#if HALF
typedef u16 Number;
#else
typedef float Number;
#endif

static __device__ __forceinline__ u32 rounded(float x) { // to the nearest bfloat16, ties to even
	u32 b = (u32)__float_as_int(x);
	return (b + 0x7fffu + ((b >> 16) & 1)) >> 16;
}
static __device__ __forceinline__ float widened(u32 b) { return __int_as_float(b << 16); }

// Four numbers, of which the first lies at a multiple of four.
static __device__ __forceinline__ float4 get4(const float *p) { return *(const float4 *)p; }
static __device__ __forceinline__ float4 get4(const u16 *p) {
	uint2 b = *(const uint2 *)p;
	float4 x = {widened(b.x), __int_as_float(b.x & 0xffff0000u), widened(b.y), __int_as_float(b.y & 0xffff0000u)};
	return x;
}
static __device__ __forceinline__ void set4(float *p, float4 x) { *(float4 *)p = x; }
static __device__ __forceinline__ void set4(u16 *p, float4 x) {
	uint2 b = {rounded(x.x) | rounded(x.y) << 16, rounded(x.z) | rounded(x.w) << 16};
	*(uint2 *)p = b;
}
static __device__ __forceinline__ void set(float *p, float x) { *p = x; }
static __device__ __forceinline__ void set(u16 *p, float x) { *p = (u16)rounded(x); }
`

// productText is to = a·b of rows×inner and inner×cols numbers, all row-major, in 32 bits. To has ld numbers a row. A number
// of the product is summed in the order of inner, however many rows there are: a library's product picks its kernel by
// sizes, and its bits with it. A block of 256 threads makes 128×128 numbers, a thread 8×8 of them, in four corners.
const productText = `
#define SIDE 128 // of a block's numbers
#define DEEP 16  // of the inner numbers that lie in shared memory at a time
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

template <class T> static __device__ __forceinline__ void product(const float *a, const float *b, T *to, u64 rows, u64 inner, u64 cols, u64 ld, u32 *shared) {
	float *as = (float *)shared, *bs = as + DEEP * LINE; // a's part transposed
	u32 t = threadIdx.x, across = ((u32)cols + SIDE - 1) / SIDE, in = (u32)inner, n = (u32)cols;
	u64 row0 = (u64)(blockIdx.x / across) * SIDE;
	u32 col0 = blockIdx.x % across * SIDE, ty = t / 16 * 4, tx = t % 16 * 4;
	float sum[8][8];
	#pragma unroll
	for (u32 i = 0; i < 8; i++)
		#pragma unroll
		for (u32 j = 0; j < 8; j++)
			sum[i][j] = 0;
	float4 na[2], nb[2];
	// A thread brings four inner numbers of two rows of a, and four columns of two rows of b.
	#pragma unroll
	for (u32 h = 0; h < 2; h++) {
		u64 r = row0 + t / 4 + 64 * h;
		float4 none = {0, 0, 0, 0};
		na[h] = r < rows ? four(a + r * inner, t % 4 * 4, in) : none;
		nb[h] = t / 32 + 8 * h < in ? four(b + (u64)(t / 32 + 8 * h) * cols, col0 + t % 32 * 4, n) : none;
	}
	for (u32 k0 = 0; k0 < in; k0 += DEEP) {
		__syncthreads();
		#pragma unroll
		for (u32 h = 0; h < 2; h++) {
			u32 r = t / 4 + 64 * h, k = t % 4 * 4;
			as[k * LINE + r] = na[h].x;
			as[(k + 1) * LINE + r] = na[h].y;
			as[(k + 2) * LINE + r] = na[h].z;
			as[(k + 3) * LINE + r] = na[h].w;
			*(float4 *)(bs + (t / 32 + 8 * h) * SIDE + t % 32 * 4) = nb[h];
		}
		__syncthreads();
		#pragma unroll
		for (u32 h = 0; h < 2; h++) { // what comes next, while this is added
			u64 r = row0 + t / 4 + 64 * h;
			u32 k = k0 + DEEP + t / 32 + 8 * h;
			float4 none = {0, 0, 0, 0};
			na[h] = r < rows ? four(a + r * inner, k0 + DEEP + t % 4 * 4, in) : none;
			nb[h] = k < in ? four(b + (u64)k * cols, col0 + t % 32 * 4, n) : none;
		}
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
	bool whole = ((cols | ld) & 3) == 0 && ((u64)to & 15) == 0;
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

extern "C" __global__ void __launch_bounds__(256) saga_product(const float *a, const float *b, float *to, u64 rows, u64 inner, u64 cols, u64 ld) {
	extern __shared__ u32 shared[];
	product(a, b, to, rows, inner, cols, ld, shared);
}

// The same into rows of Numbers.
extern "C" __global__ void __launch_bounds__(256) saga_product_rows(const float *a, const float *b, Number *to, u64 rows, u64 inner, u64 cols, u64 ld) {
	extern __shared__ u32 shared[];
	product(a, b, to, rows, inner, cols, ld, shared);
}
`

// productSide is SIDE, and productShared the shared memory of a block in bytes.
const (
	productSide   = 128
	productShared = 4 * 16 * (productSide + 4 + productSide)
)
