
// A tile is TILE keys, which a block of 256 threads places: EACH keys a thread. Words of shared memory: the tile's keys, counts by warp and digit,
// 256 words for places, 256 for where digits go, splitters, 8 sums of warps.
#define TILE (256 * EACH)
#define MANY (2 * TILE)
#define PLACE (MANY + 8 * 256)
#define GOAL (PLACE + 256)
#define SPLIT (GOAL + 256)
#define SUMS (SPLIT + 256)

// The digit of a key: eight of its bits or, with splitters, which ascend, twice the number of those below it and, if it is one, 1 more.
static __device__ __forceinline__ u32 digit_of(u64 key, u64 shift, const u64 *split, u32 splits) {
	if (splits == 0)
		return key >> shift & 255;
	u32 lo = 0, n = splits;
	while (n > 0) {
		u32 half = n >> 1;
		bool up = split[lo + half] < key;
		lo = up ? lo + half + 1 : lo;
		n = up ? n - half - 1 : half;
	}
	return 2 * lo + (lo < splits && split[lo] == key);
}

// The sum of x over the lanes of the warp up to this one.
static __device__ __forceinline__ u32 upTo(u32 x, u32 lane) {
	for (u32 d = 1; d < 32; d <<= 1) {
		u32 y = __shfl_up_sync(ALL, x, d);
		if (lane >= d)
			x += y;
	}
	return x;
}

// The sum of x over the threads of the block before this one. All 256 threads take part.
static __device__ u32 before(u32 x, u32 *sums) {
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, sum = upTo(x, lane);
	if (lane == 31)
		sums[warp] = sum;
	__syncthreads();
	u32 less = 0;
	for (u32 w = 0; w < warp; w++)
		less += sums[w];
	__syncthreads();
	return less + sum - x;
}

// Counts the digits of each tile: counts[digit * tiles + tile].
extern "C" __global__ void __launch_bounds__(256) saga_sort_count(const u64 *keys, u64 n, u64 shift, const u64 *splitters, u64 splits, u32 *counts) {
	extern __shared__ u32 shared[];
	u32 *many = shared + MANY, t = threadIdx.x, tiles = gridDim.x;
	u64 *split = (u64 *)(shared + SPLIT), first = blockIdx.x * (u64)TILE;
	for (u32 w = 0; w < 8; w++)
		many[256 * w + t] = 0;
	if (t < splits)
		split[t] = splitters[t];
	__syncthreads();
	u32 m = (u32)min((u64)TILE, n - first);
	for (u32 i = t; i < m; i += 256)
		atomicAdd(&many[256 * (t >> 5) + digit_of(keys[first + i], shift, split, (u32)splits)], 1u);
	__syncthreads();
	u32 sum = 0;
	for (u32 w = 0; w < 8; w++)
		sum += many[256 * w + t];
	counts[t * (u64)tiles + blockIdx.x] = sum;
}

// Block d, a warp, turns the counts of digit d into where the keys of each tile begin among those of the digit, and counts these.
extern "C" __global__ void __launch_bounds__(32) saga_sort_scan(u32 *counts, u64 tiles, u64 *totals) {
	u32 *row = counts + blockIdx.x * tiles, lane = threadIdx.x, done = 0;
	if (tiles <= 16) { // of one lane
		for (u64 i = 0; lane == 0 && i < tiles; i++) {
			u32 x = row[i];
			row[i] = done;
			done += x;
		}
		if (lane == 0)
			totals[blockIdx.x] = done;
		return;
	}
	for (u64 base = 0; base < tiles; base += 512) {
		u64 at = base + 16 * lane;
		u32 x[16], sum = 0;
		for (u32 i = 0; i < 16; i++) {
			x[i] = at + i < tiles ? row[at + i] : 0;
			sum += x[i];
		}
		u32 place = done + upTo(sum, lane) - sum;
		for (u32 i = 0; i < 16; i++) {
			if (at + i < tiles)
				row[at + i] = place;
			place += x[i];
		}
		done = __shfl_sync(ALL, place, 31);
	}
	if (lane == 0)
		totals[blockIdx.x] = done;
}

// Writes the keys in the order of their digits; keys of one digit keep their order. A tile is put in order in shared memory first, so that neighbours
// are written together.
extern "C" __global__ void __launch_bounds__(256, 3) saga_sort_place(const u64 *keys, u64 *out, u64 n, u64 shift, const u64 *splitters, u64 splits, const u32 *counts,
		const u64 *totals) {
	extern __shared__ u32 shared[];
	u64 *tile = (u64 *)shared, *split = (u64 *)(shared + SPLIT), first = blockIdx.x * (u64)TILE;
	u32 *goal = shared + GOAL, *sums = shared + SUMS, t = threadIdx.x, lane = t & 31, tiles = gridDim.x;
	u32 *many = shared + MANY + 256 * (t >> 5); // of this warp
	for (u32 w = 0; w < 8; w++)
		shared[MANY + 256 * w + t] = 0;
	if (t < splits)
		split[t] = splitters[t];
	u32 start = before((u32)totals[t], sums); // of digit t in out
	u32 m = (u32)min((u64)TILE, n - first);
	u32 own = 32 * EACH * (t >> 5) + lane;
	u64 key[EACH];
	u32 place[EACH]; // the digit, and the key's number among those of the warp that have it
#pragma unroll
	for (u32 i = 0; i < EACH; i++)
		key[i] = own + 32 * i < m ? keys[first + own + 32 * i] : 0;
#pragma unroll
	for (u32 i = 0; i < EACH; i++) {
		bool is = own + 32 * i < m;
		u32 d = is ? digit_of(key[i], shift, split, (u32)splits) : ALL, same = __match_any_sync(ALL, d);
		u32 less = __popc(same & ((1u << lane) - 1)), seen = is ? many[d] : 0;
		__syncwarp();
		if (is && less == 0)
			many[d] = seen + __popc(same);
		__syncwarp();
		place[i] = d << 16 | (seen + less);
	}
	__syncthreads();
	u32 sum = 0; // of digit t; by warp: how many there are in those before
	for (u32 w = 0; w < 8; w++) {
		u32 x = shared[MANY + 256 * w + t];
		shared[MANY + 256 * w + t] = sum;
		sum += x;
	}
	u32 local = before(sum, sums);
	for (u32 w = 0; w < 8; w++)
		shared[MANY + 256 * w + t] += local;
	goal[t] = start + counts[t * (u64)tiles + blockIdx.x] - local;
	__syncthreads();
#pragma unroll
	for (u32 i = 0; i < EACH; i++)
		if (own + 32 * i < m)
			tile[many[place[i] >> 16] + (place[i] & 0xffff)] = key[i];
	__syncthreads();
	for (u32 i = t; i < m; i += 256) {
		u64 k = tile[i];
		out[goal[digit_of(k, shift, split, (u32)splits)] + i] = k;
	}
}
