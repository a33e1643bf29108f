
// Sums over rows of xᵀ·y, and of x2ᵀ·y beside it where operands are two, in float32 by groups of four warps: part has them for each range of rows, one x behind the other.
// 64 columns of x are the rows of a group's operand in registers, in two halves. The warps beside them turn 32 rows of Y columns of y on the way to shared
// memory, in halves, too. The tensor cores add 32 rows, three of four products of halves; these sums are added in float32. A block of the first columns of x adds
// the rows of y, too, where columns is there.
template <int Y> SAGA_INLINE void saga_halves_sums(const float *x, ll ldx, const float *x2, ll operands, const float *y, ll ldy, ll rows, ll m, ll n, ll each, float *part, float *columns) {
	const int units = (int)((m + 63) / 64), down = (int)(operands * units + 1) / 2, first = blockIdx.x % down * 2;
	const ll n0 = blockIdx.x / down * Y, lo = blockIdx.y * each, hi = min(rows, lo + each), ld = (n + 3) / 4 * 4;
#ifdef SAGA_GROUPS
	extern __shared__ __align__(1024) unsigned char ring[];
	constexpr int pitch = 128 + 8, turned = Y * 256, bytes = turned + 32 * pitch * 4, places = 227000 / bytes < 6 ? 227000 / bytes : 6, items = (Y * 2 + 127) / 128, ahead = items == 1 ? 4 : 2;
	const unsigned base = saga_shared(ring) + 1023 & ~1023u, bars = base + places * bytes;
	const int steps = (int)((hi - lo + 31) / 32);
	int s = 0;
	unsigned phase = 0;
	saga_barriers(bars, places, 256, 256);
	if (threadIdx.x >= 256) {
		asm volatile("setmaxnreg.dec.sync.aligned.u32 136;");
		const int t = threadIdx.x - 256, k4 = t % 8, c = t / 8 * 4; // of an item of y: four rows of four columns, of the next 64 columns on
		const float *from = y + (lo + k4 * 4) * ldy + n0 + c;
		const int chunk = t % 32, r0 = t / 32, unit = first + chunk / 16; // of x: four columns of every fourth row
		const ll at0 = unit % units * 64 + chunk % 16 * 4;
		const int width = unit < operands * units ? (int)max(min(ldx - at0, 4ll), 0ll) * 4 : 0;
		const float *begin = width ? (unit < units ? x : x2) + (lo + r0) * ldx + at0 : x;
		const ll skip = width ? 4 * ldx : 0;
		int left = (int)(hi - lo), put = 0;
		float chain[items][4], sum[items][4];
#pragma unroll
		for (int e = 0; e < items * 4; e++) chain[e / 4][e % 4] = sum[e / 4][e % 4] = 0.f;
		const auto load = [&](float4 (&v)[items][4]) {
#pragma unroll
			for (int e = 0; e < items; e++) {
				const int some = c + e * 64 < Y && n0 + c + e * 64 < n ? left - k4 * 4 : 0;
				const float *p = from + e * 64;
#pragma unroll
				for (int j = 0; j < 4; j++, p += ldy) v[e][j] = j < some ? __ldg((const float4 *)p) : make_float4(0.f, 0.f, 0.f, 0.f);
			}
			from += 32 * ldy;
			if (left <= 0) return; // behind the range
			saga_wait(bars + 16 * s + 8, phase ^ 1);
			const unsigned to = base + s * bytes + turned + r0 * (pitch * 4) + chunk * 16;
			if (left >= 32) {
#pragma unroll
				for (int r = 0; r < 32; r += 4, begin += skip) saga_copy(to + r * (pitch * 4), begin, width);
			} else {
				for (int r = 0; r < 32; r += 4, begin += skip) saga_copy(to + r * (pitch * 4), r0 + r < left ? begin : x, r0 + r < left ? width : 0);
			}
			saga_arrive_copied(bars + 16 * s);
			left -= 32;
			if (++s == places) s = 0, phase ^= 1;
		};
		const auto step = [&](int k, const float4 (&v)[items][4]) {
			const unsigned at = base + put * bytes;
#pragma unroll
			for (int e = 0; e < items; e++)
				if (c + e * 64 < Y) {
					saga_put_halves(at, at + Y * 128, c + e * 64, k4, v[e][0].x, v[e][1].x, v[e][2].x, v[e][3].x);
					saga_put_halves(at, at + Y * 128, c + e * 64 + 1, k4, v[e][0].y, v[e][1].y, v[e][2].y, v[e][3].y);
					saga_put_halves(at, at + Y * 128, c + e * 64 + 2, k4, v[e][0].z, v[e][1].z, v[e][2].z, v[e][3].z);
					saga_put_halves(at, at + Y * 128, c + e * 64 + 3, k4, v[e][0].w, v[e][1].w, v[e][2].w, v[e][3].w);
				}
			asm volatile("fence.proxy.async;" ::: "memory");
			saga_arrive(bars + 16 * put);
			if (++put == places) put = 0;
#pragma unroll
			for (int e = 0; e < items; e++) {
				chain[e][0] += v[e][0].x + v[e][1].x + (v[e][2].x + v[e][3].x);
				chain[e][1] += v[e][0].y + v[e][1].y + (v[e][2].y + v[e][3].y);
				chain[e][2] += v[e][0].z + v[e][1].z + (v[e][2].z + v[e][3].z);
				chain[e][3] += v[e][0].w + v[e][1].w + (v[e][2].w + v[e][3].w);
			}
			if (k % 64 == 63)
#pragma unroll
				for (int e = 0; e < items * 4; e++) sum[e / 4][e % 4] += chain[e / 4][e % 4], chain[e / 4][e % 4] = 0.f;
		};
		float4 v[ahead][items][4];
#pragma unroll
		for (int i = 0; i < ahead - 1; i++) load(v[i]);
		for (int k = 0; k < steps; k += ahead)
#pragma unroll
			for (int i = 0; i < ahead; i++)
				if (k + i < steps) {
					load(v[(i + ahead - 1) % ahead]);
					step(k + i, v[i]);
				}
		if (columns == nullptr || first) return;
#pragma unroll
		for (int e = 0; e < items * 4; e++) {
			float z = sum[e / 4][e % 4] + chain[e / 4][e % 4];
			z += __shfl_xor_sync(~0u, z, 1);
			z += __shfl_xor_sync(~0u, z, 2);
			z += __shfl_xor_sync(~0u, z, 4);
			const int col = c + e / 4 * 64 + e % 4;
			if (k4 == 0 && col < Y && n0 + col < ld) columns[blockIdx.y * ld + n0 + col] = z;
		}
		return;
	}
	asm volatile("setmaxnreg.inc.sync.aligned.u32 184;");
	const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, group = threadIdx.x / 128, row = threadIdx.x / 32 % 4 * 16 + g, unit = first + group;
	float d[Y / 2];
#pragma unroll
	for (int e = 0; e < Y / 2; e++) d[e] = 0.f;
	for (int k = 0; k < steps; k++) {
		saga_wait(bars + 16 * s, phase);
		const unsigned at = base + s * bytes, from = at + turned + (t * pitch + group * 64 + row) * 4;
		if (unit < operands * units) {
			unsigned a[4][4], low[4][4];
#pragma unroll
			for (int e = 0; e < 16; e++) {
				float v;
				asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(from + ((e / 4 * 8 + e % 4 / 2 * 4) * pitch + e % 2 * 8) * 4) : "memory");
				a[e / 4][e % 4] = __float_as_uint(saga_half(v));
				low[e / 4][e % 4] = __float_as_uint(v - saga_half(v));
			}
			saga_group_halves(d, a, low, at, at + Y * 128);
		}
		saga_arrive(bars + 16 * s + 8);
		if (++s == places) s = 0, phase ^= 1;
	}
	if (unit >= operands * units) return;
	part += (unit / units * (ll)gridDim.y + blockIdx.y) * m * ld;
#pragma unroll
	for (int e = 0; e < Y / 2; e += 2) {
		const ll r = unit % units * 64 + row + e / 2 % 2 * 8, col = n0 + e / 4 * 8 + t * 2;
		if (r < m && col < ld) *(float2 *)(part + r * ld + col) = make_float2(d[e], d[e + 1]);
	}
#else
	for (int i = threadIdx.x; i < 128 * Y + Y; i += blockDim.x) { // the last ones are the rows of y alone
		const int unit = first + i / (64 * Y);
		const ll r = unit % units * 64 + i / Y % 64, c = n0 + i % Y;
		const bool ones = i >= 128 * Y;
		if (c >= n || n0 + Y <= c || !ones && (unit >= operands * units || r >= m) || ones && (columns == nullptr || first)) continue;
		float sum = 0.f;
		for (ll k = lo; k < hi; k += 32) {
			float some = 0.f;
			for (ll j = k; j < min(hi, k + 32); j++) some = fmaf(ones ? 1.f : (unit < units ? x : x2)[j * ldx + r], y[j * ldy + c], some);
			sum += some;
		}
		if (ones) columns[blockIdx.y * ld + c] = sum;
		else part[(unit / units * (ll)gridDim.y + blockIdx.y) * m * ld + r * ld + c] = sum;
	}
#endif
}
