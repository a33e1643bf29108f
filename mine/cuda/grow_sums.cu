
// The sums of a list of n numbers from first on or, with ones, of 1 for each that is not 0: out[i] is that of the first i, and *all that of all of them. A tile is 1,024 numbers of a block.
#define TILE 1024

static __device__ __forceinline__ u32 number(const u32 *list, u64 i, u64 n, u64 ones) { return i < n ? ones ? list[i] != 0 : list[i] : 0; }

extern "C" __global__ void __launch_bounds__(256) saga_grow_tiles(const u32 *list, u64 n, u64 ones, u64 *tiles) {
	extern __shared__ u32 shared[];
	u64 *sums = (u64 *)shared;
	u64 at = blockIdx.x * (u64)TILE + threadIdx.x, sum = 0;
	for (u32 i = 0; i < TILE; i += 256)
		sum += number(list, at + i, n, ones);
	for (u32 d = 16; d > 0; d >>= 1)
		sum += __shfl_down_sync(ALL, sum, d);
	if ((threadIdx.x & 31) == 0)
		sums[threadIdx.x >> 5] = sum;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (u32 i = 1; i < 8; i++)
			sum += sums[i];
		tiles[blockIdx.x] = sum;
	}
}

// Of one warp: turns the sums of tiles into those of the tiles before.
extern "C" __global__ void __launch_bounds__(32) saga_grow_scan(u64 *tiles, u64 n) {
	u64 done = 0;
	for (u64 base = 0; base < n; base += 32) {
		u64 i = base + threadIdx.x, x = i < n ? tiles[i] : 0, sum = x;
		for (u32 d = 1; d < 32; d <<= 1) {
			u64 other = __shfl_up_sync(ALL, sum, d);
			if (threadIdx.x >= d)
				sum += other;
		}
		if (i < n)
			tiles[i] = done + sum - x;
		done += __shfl_sync(ALL, sum, 31);
	}
}

extern "C" __global__ void __launch_bounds__(256) saga_grow_places(const u32 *list, u64 n, u64 ones, const u64 *tiles, u64 *out, u64 *all) {
	extern __shared__ u32 shared[];
	u64 *sums = (u64 *)shared;
	u64 at = blockIdx.x * (u64)TILE + 4 * threadIdx.x;
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, x[4];
	u64 sum = 0;
	for (u32 i = 0; i < 4; i++)
		sum += x[i] = number(list, at + i, n, ones);
	u64 own = sum;
	for (u32 d = 1; d < 32; d <<= 1) {
		u64 other = __shfl_up_sync(ALL, sum, d);
		if (lane >= d)
			sum += other;
	}
	if (lane == 31)
		sums[warp] = sum;
	__syncthreads();
	u64 before = tiles[blockIdx.x] + sum - own;
	for (u32 i = 0; i < warp; i++)
		before += sums[i];
	for (u32 i = 0; i < 4; i++) {
		if (at + i <= n)
			out[at + i] = before;
		if (at + i == n && all)
			*all = before;
		before += x[i];
	}
}

// Of one warp: divides the rows from begin on, of n, into parts that have no more than so many slots each, up to so many parts: where each ends, and its slots.
extern "C" __global__ void __launch_bounds__(32) saga_grow_cut(const u64 *place, u64 begin, u64 n, u64 most, u64 parts, u64 *out) {
	for (u64 c = 0; c < parts && begin < n; c++) {
		u64 end = begin, from = place[begin];
		for (u64 many = n - begin + 1; many > 1;) {
			u64 step = (many + 31) / 32, i = threadIdx.x * step;
			u64 k = __popc(__ballot_sync(ALL, i < many && place[end + (i < many ? i : 0)] - from <= most)) - 1;
			end += k * step;
			many = min(step, many - k * step);
		}
		if (threadIdx.x == 0) {
			out[2 * c] = end;
			out[2 * c + 1] = place[end] - from;
		}
		if (end == begin)
			break;
		begin = end;
	}
}

// Copies n words to memory of the host.
extern "C" __global__ void __launch_bounds__(32) saga_grow_tell(const u64 *from, u64 n, u64 *to) {
	for (u64 i = threadIdx.x; i < n; i += 32)
		to[i] = from[i];
}

// Of n rows, writes the last edge or vertex of those that others begin with, and how many do. place is how many there are before each.
extern "C" __global__ void __launch_bounds__(128) saga_grow_settle(const u32 *kept, u64 n, const u64 *place, const u32 *values, u32 *out, u32 *counts) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (u64)blockDim.x)
		if (kept[i]) {
			out[place[i]] = values[i];
			counts[place[i]] = kept[i];
		}
}

// Numbers of two bytes as words.
extern "C" __global__ void __launch_bounds__(128) saga_grow_widen(const unsigned short *from, u64 n, u32 *to) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (u64)blockDim.x)
		to[i] = from[i];
}

// How many of the rows that come of each of n rows, from child on, are left.
extern "C" __global__ void __launch_bounds__(128) saga_grow_left(const u64 *child, u64 n, const u64 *place, u32 *kept) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (u64)blockDim.x)
		kept[i] = (u32)(place[child[i + 1]] - place[child[i]]);
}

// Writes the keys that are taken of n places from one on, with their counts, and how many there are.
extern "C" __global__ void __launch_bounds__(128) saga_grow_pack(const u64 *keys, u64 from, u64 n, u64 *out, u64 *many) {
	u32 lane = threadIdx.x & 31;
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i - lane < n; i += gridDim.x * (u64)blockDim.x) {
		u64 key = i < n ? keys[2 * (from + i)] : 0;
		u32 taken = __ballot_sync(ALL, key != 0);
		u64 to = lane == 0 && taken ? atomicAdd(many, (u64)__popc(taken)) : 0;
		to = __shfl_sync(ALL, to, 0) + __popc(taken & ((1u << lane) - 1));
		if (key) {
			out[2 * to] = key;
			out[2 * to + 1] = keys[2 * (from + i) + 1];
		}
	}
}
