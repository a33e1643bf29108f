
// Products in float32 by groups of four warps. An operand is the sum of two numbers of 11 bits (products.cu), and three of the four products of these are added.
// The tensor cores cut the second off to so many bits themselves. What is no number has no first one that is none, but then the second is none.
// The tensor cores add 32 terms; these sums are added in float32. Two groups have 64 rows each of a tile of 128; the warps beside them copy
// rows ahead, and divide the matrix into halves on the way to shared memory.
#ifdef SAGA_GROUPS
SAGA_INLINE float saga_half(float x) { return __uint_as_float(__float_as_uint(x) + 0x1000u & 0xffffe000u); }
SAGA_INLINE void saga_put_halves(unsigned hi, unsigned lo, int row, int place, float x, float y, float z, float w) {
	const int at = row * 128 + ((place ^ row & 7) << 4);
	const float a = saga_half(x), b = saga_half(y), c = saga_half(z), d = saga_half(w);
	asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" :: "r"(hi + at), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
	asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" :: "r"(lo + at), "f"(x - a), "f"(y - b), "f"(z - c), "f"(w - d) : "memory");
}
// Adds 32 terms to d: those of 64 rows lie at a as an operand does.
template <int D> SAGA_INLINE void saga_halves_terms(float (&d)[D], unsigned a, unsigned hi, unsigned lo) {
	const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane % 16;
	unsigned x[4][4], y[4][4];
#pragma unroll
	for (int k = 0; k < 4; k++)
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(x[k][0]), "=r"(x[k][1]), "=r"(x[k][2]), "=r"(x[k][3])
			: "r"(a + row * 128 + ((2 * k + lane / 16 ^ row & 7) << 4)) : "memory");
#pragma unroll
	for (int e = 0; e < 16; e++) {
		const float z = __uint_as_float(x[e / 4][e % 4]);
		x[e / 4][e % 4] = __float_as_uint(saga_half(z));
		y[e / 4][e % 4] = __float_as_uint(z - saga_half(z));
	}
	float part[D];
#pragma unroll
	for (int e = 0; e < 16; e++) asm volatile("" : "+r"(x[e / 4][e % 4]), "+r"(y[e / 4][e % 4]) :: "memory");
	saga_begin_group();
#pragma unroll
	for (int k = 0; k < 4; k++) {
		if (k) saga_group_mma(part, y[k], saga_operand(hi) + 2 * k);
		else saga_group_first(part, y[k], saga_operand(hi));
		saga_group_mma(part, x[k], saga_operand(lo) + 2 * k);
		saga_group_mma(part, x[k], saga_operand(hi) + 2 * k);
	}
	saga_end_group(part);
#pragma unroll
	for (int e = 0; e < D; e++) d[e] += part[e];
}

// A thread's share of 32 terms of B columns of a matrix, on its way: of items of four terms of a column or, unless the terms of a column lie side by side (T), of four.
template <bool T, int B> struct saga_share {
	static constexpr int items = T ? B / 16 : (B + 63) / 64, wide = T ? 1 : 4;
	float4 v[items][wide];
	__device__ __forceinline__ void load(const float *w, ll ld, int k0, int terms, int c0, int cols) {
		const int t = threadIdx.x % 128, k = k0 + t % 8 * 4;
#pragma unroll
		for (int i = 0; i < items; i++) {
			const int c = c0 + (t / 8 + i * 16) * wide;
#pragma unroll
			for (int j = 0; j < wide; j++)
				v[i][j] = (T || (t / 8 + i * 16) * 4 < B) && c < cols && k + j < terms ? __ldg((const float4 *)(w + (T ? c * ld + k : (k + j) * ld + c))) : make_float4(0.f, 0.f, 0.f, 0.f);
			if (T) { // what is behind the terms
				if (k + 1 >= terms) v[i][0].y = 0.f;
				if (k + 2 >= terms) v[i][0].z = 0.f;
				if (k + 3 >= terms) v[i][0].w = 0.f;
			}
		}
	}
	__device__ __forceinline__ void put(unsigned hi, unsigned lo) const {
		const int t = threadIdx.x % 128, k = t % 8;
#pragma unroll
		for (int i = 0; i < items; i++) {
			const int c = (t / 8 + i * 16) * wide;
			if (!T && c >= B) continue;
			if (T) {
				saga_put_halves(hi, lo, c, k, v[i][0].x, v[i][0].y, v[i][0].z, v[i][0].w);
			} else {
				saga_put_halves(hi, lo, c, k, v[i][0].x, v[i][wide / 2 - wide / 4].x, v[i][wide / 2].x, v[i][wide - 1].x);
				saga_put_halves(hi, lo, c + 1, k, v[i][0].y, v[i][wide / 2 - wide / 4].y, v[i][wide / 2].y, v[i][wide - 1].y);
				saga_put_halves(hi, lo, c + 2, k, v[i][0].z, v[i][wide / 2 - wide / 4].z, v[i][wide / 2].z, v[i][wide - 1].z);
				saga_put_halves(hi, lo, c + 3, k, v[i][0].w, v[i][wide / 2 - wide / 4].w, v[i][wide / 2].w, v[i][wide - 1].w);
			}
		}
	}
};
#endif

// n rows of B columns each of a·w, or of a·w + a2·w2, of K and K2 terms: each(i, n0, d, h) is as in saga_groups, but a lane has two columns
// of every eight side by side.
template <bool T, int B, int K, int K2, class F> SAGA_INLINE void saga_halves_product(const float *a, ll lda, const float *w, ll ldw, const float *a2, ll lda2, const float *w2, ll ldw2, ll n, int cols, F each) {
	const int across = (cols + B - 1) / B, n0 = blockIdx.x % across * B, tiles = (int)((n + 127) / 128), stride = (int)(gridDim.x / across);
	int tile = blockIdx.x / across;
#ifdef SAGA_GROUPS
	extern __shared__ __align__(1024) unsigned char ring[];
	constexpr int first = (K + 31) / 32, steps = first + (K2 + 31) / 32, bytes = 128 * 128 + 2 * B * 128, places = B > 64 ? 4 : 6;
	const unsigned base = saga_shared(ring) + 1023 & ~1023u, bars = base + places * bytes;
	int s = 0;
	unsigned phase = 0;
	saga_barriers(bars, places, 256, 256);
	if (threadIdx.x >= 256) {
		asm volatile("setmaxnreg.dec.sync.aligned.u32 136;");
		const int t = threadIdx.x - 256, chunk = t % 8, r0 = t / 8;
		saga_share<T, B> v;
		for (; tile < tiles; tile += stride) {
			const ll m0 = tile * 128ll;
			const int rows = (int)min(n - m0, 128ll);
#pragma unroll 1
			for (int q = 0; q < steps; q++) {
				const bool second = K2 && q >= first;
				const int k0 = (second ? q - first : q) * 32, terms = second ? K2 : K;
				v.load(second ? w2 : w, second ? ldw2 : ldw, k0, terms, n0, cols);
				saga_wait(bars + 16 * s + 8, phase ^ 1);
				const unsigned at = base + s * bytes, full = bars + 16 * s;
				const ll ld = second ? lda2 : lda;
				const int left = 4 * max(min(terms - k0 - chunk * 4, 4), 0);
				const float *x = (second ? a2 : a) + m0 * ld + k0 + chunk * 4;
#pragma unroll
				for (int r = r0; r < 128; r += 16) {
					const bool there = r < rows && left > 0;
					saga_copy(at + r * 128 + ((chunk ^ r & 7) << 4), there ? x + r * ld : a, there ? left : 0);
				}
				saga_arrive_copied(full);
				v.put(at + 128 * 128, at + 128 * 128 + B * 128);
				asm volatile("fence.proxy.async;" ::: "memory");
				saga_arrive(full);
				if (++s == places) s = 0, phase ^= 1;
			}
		}
		return;
	}
	asm volatile("setmaxnreg.inc.sync.aligned.u32 184;");
	const int group = threadIdx.x / 128;
	for (; tile < tiles; tile += stride) {
		float d[B / 2];
#pragma unroll
		for (int e = 0; e < B / 2; e++) d[e] = 0.f;
#pragma unroll 1
		for (int q = 0; q < steps; q++) {
			saga_wait(bars + 16 * s, phase);
			const unsigned at = base + s * bytes;
			saga_halves_terms(d, at + group * (64 * 128), at + 128 * 128, at + 128 * 128 + B * 128);
			saga_arrive(bars + 16 * s + 8);
			if (++s == places) s = 0, phase ^= 1;
		}
#pragma unroll
		for (int h = 0; h < 4; h += 2) each(tile * 128ll + group * 64 + saga_group_row() + h * 4, n0, d, h);
	}
#else
	for (; tile < tiles; tile += stride)
		for (int r = threadIdx.x / 4; r < 128; r += blockDim.x / 4) {
			const ll i = tile * 128ll + r;
			float d[B / 2];
			for (int e = 0; e < B / 2; e++) {
				const int col = n0 + e / 4 * 8 + threadIdx.x % 4 * 2 + e % 2;
				d[e] = 0.f;
				if (e % 4 > 1 || i >= n || col >= cols) continue;
				for (int k = 0; k < K; k++) d[e] = fmaf(a[i * lda + k], T ? w[col * ldw + k] : w[k * ldw + col], d[e]);
				for (int k = 0; k < K2; k++) d[e] = fmaf(a2[i * lda2 + k], T ? w2[col * ldw2 + k] : w2[k * ldw2 + col], d[e]);
			}
			each(i, n0, d, 0);
		}
#endif
}
