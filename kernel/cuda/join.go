package cuda

// joinSource is the kernels that add the sums of two devices, and take the larger of their maxima. Maxima are ordered bit
// patterns.
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
