
// The words for which of need neighbours that may follow a row do, kept of them: see PackedWords of package table.
static __device__ __forceinline__ u32 list_words(u32 need, u32 kept) { return need <= 1u << 16 ? (kept + 1) / 2 : kept; }
static __device__ __forceinline__ u32 bit_words(u32 need) { return (u32)(((u64)need + 31) / 32); }
static __device__ __forceinline__ u32 packed_words(u32 need, u32 kept) { return kept == 0 || kept == need ? 0 : min(bit_words(need), list_words(need, kept)); }

// The sums of a list of n numbers or of what is made of each: out[i] is that of the first i, and *all that of all of them. A tile is 1,024 numbers of a block.
#define TILE 1024
#define ONES 1 // 1 for each that is not 0
#define ROUNDED 2 // the number, rounded up to 32
#define PACKED_OF 3 // the words of a row that so many follow, of need

static __device__ __forceinline__ u32 number(const u32 *list, const u32 *need, u64 i, u64 n, u64 of) {
	if (i >= n)
		return 0;
	u32 x = list[i];
	return of == ONES ? x != 0 : of == ROUNDED ? (x + 31) & ~31u : of == PACKED_OF ? packed_words(need[i], x) : x;
}

extern "C" __global__ void __launch_bounds__(256) saga_grow_tiles(const u32 *list, const u32 *need, u64 n, u64 of, u64 *tiles) {
	extern __shared__ u32 shared[];
	u64 *sums = (u64 *)shared;
	u64 at = blockIdx.x * (u64)TILE + threadIdx.x, sum = 0;
	for (u32 i = 0; i < TILE; i += 256)
		sum += number(list, need, at + i, n, of);
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

extern "C" __global__ void __launch_bounds__(256) saga_grow_places(const u32 *list, const u32 *need, u64 n, u64 of, const u64 *tiles, u64 *out, u64 *all) {
	extern __shared__ u32 shared[];
	u64 *sums = (u64 *)shared;
	u64 at = blockIdx.x * (u64)TILE + 4 * threadIdx.x;
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, x[4];
	u64 sum = 0;
	for (u32 i = 0; i < 4; i++)
		sum += x[i] = number(list, need, at + i, n, of);
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
extern "C" __global__ void __launch_bounds__(32) saga_grow_cut(const u64 *place, const u64 *packs, u64 begin, u64 n, u64 most, u64 parts, u64 *out) {
	for (u64 c = 0; c < parts && begin < n; c++) {
		u64 end = begin, from = place[begin];
		for (u64 many = n - begin + 1; many > 1;) {
			u64 step = (many + 31) / 32, i = threadIdx.x * step;
			u64 k = __popc(__ballot_sync(ALL, i < many && place[end + (i < many ? i : 0)] - from <= most)) - 1;
			end += k * step;
			many = min(step, many - k * step);
		}
		if (threadIdx.x == 0) {
			out[3 * c] = end;
			out[3 * c + 1] = place[end] - from;
			out[3 * c + 2] = packs ? packs[end] - packs[begin] : 0;
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

// Writes what follows each of n rows, of which there is a bit for each neighbour that may, in as few words as there can be, and adds how many rows follow to *all. place is where bits of the rows begin, of
// which the first n numbers are of these rows, to where words do.
extern "C" __global__ void __launch_bounds__(128) saga_grow_shrink(const u32 *bits, const u32 *need, const u32 *kept, u64 n, const u64 *place, const u64 *to, u32 *out, u64 *all) {
	u32 lane = threadIdx.x & 31;
	u64 sum = 0;
	for (u64 r = blockIdx.x * (u64)(blockDim.x >> 5) + (threadIdx.x >> 5); r < n; r += gridDim.x * (u64)(blockDim.x >> 5)) {
		u32 may = need[r], follow = kept[r], words = packed_words(may, follow), whole = bit_words(may);
		const u32 *from = bits + (place[r] - place[0]) / 32;
		u32 *at = out + to[r];
		sum += follow;
		if (words == 0)
			continue;
		if (words == whole) {
			for (u32 i = lane; i < words; i += 32)
				at[i] = from[i];
			continue;
		}
		for (u32 i = 0, k = 0; i < whole; i++) {
			u32 x = from[i], number = k + __popc(x & ((1u << lane) - 1));
			k += __popc(x);
			if (!(x >> lane & 1))
				continue;
			if (may <= 1u << 16)
				((u16 *)at)[number] = (u16)(32 * i + lane);
			else
				at[number] = 32 * i + lane;
		}
		if (may <= 1u << 16 && (follow & 1) && lane == 0)
			((u16 *)at)[follow] = 0;
	}
	if (lane == 0 && sum)
		atomicAdd(all, sum);
}

// The other way: writes a bit for each neighbour that may follow each of n rows. Words of the rows begin at from.
extern "C" __global__ void __launch_bounds__(128) saga_grow_open(const u32 *packed, const u32 *need, const u32 *kept, u64 n, const u64 *place, const u64 *from, u32 *bits) {
	u32 lane = threadIdx.x & 31;
	for (u64 r = blockIdx.x * (u64)(blockDim.x >> 5) + (threadIdx.x >> 5); r < n; r += gridDim.x * (u64)(blockDim.x >> 5)) {
		u32 may = need[r], follow = kept[r], words = packed_words(may, follow), whole = bit_words(may);
		const u32 *at = packed + (from[r] - from[0]);
		u32 *to = bits + (place[r] - place[0]) / 32;
		bool copied = words > 0 && words == whole;
		for (u32 i = lane; i < whole; i += 32)
			to[i] = copied ? at[i] : words || follow == 0 ? 0 : may - 32 * i < 32 ? (1u << (may - 32 * i)) - 1 : ALL;
		__syncwarp();
		if (copied || words == 0)
			continue;
		for (u32 i = lane; i < follow; i += 32) {
			u32 x = may <= 1u << 16 ? ((const u16 *)at)[i] : at[i];
			atomicOr(&to[x >> 5], 1u << (x & 31));
		}
	}
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
