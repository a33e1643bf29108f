
// Sixteen rows of W columns of x on their way to shared memory, T threads, four columns a
// thread and copy.
template <int T, int W, bool V> struct saga_rows {
	const float *from; // of the thread's first copy
	ll step;           // floats between two of its copies
	int floats, row, left;
	__device__ __forceinline__ saga_rows(const float *x, ll ld, ll lo, ll hi, ll c0, ll cols) {
		const int c = threadIdx.x % (W / 4) * 4;
		row = threadIdx.x / (W / 4);
		floats = (int)min(max((V ? ld : cols) - c0 - c, 0ll), 4ll);
		from = x + (lo + row) * ld + (floats ? c0 + c : 0);
		step = T * 4 / W * ld;
		left = (int)(hi - lo) - row;
	}
	__device__ __forceinline__ void next(float (&to)[16][W]) {
#pragma unroll
		for (int k = 0; k < 16; k += T * 4 / W) {
			const int n = k < left ? floats : 0;
			float *at = &to[row + k][threadIdx.x % (W / 4) * 4];
#if __CUDA_ARCH__ >= 800
			const unsigned s = (unsigned)__cvta_generic_to_shared(at);
			if (V) {
				asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(s), "l"(from), "r"(4 * n));
			} else {
				for (int e = 0; e < 4; e++)
					asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(s + 4 * e), "l"(from + (e < n ? e : 0)), "r"(e < n ? 4 : 0));
			}
#else
			for (int e = 0; e < 4; e++) at[e] = e < n ? from[e] : 0.f;
#endif
			from += step;
		}
		left -= 16;
	}
};
template <int TM, int TN, bool V> SAGA_INLINE void saga_product(const float *a, ll lda, const float *b, ll ldb, ll rows, ll m, ll n, ll each, float *part) {
	constexpr int T = TM / 8 * (TN / 8), S = 3;
	__shared__ __align__(16) float as[S][16][TM], bs[S][16][TN];
	const int across = (int)((n + TN - 1) / TN);
	const ll m0 = blockIdx.x / across * TM, n0 = blockIdx.x % across * TN;
	const ll lo = blockIdx.y * each, hi = min(rows, lo + each);
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	const int ly = lane / 2 % 2 + lane / 16 * 2, lx = lane % 2 + lane / 4 % 4 * 2;
	const int i0 = warp / (TN / 64) * 32 + ly * 4, j0 = warp % (TN / 64) * 64 + lx * 4;
	const int steps = (int)((hi - lo + 15) / 16);
	saga_rows<T, TM, V> ra(a, lda, lo, hi, m0, m);
	saga_rows<T, TN, V> rb(b, ldb, lo, hi, n0, n);
	const auto fetch = [&](int s, int to) {
		if (s < steps) {
			ra.next(as[to]);
			rb.next(bs[to]);
		}
#if __CUDA_ARCH__ >= 800
		asm volatile("cp.async.commit_group;");
#endif
	};
	const ll ld = (n + 3) / 4 * 4;
	part += (blockIdx.y * m + m0 + i0) * ld + n0 + j0;
	const int over = (int)min(m - m0 - i0, 32ll), beside = (int)min(ld - n0 - j0, 64ll);
	float acc[64];
#pragma unroll
	for (int e = 0; e < 64; e++) acc[e] = 0.f;
	fetch(0, 0);
	fetch(1, 1);
	int at = 0, to = 2;
	for (int s = 0; s < steps; s++) {
#if __CUDA_ARCH__ >= 800
		asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
		__syncthreads();
		fetch(s + 2, to);
#pragma unroll
		for (int k = 0; k < 16; k++) {
			float x[8], y[8];
			*(float4 *)x = *(const float4 *)&as[at][k][i0];
			*(float4 *)(x + 4) = *(const float4 *)&as[at][k][i0 + 16];
			*(float4 *)y = *(const float4 *)&bs[at][k][j0];
			*(float4 *)(y + 4) = *(const float4 *)&bs[at][k][j0 + 32];
#pragma unroll
			for (int e = 0; e < 64; e++) {
				const int i = e / 8, j = i % 2 ? 7 - e % 8 : e % 8;
				acc[i * 8 + j] = fmaf(x[i], y[j], acc[i * 8 + j]);
			}
		}
		at = at == S - 1 ? 0 : at + 1;
		to = to == S - 1 ? 0 : to + 1;
		if (s % 32 != 31 && s != steps - 1) continue;
		// The chain ends: two rows of the lane's numbers at a time.
#pragma unroll
		for (int i = 0; i < 8; i += 2) {
			float4 q[4];
#pragma unroll
			for (int h = 0; h < 4; h++) {
				const int r = i % 4 + h / 2 + i / 4 * 16, c = h % 2 * 32, e = (i + h / 2) * 8 + h % 2 * 4;
				q[h] = s >= 32 && r < over && c < beside ? *(const float4 *)(part + (ll)r * ld + c) : make_float4(0.f, 0.f, 0.f, 0.f);
				q[h].x += acc[e]; q[h].y += acc[e + 1]; q[h].z += acc[e + 2]; q[h].w += acc[e + 3];
			}
#pragma unroll
			for (int h = 0; h < 4; h++) {
				const int r = i % 4 + h / 2 + i / 4 * 16, c = h % 2 * 32;
				if (r < over && c < beside) *(float4 *)(part + (ll)r * ld + c) = q[h];
			}
		}
#pragma unroll
		for (int e = 0; e < 64; e++) acc[e] = 0.f;
	}
}
