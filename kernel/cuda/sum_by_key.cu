
template <class T>
SAGA_INLINE void saga_sum_runs(const float *x, ll ld, const float *key, ll ldk, ll lo, ll hi, ll w, ll groups, ll c, T *p) {
	double s = 0.;
	int at = -1;
	for (ll r = lo; r < hi; r++) {
		const int k = saga_class((int)groups, key[r * ldk]);
		if (k != at) {
			if (at >= 0) p[at * w + c] += (T)s;
			s = 0.;
			at = k;
		}
		if (k >= 0) s += x[r * ld + c];
	}
	if (at >= 0) p[at * w + c] += (T)s;
}
extern "C" __global__ void saga_sum_by(const float *x, ll ld, const float *key, ll ldk, ll rows, ll w, ll groups, double *part) {
	ll each = (rows + gridDim.x - 1) / gridDim.x, lo = blockIdx.x * each, hi = min(rows, lo + each);
	double *p = part + blockIdx.x * groups * w;
	for (ll c = threadIdx.x; c < w; c += blockDim.x) {
		for (ll k = 0; k < groups; k++) p[k * w + c] = 0.;
		saga_sum_runs(x, ld, key, ldk, lo, hi, w, groups, c, p);
	}
}
extern "C" __global__ void saga_sum_by_here(const float *x, ll ld, const float *key, ll ldk, ll rows, ll w, ll groups, float *dst) {
	for (ll c = threadIdx.x; c < w; c += blockDim.x) saga_sum_runs(x, ld, key, ldk, 0, rows, w, groups, c, dst);
}
extern "C" __global__ void saga_sum_by_add(float *dst, const double *part, ll n, ll blocks) {
	for (ll i = blockIdx.x * (ll)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (ll)blockDim.x) {
		double s = 0.;
		for (ll b = 0; b < blocks; b++) s += part[b * n + i];
		dst[i] += (float)s;
	}
}
