
extern "C" __global__ void __launch_bounds__(256) saga_columns(const float *__restrict__ x, ll ld, ll rows, ll cols, float *part) {
	__shared__ float4 sm[256];
	const ll each = (rows + gridDim.x - 1) / gridDim.x, lo = blockIdx.x * each, hi = min(rows, lo + each);
	const int lane = threadIdx.x % 16, r0 = threadIdx.x / 16;
	const ll c = blockIdx.y * 64 + lane * 4;
	if (cols == 1) { // every thread has a number of a row
		float *all = (float *)sm, a = 0.f;
#pragma unroll 8
		for (ll r = lo + threadIdx.x; r < hi; r += 256) a += x[r * ld];
		all[threadIdx.x] = a;
		__syncthreads();
		for (int d = 128; d; d /= 2) {
			if (threadIdx.x < d) all[threadIdx.x] += all[threadIdx.x + d];
			__syncthreads();
		}
		if (threadIdx.x == 0) part[blockIdx.x] = all[0];
		return;
	}
	const bool vec = ld % 4 == 0 && (size_t)x % 16 == 0;
	float4 s = make_float4(0.f, 0.f, 0.f, 0.f);
	if (c < cols) {
		if (vec) {
#pragma unroll 4
			for (ll r = lo + r0; r < hi; r += 16) {
				const float4 v = *(const float4 *)(x + r * ld + c);
				s.x += v.x; s.y += v.y; s.z += v.z; s.w += v.w;
			}
		} else {
#pragma unroll 4
			for (ll r = lo + r0; r < hi; r += 16) {
				const float *v = x + r * ld + c;
				s.x += v[0];
				if (c + 1 < cols) s.y += v[1];
				if (c + 2 < cols) s.z += v[2];
				if (c + 3 < cols) s.w += v[3];
			}
		}
	}
	sm[threadIdx.x] = s;
	__syncthreads();
	for (int d = 8; d; d /= 2) {
		if (r0 < d) {
			const float4 v = sm[threadIdx.x + d * 16];
			float4 &t = sm[threadIdx.x];
			t.x += v.x; t.y += v.y; t.z += v.z; t.w += v.w;
		}
		__syncthreads();
	}
	if (r0 == 0) {
		const float *t = (const float *)(sm + lane);
		for (int k = 0; k < 4; k++) if (c + k < cols) part[blockIdx.x * cols + c + k] = t[k];
	}
}
extern "C" __global__ void __launch_bounds__(256) saga_columns_add(float *dst0, const float *__restrict__ part0, ll m0, ll n0, ll ld0, ll blocks0, ll carry0, float *dst1, const float *__restrict__ part1, ll m1, ll n1, ll ld1, ll blocks1, ll carry1, float *dst2, const float *__restrict__ part2, ll m2, ll n2, ll ld2, ll blocks2, ll carry2) {
	__shared__ double sm[256];
	float *dst = dst0;
	const float *part = part0;
	ll m = m0, n = n0, ld = ld0, blocks = blocks0, carry = carry0;
	if (blockIdx.y == 1) dst = dst1, part = part1, m = m1, n = n1, ld = ld1, blocks = blocks1, carry = carry1;
	if (blockIdx.y == 2) dst = dst2, part = part2, m = m2, n = n2, ld = ld2, blocks = blocks2, carry = carry2;
	const ll cols = m * n, c = blockIdx.x * 32 + threadIdx.x % 32;
	part += c / n * ld + c % n;
	double s = 0.;
	if (c < cols) {
#pragma unroll 8
		for (ll b = threadIdx.x / 32; b < blocks; b += 8) s += part[b * m * ld];
	}
	sm[threadIdx.x] = s;
	__syncthreads();
	if (threadIdx.x >= 32 || c >= cols) return;
	for (int k = 1; k < 8; k++) s += sm[threadIdx.x + 32 * k];
	if (!carry) { dst[c] += (float)s; return; }
	s += (double)dst[c] + (double)dst[cols + c];
	const float sum = (float)s, rest = (float)(s - (double)sum);
	dst[c] = sum;
	dst[cols + c] = rest - rest == 0.f ? rest : 0.f; // 0 behind an overflow
}
