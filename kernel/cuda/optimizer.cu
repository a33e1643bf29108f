typedef long long ll;
struct one { float *w; const float *g; float *m, *v; ll n; float rate; unsigned number; };
#define EACH for (ll i = blockIdx.x * (ll)blockDim.x + threadIdx.x; i < x.n; i += gridDim.x * (ll)blockDim.x)
__device__ float bits(ll x) { return __int_as_float((int)x); }
__device__ void check(float y, const float *step, unsigned *note, unsigned number) {
	if (fabsf(y) <= 3.402823466e+38f) return;
	const unsigned update = __float_as_uint(step[7]), first = atomicCAS(note + 2, 0u, update);
	if (first != 0u && first != update) return;
	atomicMax(note, ~number);
	note[1] = __float_as_uint(step[6]);
}
__device__ void average_(const float *step, unsigned *note, const one &x) {
	EACH {
		float y = x.w[i];
		x.w[i] = y += x.rate * (x.g[i] - y);
		check(y, step, note, x.number);
	}
}
__device__ void sgd_(const float *step, unsigned *note, const one &x) {
	const float lr = step[0];
	EACH {
		float y = x.w[i];
		x.w[i] = y -= lr * (x.g[i] + x.rate * y);
		check(y, step, note, x.number);
	}
}
__device__ void momentum_(const float *step, unsigned *note, const one &x) {
	const float lr = step[0], mu = step[1];
	EACH {
		float y = x.w[i], d = x.g[i] + x.rate * y + mu * x.m[i];
		x.m[i] = d;
		x.w[i] = y -= lr * d;
		check(y, step, note, x.number);
	}
}
__device__ void adam_of(const float *step, unsigned *note, const one &x, bool apart) {
	const float lr = step[0], b1 = step[1], b2 = step[2], eps = step[3], c1 = step[4], c2 = step[5];
	EACH {
		float d = x.g[i], y = x.w[i];
		if (apart) y -= lr * x.rate * y; else d += x.rate * y;
		float a = b1 * x.m[i] + (1.f - b1) * d, b = b2 * x.v[i] + (1.f - b2) * d * d;
		x.m[i] = a;
		x.v[i] = b;
		x.w[i] = y -= lr * (a / c1) / (sqrtf(b / c2) + eps);
		check(y, step, note, x.number);
		check(b, step, note, x.number);
	}
}
__device__ void adam_(const float *step, unsigned *note, const one &x) { adam_of(step, note, x, false); }
__device__ void adamw_(const float *step, unsigned *note, const one &x) { adam_of(step, note, x, true); }
