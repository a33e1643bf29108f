
typedef long long ll;
#define EACH for (ll i = blockIdx.x * (ll)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (ll)blockDim.x)
__device__ float bits(ll x) { return __int_as_float((int)x); }
__device__ void check(float x, const float *step, volatile unsigned *note, ll number) {
	if (fabsf(x) <= 3.402823466e+38f || note[0]) return;
	note[1] = __float_as_uint(step[6]);
	note[0] = (unsigned)number;
}
extern "C" __global__ void average(const float *step, unsigned *note, float *w, const float *g, ll n, ll share, ll number) {
	const float part = bits(share);
	EACH {
		float x = w[i];
		w[i] = x += part * (g[i] - x);
		check(x, step, note, number);
	}
}
extern "C" __global__ void sgd(const float *step, unsigned *note, float *w, const float *g, ll n, ll decay, ll number) {
	const float lr = step[0], wd = bits(decay);
	EACH {
		float x = w[i];
		w[i] = x -= lr * (g[i] + wd * x);
		check(x, step, note, number);
	}
}
extern "C" __global__ void momentum(const float *step, unsigned *note, float *w, const float *g, float *m, ll n, ll decay, ll number) {
	const float lr = step[0], mu = step[1], wd = bits(decay);
	EACH {
		float x = w[i], d = g[i] + wd * x + mu * m[i];
		m[i] = d;
		w[i] = x -= lr * d;
		check(x, step, note, number);
	}
}
__device__ void adam_(const float *step, unsigned *note, float *w, const float *g, float *m, float *v, ll n, float wd, ll number, bool apart) {
	const float lr = step[0], b1 = step[1], b2 = step[2], eps = step[3], c1 = step[4], c2 = step[5];
	EACH {
		float d = g[i], x = w[i];
		if (apart) x -= lr * wd * x; else d += wd * x;
		float a = b1 * m[i] + (1.f - b1) * d, b = b2 * v[i] + (1.f - b2) * d * d;
		m[i] = a;
		v[i] = b;
		w[i] = x -= lr * (a / c1) / (sqrtf(b / c2) + eps);
		check(x, step, note, number);
		check(b, step, note, number);
	}
}
extern "C" __global__ void adam(const float *step, unsigned *note, float *w, const float *g, float *m, float *v, ll n, ll decay, ll number) {
	adam_(step, note, w, g, m, v, n, bits(decay), number, false);
}
extern "C" __global__ void adamw(const float *step, unsigned *note, float *w, const float *g, float *m, float *v, ll n, ll decay, ll number) {
	adam_(step, note, w, g, m, v, n, bits(decay), number, true);
}
