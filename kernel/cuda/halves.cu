
// Products in float32 by groups of four warps. An operand is the sum of two numbers of 11 bits (products.cu), and three of the four products of these are added.
// The tensor cores cut the second off to so many bits themselves. What is no number has no first one that is none, but then the second is none.
// The tensor cores add 32 terms; these sums are added in float32. Two groups have 64 rows each of a tile of 128; the warps beside them copy
// rows ahead, and divide the matrix into halves on the way to shared memory.
#ifdef SAGA_GROUPS
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
	saga_group_halves(d, x, y, hi, lo);
}

// A thread's share of 32 terms of B columns of a matrix, on its way: of items of four terms of a column or, unless the terms of a column lie side by side (T), of four.
// What lies side by side is read at once (FOURS), or number by number.
template <bool T, bool FOURS, int B> struct saga_share {
	static constexpr int items = T ? B / 16 : (B + 63) / 64, wide = T ? 1 : 4;
	float4 v[items][wide];
	__device__ __forceinline__ void load(const float *w, ll ld, int k0, int terms, int c0, int cols) {
		const int t = threadIdx.x % 128, k = k0 + t % 8 * 4;
#pragma unroll
		for (int i = 0; i < items; i++) {
			const int c = c0 + (t / 8 + i * 16) * wide;
#pragma unroll
			for (int j = 0; j < wide; j++) {
				const bool there = (T || (t / 8 + i * 16) * 4 < B) && c < cols && k + j < terms;
				const float *p = w + (T ? c * ld + k : (k + j) * ld + c);
				const int left = T ? terms - k : cols - c;
				if (FOURS) v[i][j] = there ? __ldg((const float4 *)p) : make_float4(0.f, 0.f, 0.f, 0.f);
				else v[i][j] = make_float4(there ? __ldg(p) : 0.f, there && left > 1 ? __ldg(p + 1) : 0.f, there && left > 2 ? __ldg(p + 2) : 0.f, there && left > 3 ? __ldg(p + 3) : 0.f);
			}
			if (T && FOURS) { // what is behind the terms
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

// n rows of B columns each of a sum of products of K terms: each(i, n0, d, h) is as in saga_groups, but a lane has two columns
// of every eight side by side.
template <bool T, bool FOURS, int B, int... K, class F> SAGA_INLINE void saga_halves_product(const saga_factor *of, ll n, int cols, F each) {
	constexpr int all[] = {K...}, factors = sizeof...(K);
	const int across = (cols + B - 1) / B, n0 = blockIdx.x % across * B, tiles = (int)((n + 127) / 128), stride = (int)(gridDim.x / across);
	int tile = blockIdx.x / across;
#ifdef SAGA_GROUPS
	extern __shared__ __align__(1024) unsigned char ring[];
	constexpr int steps = saga_steps<K...>(factors), matrix = 2 * B * 128, room = 227000 - 128 * 128 * 4;
	constexpr bool kept = steps * matrix <= room; // a block keeps the matrices
	constexpr int bytes = 128 * 128 + (kept ? 0 : matrix), fit = (227000 - (kept ? steps * matrix : 0)) / bytes, places = fit < 6 ? fit : 6;
	const unsigned there = saga_shared(ring) + 1023 & ~1023u, base = there + (kept ? steps * matrix : 0), bars = base + places * bytes;
	int s = 0;
	unsigned phase = 0;
	saga_barriers(bars, places, kept ? 128 : 256, 256);
	if (kept) {
#pragma unroll 1
		for (int q = threadIdx.x / 128; q < steps; q += 3) {
			saga_factor f = of[0];
			int k0 = q * 32, terms = all[0];
#pragma unroll
			for (int j = 1; j < factors; j++)
				if (q >= saga_steps<K...>(j)) f = of[j], k0 = (q - saga_steps<K...>(j)) * 32, terms = all[j];
			saga_share<T, FOURS, B> v;
			v.load(f.w, f.ldw, k0, terms, n0, cols);
			v.put(there + q * matrix, there + q * matrix + B * 128);
		}
		asm volatile("fence.proxy.async;" ::: "memory");
		__syncthreads();
	}
	if (threadIdx.x >= 256) {
		asm volatile("setmaxnreg.dec.sync.aligned.u32 136;");
		const int t = threadIdx.x - 256, chunk = t % 8, r0 = t / 8;
		saga_share<T, FOURS, B> v;
		for (; tile < tiles; tile += stride) {
			const ll m0 = tile * 128ll;
			const int rows = (int)min(n - m0, 128ll);
#pragma unroll 1
			for (int q = 0; q < steps; q++) {
				saga_factor f = of[0];
				int k0 = q * 32, terms = all[0];
#pragma unroll
				for (int j = 1; j < factors; j++)
					if (q >= saga_steps<K...>(j)) f = of[j], k0 = (q - saga_steps<K...>(j)) * 32, terms = all[j];
				if (!kept) v.load(f.w, f.ldw, k0, terms, n0, cols);
				saga_wait(bars + 16 * s + 8, phase ^ 1);
				const unsigned at = base + s * bytes, full = bars + 16 * s;
				const int left = 4 * max(min(terms - k0 - chunk * 4, 4), 0);
				const float *x = f.a + m0 * f.lda + k0 + chunk * 4;
#pragma unroll
				for (int r = r0; r < 128; r += 16) {
					const bool there = r < rows && left > 0;
					saga_copy(at + r * 128 + ((chunk ^ r & 7) << 4), there ? x + r * f.lda : of[0].a, there ? left : 0);
				}
				saga_arrive_copied(full);
				if (!kept) {
					v.put(at + 128 * 128, at + 128 * 128 + B * 128);
					asm volatile("fence.proxy.async;" ::: "memory");
					saga_arrive(full);
				}
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
			const unsigned at = base + s * bytes, w = kept ? there + q * matrix : at + 128 * 128;
			saga_halves_terms(d, at + group * (64 * 128), w, w + B * 128);
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
				for (int j = 0; j < factors; j++)
					for (int k = 0; k < all[j]; k++) d[e] = fmaf(of[j].a[i * of[j].lda + k], T ? of[j].w[col * of[j].ldw + k] : of[j].w[k * of[j].ldw + col], d[e]);
			}
			each(i, n0, d, 0);
		}
#endif
}
