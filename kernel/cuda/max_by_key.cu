
extern "C" __global__ void saga_max_by(const float *x, ll ld, const float *key, ll ldk, ll rows, ll w, ll groups, float *dst) {
	for (ll i = blockIdx.x * (ll)blockDim.x + threadIdx.x; i < rows * w; i += gridDim.x * (ll)blockDim.x) {
		ll r = i / w, c = i % w;
		int k = saga_class((int)groups, key[r * ldk]);
		float y = x[r * ld + c];
		unsigned b = __float_as_uint(y);
		b = y != y ? 0xffffffffu : b >> 31 ? ~b : b | 0x80000000u;
		if (k >= 0) atomicMax((unsigned *)dst + k * w + c, b);
	}
}
