
typedef unsigned short u16;
#if HALF
typedef u16 Number;
#else
typedef float Number;
#endif

static __device__ __forceinline__ u32 rounded(float x) { // to the nearest bfloat16, ties to even
	u32 b = (u32)__float_as_int(x);
	return (b + 0x7fffu + ((b >> 16) & 1)) >> 16;
}
static __device__ __forceinline__ float widened(u32 b) { return __int_as_float(b << 16); }

// Four numbers, of which the first lies at a multiple of four.
static __device__ __forceinline__ float4 get4(const float *p) { return *(const float4 *)p; }
static __device__ __forceinline__ float4 get4(const u16 *p) {
	uint2 b = *(const uint2 *)p;
	float4 x = {widened(b.x), __int_as_float(b.x & 0xffff0000u), widened(b.y), __int_as_float(b.y & 0xffff0000u)};
	return x;
}
static __device__ __forceinline__ void set4(float *p, float4 x) { *(float4 *)p = x; }
static __device__ __forceinline__ void set4(u16 *p, float4 x) {
	uint2 b = {rounded(x.x) | rounded(x.y) << 16, rounded(x.z) | rounded(x.w) << 16};
	*(uint2 *)p = b;
}
static __device__ __forceinline__ void set(float *p, float x) { *p = x; }
static __device__ __forceinline__ void set(u16 *p, float x) { *p = (u16)rounded(x); }
