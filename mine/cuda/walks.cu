
// Rows are short up to a: few threads go through one. Each asks for several entries before it
// looks at one, as it waits for memory most of the time.
#define LANES 4
#define PULL 8
#define PUSH 2

// The walks of two edges from a root: near are counters of type T from the vertex base on.
template <class T> struct Walks {
	u32 *near, *far, base;

	// Counts a walk that ends at v, and returns how many did before.
	__device__ __forceinline__ u32 count(u32 v) const {
		if (v < base)
			return atomicAdd(far + v, 1u);
		const u32 some = 4 / sizeof(T), i = v - base, shift = i % some * 8 * sizeof(T);
		return (T)(atomicAdd(near + i / some, 1u << shift) >> shift);
	}
	__device__ __forceinline__ u32 at(u32 v) const { return v >= base ? ((const T *)near)[v - base] : far[v]; }
	__device__ __forceinline__ void clear(u32 v) const {
		if (v >= base)
			((T *)near)[v - base] = 0;
		else
			far[v] = 0;
	}
};

// A warp counts the walks whose last edge is in the row, and lists where there were none. For
// four edges it returns the number of pairs of these with those before them.
template <class T> static __device__ __forceinline__ u64 push(Walks<T> x, Row r, u32 a, u32 *ends, u32 *count, u32 lane) {
	u64 pairs = 0;
	for (u32 j = lane;; j += 32 * PUSH) {
		u32 v[PUSH];
		#pragma unroll
		for (u32 k = 0; k < PUSH; k++)
			v[k] = j + 32 * k < r.degree ? r.at[j + 32 * k] : ALL;
		#pragma unroll
		for (u32 k = 0; k < PUSH; k++) {
			bool counts = EDGES == 4 ? v[k] < a : v[k] <= a, first = false;
			if (counts) {
				u32 before = x.count(v[k]);
				first = before == 0;
				if (EDGES == 4)
					pairs += before;
			}
			u32 m = __ballot_sync(ALL, first);
			if (m) {
				u32 at = lane == 0 ? atomicAdd(count, (u32)__popc(m)) : 0;
				at = __shfl_sync(ALL, at, 0);
				if (first)
					ends[at + __popc(m & ((1u << lane) - 1))] = v[k];
			}
		}
		if (__any_sync(ALL, v[PUSH - 1] > a))
			break;
	}
	return pairs;
}

// LANES threads add up the walks at what u has above, up to a.
template <class T> static __device__ __forceinline__ u64 pull(Walks<T> x, Row r, u32 a) {
	u64 walks = 0;
	for (u32 j = r.below + threadIdx.x % LANES; j < r.degree; j += LANES * PULL) {
		u32 v[PULL];
		#pragma unroll
		for (u32 k = 0; k < PULL; k++)
			v[k] = j + LANES * k < r.degree ? r.at[j + LANES * k] : ALL;
		#pragma unroll
		for (u32 k = 0; k < PULL; k++)
			if (v[k] <= a)
				walks += x.at(v[k]);
		if (v[PULL - 1] > a)
			break;
	}
	return walks;
}

// The block's root a. count is 0.
template <class T> static __device__ __forceinline__ void walks_of(const Row *rows, Row root, u32 a, u64 nears, u32 *near, u32 *far, u32 *ends, u32 *count,
		Sum &sum, Sum &twice) {
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
	u32 room = (u32)nears * (4 / sizeof(T));
	Walks<T> x = {near, far, a < room ? 0 : a + 1 - room};
	for (u32 i = warp; i < root.below; i += warps)
		add(sum, push(x, rows[root.at[i]], a, ends, count, lane));
	__syncthreads();
	u32 n = *count;
#if EDGES == 5
	for (u32 i = threadIdx.x; i < root.below; i += blockDim.x)
		add_product(twice, x.at(root.at[i]), root.below);
	for (u32 i = threadIdx.x / LANES; i < n; i += blockDim.x / LANES) {
		u32 u = ends[i];
		add_product(sum, pull(x, rows[u], a), x.at(u));
	}
	__syncthreads();
#endif
	for (u32 i = threadIdx.x; i < n; i += blockDim.x)
		x.clear(ends[i]);
}

extern "C" __global__ void __launch_bounds__(1024) saga_walks(const Row *rows, u64 *state, u64 *next, u64 lo, u64 hi, u64 step,
		u64 vertices, u64 nears, u32 *counters, u32 *lists, Sum *out) {
	extern __shared__ u32 shared[];
	u64 *taken = (u64 *)shared;
	u32 *count = shared + 2, *near = shared + 4;
	u32 *far = counters + blockIdx.x * vertices, *ends = lists + blockIdx.x * vertices;
	Sum sum = {0, 0}, twice = {0, 0};
	for (u32 i = threadIdx.x; i < nears; i += blockDim.x)
		near[i] = 0;
	for (;;) {
		__syncthreads();
		if (threadIdx.x == 0) {
			*taken = next_task(state, next, lo, hi, step);
			*count = 0;
		}
		__syncthreads();
		u64 task = *taken;
		if (task == ~0ull)
			break;
		u32 a = (u32)(vertices - 1 - task);
		Row root = rows[a];
		if (root.degree < BYTE)
			walks_of<u8>(rows, root, a, nears, near, far, ends, count, sum, twice);
		else if (root.degree < HALF)
			walks_of<u16>(rows, root, a, nears, near, far, ends, count, sum, twice);
		else
			walks_of<u32>(rows, root, a, nears, near, far, ends, count, sum, twice);
	}
	u64 all = gridDim.x * (u64)(blockDim.x >> 5);
	finish(sum, out);
	finish(twice, out + all);
}
