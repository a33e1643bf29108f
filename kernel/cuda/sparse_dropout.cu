
extern "C" __global__ void __launch_bounds__(256) saga_sparse_drop(const float *x, ll ldx, ll k, ll rows, const float *step, const float *id, ll ldi, ll site, ll bits, float *out, ll ldo) {
	const float p = __uint_as_float((unsigned)bits);
	for (ll i = blockIdx.x * (ll)blockDim.x + threadIdx.x; i < rows * k; i += gridDim.x * (ll)blockDim.x) {
		const ll r = i / k, j = i % k;
		const unsigned column = ((const unsigned *)x)[r * ldx + j];
		float v = x[r * ldx + k + j];
		if (column != 0xffffffffu) v = saga_dropout(v, step[0], step[1], step[2], id[r * ldi], 0.f, (int)site, p, column);
		((unsigned *)out)[r * ldo + j] = column;
		out[r * ldo + k + j] = v;
	}
}
