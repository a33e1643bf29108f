
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
#define ALL 0xffffffffu
#define NONE 0xffffffffu

// Philox4x32-10: four random words of a counter and a key.
struct Words { u32 w0, w1, w2, w3; };
static __device__ __forceinline__ Words philox(u32 k0, u32 k1, u32 a, u32 b, u32 c, u32 d) {
	#pragma unroll
	for (int i = 0; i < 10; i++) {
		u32 xh = __umulhi(a, 0xD2511F53u), xl = a * 0xD2511F53u, yh = __umulhi(c, 0xCD9E8D57u), yl = c * 0xCD9E8D57u;
		a = yh ^ b ^ k0;
		b = yl;
		c = xh ^ d ^ k1;
		d = xl;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	Words w = {a, b, c, d};
	return w;
}

// The last word of a counter: four sites share random words.
static __device__ __forceinline__ u32 counter(u32 block, u32 again) { return (block + 1) << 24 | again; }
