
// Four floats to shared memory, n of them from x on and zeros.
SAGA_INLINE void saga_four(float *to, const float *x, int n) {
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(x), "r"(4 * n));
#else
	for (int e = 0; e < 4; e++) to[e] = e < n ? x[e] : 0.f;
#endif
}
#if __CUDA_ARCH__ >= 800
SAGA_INLINE void saga_mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], float c0, float c1, float c2, float c3) {
	asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
		: "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
		: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c0), "f"(c1), "f"(c2), "f"(c3));
}
SAGA_INLINE void saga_halves(float x, unsigned &hi, unsigned &lo) {
	hi = __float_as_uint(x) + 0x1000u & 0xffffe000u;
	lo = __float_as_uint(x - __uint_as_float(hi));
}
// hi where lo is not multiplied: what is no number, with all bits set, has become 0 there, and lo has it.
SAGA_INLINE unsigned saga_alone(unsigned hi, unsigned lo) { return hi << 1 == 0 && __uint_as_float(lo) != __uint_as_float(lo) ? lo : hi; }
#endif

// A tile of 128×128 numbers of a product by 256 threads. Sixteen columns of a and rows of b come through shared memory at a
// time, two such steps ahead. A warp has 64×32 numbers: four rows of tiles of the tensor cores, each 16×8.
//
// saga_side is one operand on its way. Its rows are rows or columns of the result. With K the terms of a row lie side by side
// in memory, otherwise the rows of a term. Shared memory is laid out so that the lanes of a warp read different banks.
template <bool K> struct saga_side {
	const float *from, *other;
	ll step;
	int to, floats, left, left2;
	static __device__ __forceinline__ int at(int r, int k) {
		return K ? r * 16 + ((k >> 2 ^ (r >> 1 & 3)) << 2) + (k & 3) : k * 128 + ((r >> 3 ^ (k & 3)) << 3) + (r & 7);
	}
	// Of x: rows from r0 on, rows in all, terms from k0 to k1.
	__device__ __forceinline__ saga_side(const float *x, ll ld, ll r0, ll rows, ll k0, ll k1) {
		const int t = threadIdx.x;
		if (K) {
			const int r = t / 4, k = t % 4 * 4;
			to = at(r, k);
			floats = 4;
			left = r0 + r < rows ? (int)(k1 - k0) - k : 0;
			left2 = r0 + r + 64 < rows ? (int)(k1 - k0) - k : 0;
			from = x + (left > 0 ? (r0 + r) * ld + k0 + k : 0);
			other = x + (left2 > 0 ? (r0 + r + 64) * ld + k0 + k : 0);
			step = 16;
		} else {
			const int r = t % 32 * 4, k = t / 32;
			to = at(r, k);
			floats = (int)max(min(rows - r0 - r, 4ll), 0ll);
			left = floats ? (int)(k1 - k0) - k : 0;
			left2 = left - 8;
			from = x + (left > 0 ? (k0 + k) * ld + r0 + r : 0);
			other = x + (left2 > 0 ? (k0 + k + 8) * ld + r0 + r : 0);
			step = 16 * ld;
		}
	}
	// The next step's numbers to s, a thread two times four of them; what is behind the terms is zero.
	__device__ __forceinline__ void next(float *s) {
		saga_four(s + to, from, K ? max(min(left, 4), 0) : left > 0 ? floats : 0);
		saga_four(s + to + 1024, other, K ? max(min(left2, 4), 0) : left2 > 0 ? floats : 0);
		left -= 16;
		left2 -= 16;
		if (left > 0) from += step;
		if (left2 > 0) other += step;
	}
};

// Adds eight terms to acc, numbers i0.. and j0.. of the tile. Tensor cores take operands of 11 bits. x is hi + lo, both such, but for
// 2^-22 of x, and the product is the sum of hi·hi, hi·lo and lo·hi: tensor cores add the eight terms, and acc is added to in float32.
template <bool KA, bool KB, bool D> SAGA_INLINE void saga_eight(const float *as, const float *bs, int k, int i0, int j0, int tiles, bool split, float (&acc)[4][4][4]) {
	const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#if __CUDA_ARCH__ >= 800
	unsigned bh[4][2], bl[4][2];
#pragma unroll
	for (int j = 0; j < 4; j++)
#pragma unroll
		for (int e = 0; e < 2; e++) saga_halves(bs[saga_side<KB>::at(j0 + j * 8 + g, k + t + 4 * e)], bh[j][e], bl[j][e]);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		if (i >= tiles) break;
		unsigned ah[4], al[4];
#pragma unroll
		for (int e = 0; e < 4; e++) saga_halves(as[saga_side<KA>::at(i0 + i * 16 + g + e % 2 * 8, k + t + e / 2 * 4)], ah[e], al[e]);
		float d[4][4];
		if (D) {
#pragma unroll
			for (int j = 0; j < 4; j++) saga_mma(acc[i][j], al, bh[j], acc[i][j][0], acc[i][j][1], acc[i][j][2], acc[i][j][3]);
#pragma unroll
			for (int j = 0; j < 4; j++) saga_mma(acc[i][j], ah, bl[j], acc[i][j][0], acc[i][j][1], acc[i][j][2], acc[i][j][3]);
#pragma unroll
			for (int j = 0; j < 4; j++) saga_mma(acc[i][j], ah, bh[j], acc[i][j][0], acc[i][j][1], acc[i][j][2], acc[i][j][3]);
			continue;
		}
		if (split) {
#pragma unroll
			for (int j = 0; j < 4; j++) saga_mma(d[j], al, bh[j], 0.f, 0.f, 0.f, 0.f);
#pragma unroll
			for (int j = 0; j < 4; j++) saga_mma(d[j], ah, bl[j], d[j][0], d[j][1], d[j][2], d[j][3]);
#pragma unroll
			for (int j = 0; j < 4; j++) saga_mma(d[j], ah, bh[j], d[j][0], d[j][1], d[j][2], d[j][3]);
		} else {
#pragma unroll
			for (int e = 0; e < 4; e++) ah[e] = saga_alone(ah[e], al[e]);
#pragma unroll
			for (int j = 0; j < 4; j++) {
				const unsigned b[2] = {saga_alone(bh[j][0], bl[j][0]), saga_alone(bh[j][1], bl[j][1])};
				saga_mma(d[j], ah, b, 0.f, 0.f, 0.f, 0.f);
			}
		}
#pragma unroll
		for (int e = 0; e < 16; e++) acc[i][e / 4][e % 4] += d[e / 4][e % 4];
	}
#else
	for (int i = 0; i < tiles; i++)
		for (int j = 0; j < 4; j++)
			for (int e = 0; e < 4; e++)
				for (int q = 0; q < 8; q++)
					acc[i][j][e] = fmaf(as[saga_side<KA>::at(i0 + i * 16 + g + e / 2 * 8, k + q)], bs[saga_side<KB>::at(j0 + j * 8 + 2 * t + e % 2, k + q)], acc[i][j][e]);
#endif
}

// The place of a thread in the tile: the first row and column of its warp. Where the result ends in the tile, the four parts of
// a processor have equally much to do.
SAGA_INLINE int saga_warp_row() { return (threadIdx.x / 32 ^ threadIdx.x / 128) % 2 * 64; }
SAGA_INLINE int saga_warp_col() { return (threadIdx.x / 128 * 2 + threadIdx.x / 64 % 2) * 32; }

SAGA_INLINE void saga_nothing(float (&acc)[4][4][4]) {
#pragma unroll
	for (int e = 0; e < 64; e++) acc[e / 16][e / 4 % 4][e % 4] = 0.f;
}
#define SAGA_TILE __shared__ __align__(16) float as[3][2048], bs[3][2048]; float acc[4][4][4]; saga_nothing(acc)

// Adds the terms from k0 to k1 of a tile of m×n numbers to acc; each(s, steps, b) follows every sixteen, of which b has those of b.
template <bool KA, bool KB, bool D, class F> SAGA_INLINE void saga_tile(const float *a, ll lda, const float *b, ll ldb, ll m, ll n, ll k0, ll k1, ll m0, ll n0, bool split, float (*as)[2048], float (*bs)[2048], float (&acc)[4][4][4], F each) {
	const int i0 = saga_warp_row(), j0 = saga_warp_col(), steps = (int)((k1 - k0 + 15) / 16);
	const int tiles = n0 + j0 < n ? (int)min((m - m0 - i0 + 15) / 16, 4ll) : 0;
	saga_side<KA> sa(a, lda, m0, m, k0, k1);
	saga_side<KB> sb(b, ldb, n0, n, k0, k1);
	const auto fetch = [&](int s, int to) {
		if (s < steps) {
			sa.next(as[to]);
			sb.next(bs[to]);
		}
#if __CUDA_ARCH__ >= 800
		asm volatile("cp.async.commit_group;");
#endif
	};
	__syncthreads(); // no thread reads what was there
	fetch(0, 0);
	fetch(1, 1);
	int at = 0, to = 2;
	for (int s = 0; s < steps; s++) {
#if __CUDA_ARCH__ >= 800
		asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
		__syncthreads();
		fetch(s + 2, to);
		saga_eight<KA, KB, D>(as[at], bs[at], 0, i0, j0, tiles, split, acc);
		if (k0 + s * 16 + 8 < k1) saga_eight<KA, KB, D>(as[at], bs[at], 8, i0, j0, tiles, split, acc);
		each(s, steps, bs[at]);
		at = at == 2 ? 0 : at + 1;
		to = to == 2 ? 0 : to + 1;
	}
}

// Rows as saga_load and saga_store have them, two columns at a time. A warp that is here has all 32 columns if W is a multiple.
template <int G, int V, int N, int W, bool VEC> SAGA_INLINE void saga_two_load(const float *p, int base, int lane, float (&r)[N]) {
#pragma unroll
	for (int q = 0; q < N / 2; q++) {
		const int c = base + (q * G + lane) * 2;
		if (VEC) {
			const float2 v = W % 32 == 0 || c < W ? *(const float2 *)(p + c) : make_float2(0.f, 0.f);
			r[2 * q] = v.x; r[2 * q + 1] = v.y;
		} else {
			r[2 * q] = c < W ? p[c] : 0.f; r[2 * q + 1] = c + 1 < W ? p[c + 1] : 0.f;
		}
	}
}
template <int G, int V, int N, int W, bool VEC> SAGA_INLINE void saga_two_store(float *p, int base, int lane, const float (&r)[N]) {
#pragma unroll
	for (int q = 0; q < N / 2; q++) {
		const int c = base + (q * G + lane) * 2;
		if (VEC && (W % 32 == 0 || c + 2 <= W)) {
			*(float2 *)(p + c) = make_float2(r[2 * q], r[2 * q + 1]);
		} else {
			if (c < W) p[c] = r[2 * q];
			if (c + 1 < W) p[c + 1] = r[2 * q + 1];
		}
	}
}

// The same, four columns at a time. A group that is here has all 32 columns if W is a multiple.
template <int G, int V, int N, int W, bool VEC> SAGA_INLINE void saga_four_load(const float *p, int base, int lane, float (&r)[N]) {
#pragma unroll
	for (int q = 0; q < N / 4; q++) {
		const int c = base + (q * G + lane) * 4;
		if (VEC) {
			const float4 v = W % 32 == 0 || c < W ? *(const float4 *)(p + c) : make_float4(0.f, 0.f, 0.f, 0.f);
			r[4 * q] = v.x; r[4 * q + 1] = v.y; r[4 * q + 2] = v.z; r[4 * q + 3] = v.w;
		} else {
#pragma unroll
			for (int e = 0; e < 4; e++) r[4 * q + e] = c + e < W ? p[c + e] : 0.f;
		}
	}
}
template <int G, int V, int N, int W, bool VEC> SAGA_INLINE void saga_four_store(float *p, int base, int lane, const float (&r)[N]) {
#pragma unroll
	for (int q = 0; q < N / 4; q++) {
		const int c = base + (q * G + lane) * 4;
		if (VEC && (W % 32 == 0 || c + 4 <= W)) {
			__stcg((float4 *)(p + c), make_float4(r[4 * q], r[4 * q + 1], r[4 * q + 2], r[4 * q + 3]));
		} else {
#pragma unroll
			for (int e = 0; e < 4; e++) if (c + e < W) p[c + e] = r[4 * q + e];
		}
	}
}

// The sums of rows of Aᵀ·B, a range a block, as saga_product has them (product_sums.cu), and of b to columns, two a range, if it is there.
SAGA_INLINE void saga_tile_sums(const float *a, ll lda, const float *b, ll ldb, ll rows, ll m, ll n, ll each, float *part, float *columns) {
	const int across = (int)((n + 127) / 128);
	const ll m0 = blockIdx.x / across * 128, n0 = blockIdx.x % across * 128, lo = blockIdx.y * each, hi = min(rows, lo + each), ld = (n + 3) / 4 * 4;
	const ll r0 = m0 + saga_warp_row() + threadIdx.x % 32 / 4, c0 = n0 + saga_warp_col() + threadIdx.x % 4 * 2;
	part += (blockIdx.y * m + r0) * ld + c0;
	const bool beside = columns && m0 == 0;
	float chain = 0.f, sum = 0.f;
	SAGA_TILE;
	saga_tile<false, false, true>(a, lda, b, ldb, m, n, lo, hi, m0, n0, true, as, bs, acc, [&](int s, int steps, const float *row) {
		if (beside)
#pragma unroll
			for (int k = 0; k < 8; k++) chain += row[saga_side<false>::at(threadIdx.x % 128, threadIdx.x / 128 * 8 + k)];
		if (s % 32 != 31 && s != steps - 1) return;
		sum += chain;
		chain = 0.f;
#pragma unroll
		for (int e = 0; e < 32; e++) {
			const int i = e / 8, h = e / 4 % 2, j = e % 4;
			float2 *p = (float2 *)(part + (i * 16 + h * 8) * ld + j * 8);
			if (r0 + i * 16 + h * 8 < m && c0 + j * 8 < ld) {
				float2 y = s >= 32 ? *p : make_float2(0.f, 0.f);
				y.x += acc[i][j][2 * h];
				y.y += acc[i][j][2 * h + 1];
				*p = y;
			}
			acc[i][j][2 * h] = acc[i][j][2 * h + 1] = 0.f;
		}
	});
	const ll c = n0 + threadIdx.x % 128;
	if (beside && c < ld) columns[(blockIdx.y * 2 + threadIdx.x / 128) * ld + c] = sum;
}
