
template <int TM, int N, bool V> SAGA_INLINE void saga_product_thin(const float *a, ll lda, const float *b, ll ldb, ll rows, ll m, ll n, ll each, float *part) {
	constexpr int L = TM / 4, G = 4, CHAIN = 512;
	__shared__ __align__(16) float sums[G - 1][4 * N][L];
	const int lane = threadIdx.x % L, group = threadIdx.x / L;
	const ll m0 = blockIdx.x * (ll)TM + lane * 4;
	const ll lo = blockIdx.y * each, hi = min(rows, lo + each);
	float all[4 * N];
#pragma unroll
	for (int e = 0; e < 4 * N; e++) all[e] = 0.f;
	if (m0 < m) for (ll begin = lo; begin < hi; begin += G * CHAIN) {
		float acc[4 * N];
#pragma unroll
		for (int e = 0; e < 4 * N; e++) acc[e] = 0.f;
		const int left = (int)(min(hi, begin + G * CHAIN) - begin);
		const float *x = a + begin * lda + m0, *y = b + begin * ldb;
#pragma unroll 4
		for (int r = group; r < left; r += G) {
			float u[4], v[N];
			*(float4 *)u = *(const float4 *)(x + r * lda);
#pragma unroll
			for (int j = 0; j < N; j += 4) {
				if (V) {
					*(float4 *)(v + j) = *(const float4 *)(y + r * ldb + j);
				} else {
#pragma unroll
					for (int e = j; e < j + 4; e++) v[e] = e < n ? y[r * ldb + e] : 0.f;
				}
			}
#pragma unroll
			for (int e = 0; e < 4 * N; e++) acc[e] = fmaf(u[e / N], v[e % N], acc[e]);
		}
#pragma unroll
		for (int e = 0; e < 4 * N; e++) all[e] += acc[e];
	}
	if (group > 0) {
#pragma unroll
		for (int e = 0; e < 4 * N; e++) sums[group - 1][e][lane] = all[e];
	}
	__syncthreads();
	if (group > 0) return;
#pragma unroll
	for (int g = 0; g < G - 1; g++) {
#pragma unroll
		for (int e = 0; e < 4 * N; e++) all[e] += sums[g][e][lane];
	}
	const ll ld = (n + 3) / 4 * 4;
	part += (blockIdx.y * m + m0) * ld;
#pragma unroll
	for (int e = 0; e < 4 * N; e++) {
		if (m0 + e / N < m && e % N < ld) part[e / N * ld + e % N] = all[e];
	}
}
