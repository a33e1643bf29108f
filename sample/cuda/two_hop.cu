
#define ROW (PF + PA)
#define NA ((PA + 127) / 128)
#define NF ((PF + 127) / 128)
#define QL CALLS(LEAVES)
// Draws of leaves that a warp names by one call of philox a lane.
#define GROUP (QL >= 32 ? 1 : 32 / QL)
// Rows that are on their way together where few of a row's ends are drawn; wide ones fill the registers alone.
#define AHEAD (NA > 2 ? 1 : 4)

static __device__ __forceinline__ float4 zero() { float4 x = {0, 0, 0, 0}; return x; }
static __device__ __forceinline__ float4 fused(float a, float4 x, float4 y) {
	float4 z = {fmaf(a, x.x, y.x), fmaf(a, x.y, y.y), fmaf(a, x.z, y.z), fmaf(a, x.w, y.w)};
	return z;
}
static __device__ __forceinline__ float4 plus(float4 x, float4 y) {
	float4 z = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
	return z;
}
static __device__ __forceinline__ float4 times(float a, float4 x) {
	float4 z = {a * x.x, a * x.y, a * x.z, a * x.w};
	return z;
}
static __device__ __forceinline__ float4 relu(float4 x) {
	float4 z = {x.x > 0 ? x.x : 0, x.y > 0 ? x.y : 0, x.z > 0 ? x.z : 0, x.w > 0 ? x.w : 0};
	return z;
}
static __device__ __forceinline__ float squares(float4 x) { return x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w; }
static __device__ __forceinline__ float warp_sum(float x) {
	for (int d = 16; d > 0; d >>= 1)
		x += __shfl_xor_sync(ALL, x, d);
	return x;
}
// A row of zeros stays one.
static __device__ __forceinline__ float inverse(float squares) { return squares > 0 ? 1.0f / sqrtf(squares) : 0.0f; }

// The columns of part c of a row that a lane has: four of n, from the first on.
static __device__ __forceinline__ u32 column(u32 c) { return (c * 32 + (threadIdx.x & 31)) * 4; }
template <class T> static __device__ __forceinline__ float4 read(const T *row, u32 c, u32 n) {
	return column(c) < n ? get4(row + column(c)) : zero();
}
template <class T> static __device__ __forceinline__ void write(T *row, u32 c, u32 n, float4 x) {
	if (column(c) < n)
		set4(row + column(c), x);
}

// x·Wf1 becomes relu of it, with the sum of squares: a warp a row. Nothing is drawn yet.
extern "C" __global__ void __launch_bounds__(256) saga_own(Number *first, float *squared, u32 *counts, u64 vertices) {
	for (u64 v = (blockIdx.x * (u64)blockDim.x + threadIdx.x) >> 5; v < vertices; v += gridDim.x * (u64)blockDim.x >> 5) {
		float sum = 0;
		for (u32 c = 0; c < NF; c++) {
			float4 x = relu(read(first + v * ROW, c, PF));
			write(first + v * ROW, c, PF, x);
			sum += squares(x);
		}
		sum = warp_sum(sum);
		if ((threadIdx.x & 31) == 0) {
			squared[v] = sum;
			counts[v] = 0;
		}
	}
}

struct Tile { // draws of one child
	const u32 *row;    // its neighbours,
	u32 degree, n;     // so many; draws
	u32 source, child; // of the lane's draw: the source, and which of its children
	u64 first;         // place of the first draw
	float own;         // sum of squares of relu(x·Wf1)
	const Number *rows; // x·Wa1 of all vertices
	Number *mean; // results by place
	float *norm;
	u32 k0, k1;
};

// Ends draw t: mean is relu of it over the norm of the child's row.
static __device__ __forceinline__ void end_draw(const Tile &x, u32 t, float4 *sum) {
	float s = 0;
	#pragma unroll
	for (u32 c = 0; c < NA; c++) {
		sum[c] = relu(times(1.0f / LEAVES, sum[c]));
		s += squares(sum[c]);
	}
	s = inverse(x.own + warp_sum(s));
	#pragma unroll
	for (u32 c = 0; c < NA; c++)
		write(x.mean + (x.first + t) * PA, c, PA, times(s, sum[c]));
	if ((threadIdx.x & 31) == 0)
		x.norm[x.first + t] = s;
}

// Adds a row to M sums.
template <u32 M> static __device__ __forceinline__ void add_row(const Tile &x, u32 v, const float *weights, float4 (*sum)[NA]) {
	float4 y[NA];
	#pragma unroll
	for (u32 c = 0; c < NA; c++)
		y[c] = read(x.rows + (u64)v * ROW, c, PA);
	#pragma unroll
	for (u32 i = 0; i < M; i++)
		#pragma unroll
		for (u32 c = 0; c < NA; c++)
			sum[i][c] = fused(weights[i], y[c], sum[i][c]);
}

// Up to M draws from a short row: counts, then every neighbour once.
template <u32 M> static __device__ __forceinline__ void dense(const Tile &x, u32 *counts) {
	u32 lane = threadIdx.x & 31, t = lane % M;
	u32 source = __shfl_sync(ALL, x.source, t), child = __shfl_sync(ALL, x.child, t);
	for (u32 i = lane; i < x.degree * M; i += 32)
		counts[i] = 0;
	__syncwarp();
	if (t < x.n)
		for (u32 q = lane / M; q < QL; q += 32 / M) {
			Words w = philox(x.k0, x.k1, source, 1 + child, q, 0);
			atomicAdd(counts + pick(w.w0, x.degree) * M + t, 1u);
			if (4 * q + 1 < LEAVES)
				atomicAdd(counts + pick(w.w1, x.degree) * M + t, 1u);
			if (4 * q + 2 < LEAVES)
				atomicAdd(counts + pick(w.w2, x.degree) * M + t, 1u);
			if (4 * q + 3 < LEAVES)
				atomicAdd(counts + pick(w.w3, x.degree) * M + t, 1u);
		}
	__syncwarp();
	float *weights = (float *)counts;
	for (u32 i = lane; i < x.degree * M; i += 32)
		weights[i] = (float)counts[i];
	__syncwarp();
	float4 sum[M][NA];
	#pragma unroll
	for (u32 i = 0; i < M; i++)
		#pragma unroll
		for (u32 c = 0; c < NA; c++)
			sum[i][c] = zero();
	for (u32 k0 = 0; k0 < x.degree; k0 += 32) {
		u32 v = k0 + lane < x.degree ? x.row[k0 + lane] : 0, end = min(32u, x.degree - k0);
		if (M > 4) { // almost all are drawn
			#pragma unroll 4
			for (u32 k = 0; k < end; k++)
				add_row<M>(x, __shfl_sync(ALL, v, k), weights + (k0 + k) * M, sum);
			continue;
		}
		float some = 0;
		if (lane < end)
			#pragma unroll
			for (u32 i = 0; i < M; i++)
				some += weights[(k0 + lane) * M + i];
		for (u32 drawn = __ballot_sync(ALL, some > 0); drawn;) {
			float4 y[AHEAD][NA];
			u32 k[AHEAD];
			#pragma unroll
			for (u32 j = 0; j < AHEAD; j++) {
				k[j] = drawn ? (u32)__ffs(drawn) - 1 : 32;
				drawn &= drawn - 1;
				const Number *row = x.rows + (u64)__shfl_sync(ALL, v, k[j] & 31) * ROW;
				#pragma unroll
				for (u32 c = 0; c < NA; c++)
					y[j][c] = k[j] < 32 ? read(row, c, PA) : zero();
			}
			#pragma unroll
			for (u32 j = 0; j < AHEAD; j++)
				#pragma unroll
				for (u32 i = 0; i < M; i++)
					#pragma unroll
					for (u32 c = 0; c < NA; c++)
						sum[i][c] = fused(k[j] < 32 ? weights[(k0 + k[j]) * M + i] : 0, y[j][c], sum[i][c]);
		}
	}
	#pragma unroll
	for (u32 i = 0; i < M; i++)
		if (i < x.n)
			end_draw(x, i, sum[i]);
	__syncwarp();
}

// Draws from a long row: what is drawn is read. GROUP draws are named together, four leaves a lane; of a draw
// with more leaves than 128 at a time.
static __device__ __forceinline__ void sparse(const Tile &x) {
	u32 lane = threadIdx.x & 31;
	float4 sum[NA];
	for (u32 t0 = 0; t0 < x.n; t0 += GROUP) {
		u32 many = min((u32)GROUP, x.n - t0), of = min(t0 + lane / (QL < 32 ? QL : 32), 31u);
		u32 source = __shfl_sync(ALL, x.source, of), child = __shfl_sync(ALL, x.child, of);
		for (u32 q0 = 0; q0 < QL; q0 += 32) {
			u32 q = q0 + lane % (QL < 32 ? QL : 32);
			Words w = philox(x.k0, x.k1, source, 1 + child, q, 0);
			u32 v0 = x.row[pick(w.w0, x.degree)], v1 = x.row[pick(w.w1, x.degree)], v2 = x.row[pick(w.w2, x.degree)], v3 = x.row[pick(w.w3, x.degree)];
			for (u32 g = 0; g < many; g++) {
				if (q0 == 0)
					#pragma unroll
					for (u32 c = 0; c < NA; c++)
						sum[c] = zero();
				u32 end = min(128u, LEAVES - 4 * q0);
				#pragma unroll 2
				for (u32 i = 0; i < end; i += 4) {
					u32 at = (QL < 32 ? g * QL : 0) + i / 4;
					const Number *r0 = x.rows + (u64)__shfl_sync(ALL, v0, at) * ROW, *r1 = x.rows + (u64)__shfl_sync(ALL, v1, at) * ROW;
					const Number *r2 = x.rows + (u64)__shfl_sync(ALL, v2, at) * ROW, *r3 = x.rows + (u64)__shfl_sync(ALL, v3, at) * ROW;
					#pragma unroll
					for (u32 c = 0; c < NA; c++) {
						float4 a = read(r0, c, PA), b = i + 1 < end ? read(r1, c, PA) : zero();
						float4 d = i + 2 < end ? read(r2, c, PA) : zero(), e = i + 3 < end ? read(r3, c, PA) : zero();
						sum[c] = plus(plus(plus(plus(sum[c], a), b), d), e);
					}
				}
				if (q0 + 32 >= QL)
					end_draw(x, t0 + g, sum);
			}
		}
	}
}

// The leaves of all draws, a warp a tile.
extern "C" __global__ void __launch_bounds__(128, BLOCKS) saga_leaves(const u32 *offsets, const u32 *far, const Number *__restrict__ first, const float *squared,
		const u32 *tiles, const u32 *tile_count, const u32 *draws, const u32 *sources, u64 key, Number *mean, float *norm) {
	extern __shared__ u32 shared[];
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, n = *tile_count;
	for (u32 i = blockIdx.x * (blockDim.x >> 5) + warp; i < n; i += gridDim.x * (blockDim.x >> 5)) {
		uint4 t = ((const uint4 *)tiles)[i];
		Tile x = {};
		u32 self = t.x, lo = offsets[t.x];
		x.row = far + lo;
		x.degree = offsets[t.x + 1] - lo;
		if (SELF && x.degree == 0) {
			x.row = &tiles[4 * (u64)i];
			x.degree = 1;
		}
		x.n = t.z;
		x.first = t.y;
		x.own = squared[self];
		x.rows = first + PF;
		x.mean = mean;
		x.norm = norm;
		x.k0 = (u32)key;
		x.k1 = (u32)(key >> 32);
		if (lane < x.n) {
			u32 at = draws[x.first + lane];
			x.source = sources[at / CHILDREN];
			x.child = at % CHILDREN;
		}
		u32 *counts = shared + warp * (DENSE * TILE);
		if (x.degree > DENSE)
			sparse(x);
#if TILE > 4
		else if (x.n <= TILE / 4)
			dense<TILE / 4>(x, counts);
#endif
#if TILE > 1
		else if (x.n <= TILE / 2)
			dense<TILE / 2>(x, counts);
#endif
		else
			dense<TILE>(x, counts);
	}
}

// The first layer's row of a source, and the mean of its children's: a warp a source.
extern "C" __global__ void __launch_bounds__(256) saga_sources(const Number *__restrict__ first, const float *squared, const u32 *sources, u64 n, const u32 *children,
		const u32 *place, const Number *__restrict__ mean, const float *norm, float *own, float *among) {
	u32 lane = threadIdx.x & 31;
	for (u64 s = (blockIdx.x * (u64)blockDim.x + threadIdx.x) >> 5; s < n; s += gridDim.x * (u64)blockDim.x >> 5) {
		u32 v = sources[s];
		float *to = own + s * ROW, *with = among + s * ROW, all = 0;
		for (u32 c = 0; c < NF || c < NA; c++) {
			float4 fs = zero(), as = zero(), hs = zero();
			for (u32 j0 = 0; j0 < CHILDREN; j0 += 32) {
				u32 u = NONE, at = 0, end = min(32u, CHILDREN - j0);
				float scale = 0;
				if (j0 + lane < CHILDREN && (u = children[s * CHILDREN + j0 + lane]) != NONE) {
					at = place[s * CHILDREN + j0 + lane];
					scale = norm[at];
				}
				if (__shfl_sync(ALL, u, 0) == NONE)
					break; // then no child is one
				#pragma unroll 4
				for (u32 j = 0; j < end; j++) {
					const Number *row = first + (u64)__shfl_sync(ALL, u, j) * ROW, *leaf = mean + (u64)__shfl_sync(ALL, at, j) * PA;
					fs = fused(__shfl_sync(ALL, scale, j), read(row, c, PF), fs);
					as = plus(as, read(row + PF, c, PA));
					hs = plus(hs, read(leaf, c, PA));
				}
			}
			write(with, c, PF, times(1.0f / CHILDREN, fs));
			write(with + PF, c, PA, times(1.0f / CHILDREN, hs));
			as = relu(times(1.0f / CHILDREN, as));
			all += squares(as);
			write(to + PF, c, PA, as);
		}
		float scale = inverse(squared[v] + warp_sum(all));
		for (u32 c = 0; c < NF; c++)
			write(to, c, PF, times(scale, read(first + (u64)v * ROW, c, PF)));
		for (u32 c = 0; c < NA; c++)
			write(to + PF, c, PA, times(scale, read(to + PF, c, PA)));
	}
}

// relu of a row over its norm: a warp a row.
extern "C" __global__ void __launch_bounds__(256) saga_unit(float *rows, u64 n) {
	u32 lane = threadIdx.x & 31;
	for (u64 s = (blockIdx.x * (u64)blockDim.x + threadIdx.x) >> 5; s < n; s += gridDim.x * (u64)blockDim.x >> 5) {
		float *row = rows + s * OUT, sum = 0;
		for (u32 c = lane; c < OUT; c += 32)
			sum += row[c] > 0 ? row[c] * row[c] : 0;
		float scale = inverse(warp_sum(sum));
		for (u32 c = lane; c < OUT; c += 32)
			row[c] = row[c] > 0 ? scale * row[c] : 0;
	}
}
