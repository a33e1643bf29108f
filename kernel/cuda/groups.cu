
// Products in TF32 by groups of four warps: the tensor cores of compute capability 9.0 read one operand from shared memory
// themselves. A warp beside them copies ahead for each group.
struct saga_factor { // rows, and a matrix that they are multiplied by
	const float *a;
	ll lda;
	const float *w;
	ll ldw;
};
// The terms before those of product j, rounded up to four each, and the steps of 32 terms.
template <int... K> SAGA_INLINE constexpr int saga_before(int j) {
	int n = 0, i = 0;
	((n += i++ < j ? (K + 3) / 4 * 4 : 0), ...);
	return n;
}
template <int... K> SAGA_INLINE constexpr int saga_steps(int j) {
	int n = 0, i = 0;
	((n += i++ < j ? (K + 31) / 32 : 0), ...);
	return n;
}
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define SAGA_GROUPS
SAGA_INLINE unsigned saga_shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
// Two barriers a place of a ring in shared memory: it is full, and it is free again.
SAGA_INLINE void saga_barriers(unsigned at, int places, int fills, int frees) {
	if (threadIdx.x == 0) {
		for (int s = 0; s < places; s++) {
			asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at + 16 * s), "r"(fills) : "memory");
			asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at + 16 * s + 8), "r"(frees) : "memory");
		}
		asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
	}
	__syncthreads();
}
SAGA_INLINE void saga_wait(unsigned at, unsigned phase) {
	asm volatile("{\n.reg .pred p;\nagain: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra again;\n}" :: "r"(at), "r"(phase) : "memory");
}
SAGA_INLINE void saga_arrive(unsigned at) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(at) : "memory"); }
// What a thread has begun to copy arrives when it is there.
SAGA_INLINE void saga_arrive_copied(unsigned at) { asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at) : "memory"); }
SAGA_INLINE void saga_copy(unsigned to, const float *from, int bytes) {
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(bytes) : "memory");
}
// Rounded to 11 bits. What is no number stays so: with all bits set it would become 0.
SAGA_INLINE unsigned saga_tf32(unsigned x) { return (__uint_as_float(x) == __uint_as_float(x) ? x + 0x1000u : x) & 0xffffe000u; }
// An operand in shared memory: rows of 32 terms, four of them side by side in a place. Eight rows take turns with the places.
SAGA_INLINE unsigned long long saga_operand(unsigned at) { return (at & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62; }
SAGA_INLINE void saga_put(unsigned at, int row, int place, float x, float y, float z, float w) {
	asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" :: "r"(at + row * 128 + ((place ^ row & 7) << 4)), "r"(saga_tf32(__float_as_uint(x))), "r"(saga_tf32(__float_as_uint(y))),
		"r"(saga_tf32(__float_as_uint(z))), "r"(saga_tf32(__float_as_uint(w))) : "memory");
}
// The same in halves: numbers of 11 bits, and what they are short of, which the tensor cores cut off to so many bits themselves.
SAGA_INLINE float saga_half(float x) { return __uint_as_float(__float_as_uint(x) + 0x1000u & 0xffffe000u); }
SAGA_INLINE void saga_put_halves(unsigned hi, unsigned lo, int row, int place, float x, float y, float z, float w) {
	const int at = row * 128 + ((place ^ row & 7) << 4);
	const float a = saga_half(x), b = saga_half(y), c = saga_half(z), d = saga_half(w);
	asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" :: "r"(hi + at), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
	asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" :: "r"(lo + at), "f"(x - a), "f"(y - b), "f"(z - c), "f"(w - d) : "memory");
}
// Adds eight terms to d: of 64 rows, and of the columns of an operand in shared memory. With saga_group_first d is these alone.
template <int N> __device__ void saga_group_mma(float (&d)[N], const unsigned (&a)[4], unsigned long long b);
template <int N> __device__ void saga_group_first(float (&d)[N], const unsigned (&a)[4], unsigned long long b);
SAGA_INLINE void saga_begin_group() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
template <int N> SAGA_INLINE void saga_end_group(float (&d)[N]) {
	asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
	for (int e = 0; e < N; e++) asm volatile("" : "+f"(d[e]) :: "memory");
}

// Adds 32 terms to d in halves: those of 64 rows are in registers, what they are short of in low.
template <int D> SAGA_INLINE void saga_group_halves(float (&d)[D], unsigned (&a)[4][4], unsigned (&low)[4][4], unsigned hi, unsigned lo) {
	float part[D];
#pragma unroll
	for (int e = 0; e < 16; e++) asm volatile("" : "+r"(a[e / 4][e % 4]), "+r"(low[e / 4][e % 4]) :: "memory");
	saga_begin_group();
#pragma unroll
	for (int k = 0; k < 4; k++) {
		if (k) saga_group_mma(part, low[k], saga_operand(hi) + 2 * k);
		else saga_group_first(part, low[k], saga_operand(hi));
		saga_group_mma(part, a[k], saga_operand(lo) + 2 * k);
		saga_group_mma(part, a[k], saga_operand(hi) + 2 * k);
	}
	saga_end_group(part);
#pragma unroll
	for (int e = 0; e < D; e++) d[e] += part[e];
}

// Adds 8·N terms: those of 64 rows lie at a as an operand does.
template <int N, int D> SAGA_INLINE void saga_group_terms(float (&d)[D], unsigned a, unsigned b) {
	const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane % 16;
	unsigned x[N][4];
#pragma unroll
	for (int k = 0; k < N; k++)
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(x[k][0]), "=r"(x[k][1]), "=r"(x[k][2]), "=r"(x[k][3])
			: "r"(a + row * 128 + ((2 * k + lane / 16 ^ row & 7) << 4)) : "memory");
#pragma unroll
	for (int e = 0; e < 4 * N; e++) x[e / 4][e % 4] = saga_tf32(x[e / 4][e % 4]);
	saga_begin_group();
#pragma unroll
	for (int k = 0; k < N; k++) saga_group_mma(d, x[k], saga_operand(b) + 2 * k);
	saga_end_group(d);
}

// The terms from k0 on, in steps of 32, of B columns of a matrix from c0 on of n; with T the terms of a column lie side by side there. W warps take part.
template <bool T, int B, int W> SAGA_INLINE void saga_turn(unsigned to, const float *w, ll ld, int terms, int k0, int c0, int n) {
	const int across = T ? B : B / 4, all = (terms + 31) / 32 * 8 * across; // four terms of a column, or of four
#pragma unroll 2
	for (int i = threadIdx.x; i < all; i += W * 32) {
		const int k = (i / (8 * across) * 8 + i % 8) * 4, c = i / 8 % across * (T ? 1 : 4), place = (k0 + k) % 32 / 4;
		if (k >= terms) continue;
		const unsigned at = to + (k0 + k) / 32 * (B * 128);
		float4 v[4];
#pragma unroll
		for (int j = 0; j < (T ? 1 : 4); j++)
			v[j] = c0 + c < n && k + j < terms ? __ldg((const float4 *)(w + (T ? (c0 + c) * ld + k : (k + j) * ld + c0 + c))) : make_float4(0.f, 0.f, 0.f, 0.f);
		if (T) {
			saga_put(at, c, place, v[0].x, k + 1 < terms ? v[0].y : 0.f, k + 2 < terms ? v[0].z : 0.f, k + 3 < terms ? v[0].w : 0.f);
		} else {
			saga_put(at, c, place, v[0].x, v[1].x, v[2].x, v[3].x);
			saga_put(at, c + 1, place, v[0].y, v[1].y, v[2].y, v[3].y);
			saga_put(at, c + 2, place, v[0].z, v[1].z, v[2].z, v[3].z);
			saga_put(at, c + 3, place, v[0].w, v[1].w, v[2].w, v[3].w);
		}
	}
}

// The first row of a thread among 64; it has numbers of another eight below.
SAGA_INLINE int saga_group_row() { return threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4; }
// Of 16 columns four lanes have two of the first eight each, and two of the others. Then they have four side by side.
SAGA_INLINE float4 saga_beside(float a, float b, float c, float d) {
	const bool up = threadIdx.x & 2, odd = threadIdx.x & 1;
	const float x = __shfl_xor_sync(0xffffffffu, up ? a : c, 2), y = __shfl_xor_sync(0xffffffffu, up ? b : d, 2);
	const float l0 = up ? x : a, l1 = up ? y : b, h0 = up ? c : x, h1 = up ? d : y;
	const float z = __shfl_xor_sync(0xffffffffu, odd ? l0 : h0, 1), w = __shfl_xor_sync(0xffffffffu, odd ? l1 : h1, 1);
	return make_float4(odd ? z : l0, odd ? w : l1, odd ? h0 : z, odd ? h1 : w);
}

// n rows of B columns each of a sum of products of K terms. A block keeps its columns of the matrices, the terms of each behind those of the one
// before, rounded up to four. Each group goes over tiles of 64 rows: each(i, n0, d, h) takes the numbers of row i of the columns from n0 on. Of 32 columns a lane has eight, of
// these k is number k / 2 * 4 + h + k % 2 of 16 in d.
template <bool T, int B, int... K, class F> SAGA_INLINE void saga_groups(const saga_factor *of, ll n, int cols, F each) {
	extern __shared__ __align__(1024) unsigned char ring[];
	constexpr int groups = 3, places = 4, bytes = 64 * 128;
	constexpr int all[] = {K...}, factors = sizeof...(K), terms = saga_before<K...>(factors - 1) + all[factors - 1], steps = (terms + 31) / 32, rest = (terms % 32 + 7) / 8;
	const int across = (cols + B - 1) / B, n0 = blockIdx.x % across * B, group = threadIdx.x < groups * 128 ? threadIdx.x / 128 : threadIdx.x / 32 % 4;
	const unsigned kept = saga_shared(ring) + 1023 & ~1023u, base = kept + steps * B * 128 + group * places * bytes, bars = kept + steps * B * 128 + groups * places * bytes, bar = bars + group * places * 16;
	saga_barriers(bars, groups * places, 32, 128);
	const int tiles = (int)((n + 63) / 64), stride = (int)(gridDim.x / across) * groups;
	int s = 0, tile = blockIdx.x / across * groups + group;
	unsigned phase = 0;
	if (threadIdx.x >= groups * 128) {
		asm volatile("setmaxnreg.dec.sync.aligned.u32 80;");
		if (group >= groups) return;
		const int chunk = threadIdx.x % 8, r0 = threadIdx.x % 32 / 8;
		for (; tile < tiles; tile += stride) {
			const ll m0 = tile * 64ll + r0;
			const int rows = (int)min(n - m0, 64ll);
#pragma unroll 1
			for (int k = chunk * 4; k < steps * 32 + chunk * 4; k += 32) {
				saga_wait(bar + 16 * s + 8, phase ^ 1);
				saga_factor f = of[0];
				int left = all[0] - k;
				f.a += k;
#pragma unroll
				for (int j = 1; j < factors; j++)
					if (k >= saga_before<K...>(j)) f = of[j], f.a += k - saga_before<K...>(j), left = all[j] - (k - saga_before<K...>(j));
				left = 4 * max(min(left, 4), 0);
				const float *x = f.a + m0 * f.lda;
#pragma unroll
				for (int r = 0; r < 64; r += 4) {
					const bool there = r < rows && left > 0;
					saga_copy(base + s * bytes + (r0 + r) * 128 + ((chunk ^ r0 + r & 7) << 4), there ? x + r * f.lda : of[0].a, there ? left : 0);
				}
				saga_arrive_copied(bar + 16 * s);
				if (++s == places) s = 0, phase ^= 1;
			}
		}
		return;
	}
	asm volatile("setmaxnreg.inc.sync.aligned.u32 144;");
	if (rest) { // zeros behind the terms
		for (int i = threadIdx.x; i < B * 8; i += groups * 128) saga_put(kept + (steps - 1) * B * 128, i / 8, i % 8, 0.f, 0.f, 0.f, 0.f);
		asm volatile("bar.sync 1, %0;" :: "n"(groups * 128) : "memory");
	}
#pragma unroll
	for (int j = 0; j < factors; j++) saga_turn<T, B, groups * 4>(kept, of[j].w, of[j].ldw, all[j], saga_before<K...>(j), n0, cols);
	asm volatile("fence.proxy.async;\nbar.sync 1, %0;" :: "n"(groups * 128) : "memory"); // the tensor cores see it, too
	for (; tile < tiles; tile += stride) {
		float d[B / 2];
#pragma unroll
		for (int e = 0; e < B / 2; e++) d[e] = 0.f;
#pragma unroll 1
		for (int k = 0; k < terms / 32; k++) {
			saga_wait(bar + 16 * s, phase);
			saga_group_terms<4>(d, base + s * bytes, kept + k * B * 128);
			saga_arrive(bar + 16 * s + 8);
			if (++s == places) s = 0, phase ^= 1;
		}
		if (rest) {
			saga_wait(bar + 16 * s, phase);
			saga_group_terms<rest ? rest : 1>(d, base + s * bytes, kept + (steps - 1) * B * 128);
			saga_arrive(bar + 16 * s + 8);
			if (++s == places) s = 0, phase ^= 1;
		}
#pragma unroll
		for (int c = 0; c < B / 2; c += 8)
#pragma unroll
			for (int h = 0; h < 4; h += 2) {
				const float4 v = saga_beside(d[c + h], d[c + h + 1], d[c + h + 4], d[c + h + 5]);
				d[c + h] = v.x, d[c + h + 1] = v.y, d[c + h + 4] = v.z, d[c + h + 5] = v.w;
			}
#pragma unroll
		for (int h = 0; h < 4; h += 2) each(tile * 64ll + saga_group_row() + h * 4, n0, d, h);
	}
}

// Sums over rows of xᵀ·y, and of x2ᵀ·y beside it: part has them for each range of rows, one x behind the other. Columns of y are
// the rows of the tensor cores' operand in registers, up to 64·W a group; 32 rows of X columns of x are turned on the way to shared memory. A block of
// the first columns of x adds the rows of y, too, where columns is there.
template <int X, int W> SAGA_INLINE void saga_group_sums(const float *x, ll ldx, const float *x2, const float *y, ll ldy, ll rows, ll m, ll n, ll each, float *part, float *columns) {
	extern __shared__ __align__(1024) unsigned char ring[];
	constexpr int pitch = W * 128 + 8, bytes = X * 128 + 32 * pitch * 4, places = 227000 / bytes < 6 ? 227000 / bytes : 6, items = (X * 2 + 127) / 128;
	const unsigned base = saga_shared(ring) + 1023 & ~1023u, bars = base + places * bytes;
	const int down = (int)((m + X - 1) / X), across = (int)((n + W * 128 - 1) / (W * 128)), which = blockIdx.x / (down * across), tile = blockIdx.x % (down * across);
	const ll m0 = tile % down * X, n0 = tile / down * (W * 128), lo = blockIdx.y * each, hi = min(rows, lo + each), ld = (n + 3) / 4 * 4;
	const int steps = (int)((hi - lo + 31) / 32);
	int s = 0;
	unsigned phase = 0;
	saga_barriers(bars, places, 256, 256);
	if (threadIdx.x >= 256) {
		asm volatile("setmaxnreg.dec.sync.aligned.u32 136;");
		const int t = threadIdx.x - 256, k4 = t % 8, c = t / 8 * 4; // of an item: four rows of four columns, of the next 64 columns on
		const float *from = (which ? x2 : x) + (lo + k4 * 4) * ldx + m0 + c;
		const int chunk = t % (W * 32), r0 = t / (W * 32), width = (int)max(min(ldy - n0 - chunk * 4, 4ll), 0ll) * 4;
		const float *begin = width ? y + (lo + r0) * ldy + n0 + chunk * 4 : y;
		const ll skip = width ? 4 / W * ldy : 0;
		int left = (int)(hi - lo), below = left;
		const auto load = [&](float4 (&v)[items][4]) {
#pragma unroll
			for (int e = 0; e < items; e++) {
				const int some = c + e * 64 < X && m0 + c + e * 64 < m ? left - k4 * 4 : 0;
				const float *p = from + e * 64;
#pragma unroll
				for (int j = 0; j < 4; j++, p += ldx) v[e][j] = j < some ? __ldg((const float4 *)p) : make_float4(0.f, 0.f, 0.f, 0.f);
			}
			left -= 32;
			from += 32 * ldx;
		};
		const auto step = [&](const float4 (&v)[items][4]) {
			saga_wait(bars + 16 * s + 8, phase ^ 1);
			const unsigned at = base + s * bytes, full = bars + 16 * s, to = at + X * 128 + r0 * (pitch * 4) + chunk * 16;
			if (below >= 32) {
#pragma unroll
				for (int r = 0; r < 32; r += 4 / W, begin += skip) saga_copy(to + r * (pitch * 4), begin, width);
			} else {
				for (int r = 0; r < 32; r += 4 / W, begin += skip) saga_copy(to + r * (pitch * 4), r0 + r < below ? begin : y, r0 + r < below ? width : 0);
			}
			saga_arrive_copied(full);
			below -= 32;
#pragma unroll
			for (int e = 0; e < items; e++)
				if (c + e * 64 < X) {
					saga_put(at, c + e * 64, k4, v[e][0].x, v[e][1].x, v[e][2].x, v[e][3].x);
					saga_put(at, c + e * 64 + 1, k4, v[e][0].y, v[e][1].y, v[e][2].y, v[e][3].y);
					saga_put(at, c + e * 64 + 2, k4, v[e][0].z, v[e][1].z, v[e][2].z, v[e][3].z);
					saga_put(at, c + e * 64 + 3, k4, v[e][0].w, v[e][1].w, v[e][2].w, v[e][3].w);
				}
			asm volatile("fence.proxy.async;" ::: "memory");
			saga_arrive(full);
			if (++s == places) s = 0, phase ^= 1;
		};
		float4 v[2][items][4]; // one step ahead
		load(v[0]);
		for (int k = 0; k < steps; k += 2) {
			load(v[1]);
			step(v[0]);
			if (k + 1 == steps) break;
			load(v[0]);
			step(v[1]);
		}
		return;
	}
	asm volatile("setmaxnreg.inc.sync.aligned.u32 184;");
	const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, c0 = threadIdx.x / 128 * (W * 64) + threadIdx.x / 32 % 4 * 16 + g;
	float d[W][X / 2], chain[W][2], sum[W][2];
#pragma unroll
	for (int i = 0; i < W; i++) {
		chain[i][0] = chain[i][1] = sum[i][0] = sum[i][1] = 0.f;
#pragma unroll
		for (int e = 0; e < X / 2; e++) d[i][e] = 0.f;
	}
	for (int k = 0; k < steps; k++) {
		saga_wait(bars + 16 * s, phase);
		const unsigned at = base + s * bytes, from = at + X * 128 + (t * pitch + c0) * 4;
#pragma unroll
		for (int i = 0; i < W; i++) {
			unsigned a[4][4];
#pragma unroll
			for (int e = 0; e < 16; e++) {
				asm volatile("ld.shared.b32 %0, [%1];" : "=r"(a[e / 4][e % 4]) : "r"(from + ((e / 4 * 8 + e % 4 / 2 * 4) * pitch + i * 64 + e % 2 * 8) * 4) : "memory");
				chain[i][e % 2] += __uint_as_float(a[e / 4][e % 4]);
				a[e / 4][e % 4] = saga_tf32(a[e / 4][e % 4]);
			}
			saga_begin_group();
#pragma unroll
			for (int e = 0; e < 4; e++) saga_group_mma(d[i], a[e], saga_operand(at) + 2 * e);
			saga_end_group(d[i]);
			if (k % 16 == 15) {
				sum[i][0] += chain[i][0];
				sum[i][1] += chain[i][1];
				chain[i][0] = chain[i][1] = 0.f;
			}
		}
		saga_arrive(bars + 16 * s + 8);
		if (++s == places) s = 0, phase ^= 1;
	}
	part += (which * (ll)gridDim.y + blockIdx.y) * m * ld;
#pragma unroll
	for (int i = 0; i < W; i++) {
#pragma unroll
		for (int e = 0; e < X / 2; e++) {
			const ll r = m0 + e / 4 * 8 + t * 2 + e % 2, c = n0 + c0 + i * 64 + e / 2 % 2 * 8;
			if (r < m && c < ld) part[r * ld + c] = d[i][e];
		}
#pragma unroll
		for (int h = 0; h < 2; h++) {
			float z = sum[i][h] + chain[i][h];
			z += __shfl_xor_sync(~0u, z, 1);
			z += __shfl_xor_sync(~0u, z, 2);
			const ll c = n0 + c0 + i * 64 + h * 8;
			if (columns && which == 0 && m0 == 0 && t == 0 && c < ld) columns[blockIdx.y * ld + c] = z;
		}
	}
}
#endif
