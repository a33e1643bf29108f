package cuda

// joinSource is the sum of what several devices have, and the larger of their maxima,
// ordered bit patterns.
const joinSource = `
extern "C" __global__ void saga_add(float *a, const float *b, long long n) {
	for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
		a[i] += b[i];
}
extern "C" __global__ void saga_larger(unsigned *a, const unsigned *b, long long n) {
	for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
		a[i] = max(a[i], b[i]);
}
`
