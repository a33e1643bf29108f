package cuda

// takeSource copies rows of a table. A thread has four words of the result at a time, which lie a block
// apart: reads of a warp are whole rows or parts of them, and four are under way.
const takeSource = `
extern "C" __global__ void __launch_bounds__(256) saga_take(float4 *__restrict__ to, const float4 *__restrict__ table, const unsigned *__restrict__ ids, long long n, long long words) {
	const long long all = n * words, step = gridDim.x * 256ll;
	for (long long i = blockIdx.x * 256ll + threadIdx.x; i < all; i += 4 * step) {
		float4 x[4];
#pragma unroll
		for (int k = 0; k < 4; k++) {
			const long long at = i + k * step;
			if (at < all) {
				const long long row = all < 1ll << 31 ? (unsigned)at / (unsigned)words : at / words;
				x[k] = __ldg(table + ids[row] * words + (at - row * words));
			}
		}
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (i + k * step < all) to[i + k * step] = x[k];
	}
}
`
