
typedef long long ll;
typedef unsigned u32;
extern "C" __global__ void __launch_bounds__(256) saga_take(float4 *__restrict__ to, const float4 *__restrict__ table, const unsigned *__restrict__ ids, ll n, ll words) {
	const ll all = n * words, step = gridDim.x * 256ll;
	for (ll i = blockIdx.x * 256ll + threadIdx.x; i < all; i += 4 * step) {
		float4 x[4];
#pragma unroll
		for (int k = 0; k < 4; k++) {
			const ll at = i + k * step;
			if (at < all) {
				const ll row = all < 1ll << 31 ? (unsigned)at / (unsigned)words : at / words;
				x[k] = __ldg(table + ids[row] * words + (at - row * words));
			}
		}
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (i + k * step < all) to[i + k * step] = x[k];
	}
}

extern "C" __global__ void __launch_bounds__(256) saga_degrees(float *__restrict__ to, const unsigned *__restrict__ ptr, ll n, ll inverse) {
	for (ll i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
		const unsigned d = ptr[i + 1] - ptr[i];
		to[i] = inverse ? 1.f / (float)max(d, 1u) : (float)d;
	}
}

extern "C" __global__ void __launch_bounds__(256) saga_turn_count(unsigned *__restrict__ ends, const unsigned *__restrict__ far, ll edges) {
	for (ll e = blockIdx.x * 256ll + threadIdx.x; e < edges; e += gridDim.x * 256ll) atomicAdd(ends + far[e], 1u);
}

// The same number of rows, a multiple of 4096, is for each block but the last: the sum of their counts.
extern "C" __global__ void __launch_bounds__(1024) saga_turn_part(const unsigned *__restrict__ ends, ll rows, ll each, unsigned *__restrict__ parts) {
	extern __shared__ u32 shared[];
	u32 *const sums = shared;
	const ll end = (blockIdx.x + 1) * each, upto = rows < end ? rows : end;
	unsigned sum = 0;
	for (ll at = blockIdx.x * each + threadIdx.x; at < upto; at += 1024) sum += ends[at];
	for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
	if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
	__syncthreads();
	if (threadIdx.x != 0) return;
	sum = 0;
	for (int w = 0; w < 32; w++) sum += sums[w];
	parts[blockIdx.x] = sum;
}

// Counts become where each far end's places end; the blocks' rows are those of saga_turn_part.
extern "C" __global__ void __launch_bounds__(1024) saga_turn_sum(unsigned *ends, ll rows, ll each, const unsigned *__restrict__ parts, ll edges) {
	constexpr int EACH = 4;
	extern __shared__ u32 shared[];
	u32 *const sums = shared;
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const ll end = (blockIdx.x + 1) * each, last = rows < end ? rows : end;
	unsigned before = 0;
	for (unsigned b = 0; b < blockIdx.x; b++) before += parts[b];
	for (ll from = blockIdx.x * each; from < last; from += 1024 * EACH) {
		const ll at = from + threadIdx.x * EACH;
		unsigned x[EACH], sum = 0;
#pragma unroll
		for (int k = 0; k < EACH; k++) {
			sum += at + k < last ? ends[at + k] : 0;
			x[k] = sum;
		}
		unsigned upto = sum;
		for (int d = 1; d < 32; d *= 2) {
			const unsigned y = __shfl_up_sync(0xffffffffu, upto, d);
			if (lane >= d) upto += y;
		}
		if (lane == 31) sums[warp] = upto;
		__syncthreads();
		unsigned own = before + upto - sum, all = 0;
		for (int w = 0; w < 32; w++) {
			own += w < warp ? sums[w] : 0;
			all += sums[w];
		}
		__syncthreads();
#pragma unroll
		for (int k = 0; k < EACH; k++)
			if (at + k < last) ends[at + k] = own + x[k];
		before += all;
	}
	if (blockIdx.x == 0 && threadIdx.x == 0) ends[rows] = (unsigned)edges;
}

extern "C" __global__ void __launch_bounds__(256) saga_turn_put(unsigned *ends, const unsigned *__restrict__ far, ll edges, unsigned *__restrict__ room) {
	for (ll e = blockIdx.x * 256ll + threadIdx.x; e < edges; e += gridDim.x * 256ll) room[atomicSub(ends + far[e], 1u) - 1] = (unsigned)e;
}

extern "C" __global__ void __launch_bounds__(256) saga_turn_order(const unsigned *__restrict__ begins, const unsigned *__restrict__ far, ll edges,
		const unsigned *__restrict__ room, const unsigned *__restrict__ ptr, ll rows, unsigned *__restrict__ other, const unsigned *__restrict__ number,
		unsigned *to0, const unsigned *__restrict__ table0, unsigned *to1, const unsigned *__restrict__ table1, unsigned *to2, const unsigned *__restrict__ table2) {
	for (ll i = blockIdx.x * 256ll + threadIdx.x; i < edges; i += gridDim.x * 256ll) {
		const unsigned e = room[i], v = far[e], lo = begins[v], hi = begins[v + 1];
		unsigned rank = 0;
		for (unsigned j = lo; j < hi; j++) rank += room[j] < e;
		ll a = 0, b = rows; // the last row that begins at e or before, of those that have edges
		while (b - a > 1) {
			const ll m = (a + b) / 2;
			if (ptr[m] <= e) a = m; else b = m;
		}
		other[lo + rank] = (unsigned)a;
		if (to0) to0[lo + rank] = table0[number[e]];
		if (to1) to1[lo + rank] = table1[number[e]];
		if (to2) to2[lo + rank] = table2[number[e]];
	}
}

extern "C" __global__ void __launch_bounds__(256) saga_pick(ll edges, const unsigned *__restrict__ number,
		unsigned *to0, const unsigned *__restrict__ table0, unsigned *to1, const unsigned *__restrict__ table1, unsigned *to2, const unsigned *__restrict__ table2) {
	for (ll i = blockIdx.x * 256ll + threadIdx.x; i < edges; i += gridDim.x * 256ll) {
		const unsigned e = number[i];
		if (to0) to0[i] = table0[e];
		if (to1) to1[i] = table1[e];
		if (to2) to2[i] = table2[e];
	}
}
