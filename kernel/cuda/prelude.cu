
typedef long long ll;
#define SAGA_INF __int_as_float(0x7f800000)
#define SAGA_NAN __int_as_float(0x7fc00000)
#define SAGA_NOTHING __int_as_float(0x7fa5a5a5)
#define SAGA_INLINE static __device__ __forceinline__

template <int G, int V, int N, int W, bool VEC, bool ONCE = false>
SAGA_INLINE void saga_load(const float *p, int base, int lane, float (&r)[N]) {
#pragma unroll
	for (int q = 0; q < N / V; q++) {
		int c = base + (q * G + lane) * V;
		if (VEC && V % 4 == 0) {
#pragma unroll
			for (int t = 0; t < V; t += 4) {
				float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
				if (c + t < W) v = ONCE ? __ldcs((const float4 *)(p + c + t)) : *(const float4 *)(p + c + t);
				r[q * V + t] = v.x; r[q * V + (t + 1) % V] = v.y; r[q * V + (t + 2) % V] = v.z; r[q * V + (t + 3) % V] = v.w;
			}
		} else {
#pragma unroll
			for (int t = 0; t < V; t++) r[q * V + t] = c + t < W ? p[c + t] : 0.f;
		}
	}
}

template <int G, int V, int N, int W, bool VEC, bool ONCE = false>
SAGA_INLINE void saga_store(float *p, int base, int lane, const float (&r)[N]) {
#pragma unroll
	for (int q = 0; q < N / V; q++) {
		int c = base + (q * G + lane) * V;
		if (VEC && V % 4 == 0 && c + V <= W) {
#pragma unroll
			for (int t = 0; t < V; t += 4) {
				const float4 v = make_float4(r[q * V + t], r[q * V + (t + 1) % V], r[q * V + (t + 2) % V], r[q * V + (t + 3) % V]);
				if (ONCE) __stcs((float4 *)(p + c + t), v); else *(float4 *)(p + c + t) = v;
			}
		} else {
#pragma unroll
			for (int t = 0; t < V; t++) if (c + t < W) p[c + t] = r[q * V + t];
		}
	}
}

// Of rows that are used once, the cache keeps what is used again.
template <int G, int V, int N, int W, bool VEC> SAGA_INLINE void saga_load_once(const float *p, int base, int lane, float (&r)[N]) {
	saga_load<G, V, N, W, VEC, true>(p, base, lane, r);
}
template <int G, int V, int N, int W, bool VEC> SAGA_INLINE void saga_store_once(float *p, int base, int lane, const float (&r)[N]) {
	saga_store<G, V, N, W, VEC, true>(p, base, lane, r);
}

// A lane's columns of a row that kernels only read, from the lane's first column on.
template <int G, int V, int N> SAGA_INLINE void saga_near(const float *p, float (&r)[N]) {
#pragma unroll
	for (int k = 0; k < N; k += 4) {
		const float4 v = __ldg((const float4 *)(p + k / V * G * V + k % V));
		r[k] = v.x; r[k + 1] = v.y; r[k + 2] = v.z; r[k + 3] = v.w;
	}
}
template <int G, int V, int N> SAGA_INLINE void saga_near_half(const float *p, float (&r)[N]) {
	constexpr int W = V % 8 == 0 ? 4 : 2; // words of a load
#pragma unroll
	for (int k = 0; k < N; k += 2 * W) {
		const float *q = p + (k / V * G * V + k % V) / 2;
		unsigned u[W];
		if (W == 4) { const uint4 v = __ldg((const uint4 *)q); u[0] = v.x; u[1] = v.y; u[2 % W] = v.z; u[3 % W] = v.w; }
		else { const uint2 v = __ldg((const uint2 *)q); u[0] = v.x; u[1] = v.y; }
#pragma unroll
		for (int t = 0; t < W; t++) {
			r[k + 2 * t] = __uint_as_float(u[t] << 16);
			r[k + 2 * t + 1] = __uint_as_float(u[t] & 0xffff0000u);
		}
	}
}

// Rows of bfloat16: the upper halves of floats. V divides the row's padded length.
template <int G, int V, int N, int W, bool>
SAGA_INLINE void saga_load_half(const float *p, int base, int lane, float (&r)[N]) {
	static_assert(V % 4 == 0, "columns in pairs of words");
#pragma unroll
	for (int q = 0; q < N / V; q++) {
		const int c = base + (q * G + lane) * V;
		unsigned u[V / 2];
#pragma unroll
		for (int t = 0; t < V / 2; t++) u[t] = 0u;
		if (c < W) {
			const unsigned *h = (const unsigned *)p + c / 2;
			if (V == 8) { const uint4 v = *(const uint4 *)h; u[0] = v.x; u[1] = v.y; u[2 % (V / 2)] = v.z; u[3 % (V / 2)] = v.w; }
			else { const uint2 v = *(const uint2 *)h; u[0] = v.x; u[1] = v.y; }
		}
#pragma unroll
		for (int t = 0; t < V / 2; t++) {
			r[q * V + 2 * t] = __uint_as_float(u[t] << 16);
			r[q * V + 2 * t + 1] = __uint_as_float(u[t] & 0xffff0000u);
		}
	}
}

// Two columns as a word: to the nearest, ties to even, NaN stays NaN.
SAGA_INLINE unsigned saga_bfloat16(float x) {
	const unsigned b = __float_as_uint(x);
	return (b & 0x7fffffffu) > 0x7f800000u ? b >> 16 | 0x40u : (b + 0x7fffu + (b >> 16 & 1u)) >> 16;
}
SAGA_INLINE float saga_pack(float even, float odd) {
	return __uint_as_float(saga_bfloat16(even) | saga_bfloat16(odd) << 16);
}
SAGA_INLINE float saga_unpack(float word, int column) {
	const unsigned u = __float_as_uint(word);
	return __uint_as_float(column & 1 ? u & 0xffff0000u : u << 16);
}

// Of columns of which PER make a head: element q is the number of the head that the
// lane's columns of q belong to, W columns in all.
template <int G, int V, int N, int W, int PER>
SAGA_INLINE void saga_load_heads(const float *p, int base, int lane, float (&r)[N]) {
#pragma unroll
	for (int q = 0; q < N; q++) {
		int c = base + (q * G + lane) * V;
		r[q] = c < W ? p[c / PER] : 0.f;
	}
}
template <int G, int V, int N, int W, int PER>
SAGA_INLINE void saga_store_heads(float *p, int base, int lane, const float (&r)[N]) {
#pragma unroll
	for (int q = 0; q < N; q++) {
		int c = base + (q * G + lane) * V;
		if (c < W && c % PER == 0) p[c / PER] = r[q];
	}
}

template <int N> SAGA_INLINE void saga_fill(float (&r)[N], float x) {
#pragma unroll
	for (int k = 0; k < N; k++) r[k] = x;
}

// The larger number, NaN where one is; fmaxf gives the other then.
SAGA_INLINE float saga_maximum(float x, float y) {
#if __CUDA_ARCH__ >= 800
	float top;
	asm("max.NaN.f32 %0, %1, %2;" : "=f"(top) : "f"(x), "f"(y));
	return top;
#else
	return x > y || x != x ? x : y;
#endif
}
// A maximum that has met no edge.
SAGA_INLINE bool saga_nothing(float a) { return __float_as_uint(a) == __float_as_uint(SAGA_NOTHING); }

// An edge more in the maximum a and the rank x of the edge that holds it. NaN is above
// numbers; ties go to the lowest rank, whatever the order of edges. With 0 added, -0 is
// 0 and every NaN the same, so that equal numbers have equal bits.
SAGA_INLINE void saga_arg(float &a, float &x, float y, float rank) {
	y += 0.f;
	const float top = saga_maximum(a, y);
	if (__float_as_uint(top) != __float_as_uint(a) || __float_as_uint(y) == __float_as_uint(a) && rank < x) x = rank;
	a = top;
}

template <int G, class F> SAGA_INLINE double saga_sum(int w, int lane, unsigned mask, F f) {
	double s = 0;
	for (int j = lane; j < w; j += G) s += f(j);
#pragma unroll
	for (int d = G / 2; d; d /= 2) s += __shfl_xor_sync(mask, s, d);
	return s;
}
template <int G, class F> SAGA_INLINE float saga_max(int w, int lane, unsigned mask, F f) {
	float s = -SAGA_INF;
	for (int j = lane; j < w; j += G) s = saga_maximum(s, f(j));
#pragma unroll
	for (int d = G / 2; d; d /= 2) s = saga_maximum(s, __shfl_xor_sync(mask, s, d));
	return s;
}
// The first column that holds the maximum, or NaN.
template <int G, class F> SAGA_INLINE int saga_argmax(int w, int lane, unsigned mask, F f) {
	float m = saga_max<G>(w, lane, mask, f);
	int best = w;
	for (int j = lane; j < w; j += G) if (const float y = f(j); y == m || y != y) { best = j; break; }
#pragma unroll
	for (int d = G / 2; d; d /= 2) best = min(best, __shfl_xor_sync(mask, best, d));
	return best < w ? best : 0;
}
#define SAGA_SUM(w, x) saga_sum<G>((w), lane, mask, [&](int j) { return (double)(x); })
#define SAGA_MAX(w, x) saga_max<G>((w), lane, mask, [&](int j) { return (float)(x); })
#define SAGA_ARGMAX(w, x) saga_argmax<G>((w), lane, mask, [&](int j) { return (float)(x); })

// The label as an index below n, or -1 if it is none.
SAGA_INLINE int saga_class(int n, float label) {
	int k = (int)label;
	return label >= 0.f && label < (float)n && (float)k == label ? k : -1;
}

// Where e**-x is too small for a normal number it is nothing beside 1, so it need not be
// scaled, which __expf does.
SAGA_INLINE float saga_sigmoid(float x) {
	float e;
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(x * __int_as_float(0xbfb8aa3b)));
	return __fdividef(1.f, 1.f + e);
}

SAGA_INLINE unsigned saga_mix(unsigned h) {
	h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u;
	return h ^ h >> 16;
}
SAGA_INLINE float saga_dropout(float x, float seed_lo, float seed_hi, float epoch, float id, float rank,
                               int site, float p, unsigned column) {
	unsigned w[6] = {__float_as_uint(seed_lo), __float_as_uint(seed_hi), __float_as_uint(epoch),
	                 (unsigned)site, __float_as_uint(id), __float_as_uint(rank)};
	unsigned a = 0x243f6a88u, b = 0x85a308d3u;
#pragma unroll
	for (int i = 0; i < 6; i++) { a = saga_mix(a ^ w[i]); b = saga_mix(b + w[i]); }
	unsigned h = a + column * 0x9e3779b9u;
	h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13 ^ b; h *= 0xc2b2ae35u; h ^= h >> 16;
	return h >> 8 >= (unsigned)(p * 16777216.f) ? x * (1.f / (1.f - p)) : 0.f;
}

// The entry of the row list that edge e belongs to.
SAGA_INLINE ll saga_entry(const unsigned *ptr, ll entries, ll e) {
	ll lo = 0, hi = entries - 1; // the last entry with ptr <= e
	while (lo < hi) {
		ll mid = (lo + hi + 1) / 2;
		if (ptr[mid] <= e) lo = mid; else hi = mid - 1;
	}
	return lo;
}

// The number of an ordered bit pattern, 0 for nothing.
SAGA_INLINE float saga_unordered(float x) {
	unsigned b = __float_as_uint(x);
	return b == 0 ? 0.f : __uint_as_float(b >> 31 ? b & 0x7fffffffu : ~b);
}

// An edge more in (s, m), which stand for s·e^m. What equals m counts one, also where both
// are infinite; without edges s is 0.
SAGA_INLINE void saga_lse(float &s, float &m, float y) {
	if (y <= m) { s += y == m ? 1.f : expf(y - m); return; }
	s = s * expf(m - y) + 1.f;
	m = y;
}
SAGA_INLINE void saga_lse_merge(float &s, float &m, float s2, float m2) {
	const float top = saga_maximum(m, m2);
	s = (m == top ? s : s * expf(m - top)) + (m2 == top ? s2 : s2 * expf(m2 - top));
	m = top;
}
