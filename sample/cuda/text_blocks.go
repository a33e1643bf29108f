package cuda

// blocksText, rowsText (text_rows.go) and hopsText are the kernels of a batch of blocks: for each hop a draw and a
// place, and then saga_finish. Nothing waits for the host: how many rows and edges there are stands in
// words of the batch, which each kernel reads and writes.
//
// A vertex's entry in the table is the batch's tag above ~x, where x is the first place at which it stands: the number of
// a seed, or SEEDS more than the place of an edge's far end among those of all hops. atomicMax keeps the least x whatever the order
// of threads, and entries of earlier batches have lower tags, so nothing is cleared between batches.
//
// A place in far first has an id. When the hop is placed it has its local number, with the
// highest bit set, if the vertex stands there for the first time, and else the x where it does; saga_finish makes local
// numbers of both.
//
// Positions come from sums over tiles. A block takes the next tile by a ticket, publishes its
// sum with the tag, and adds up those of all tiles before: their blocks have begun, so that they end.
const blocksText = `
enum { TAG, KEY0, KEY1, SEED0 = 4, SEED1, EPOCH, NUMBER, FROM, SIZE, TOTAL, WRONG, COUNT = 16, EDGES = 32, TICKET = 48 };

static __device__ __forceinline__ u64 marked(u32 tag, u32 x) { return (u64)tag << 32 | (u32)~x; }

static __device__ __forceinline__ u32 waited(const u64 *sum, u32 tag) {
	u64 x = *(const volatile u64 *)sum;
	while ((u32)(x >> 32) != tag) {
		__nanosleep(20);
		x = *(const volatile u64 *)sum;
	}
	return (u32)x;
}

// The sum over the tiles before.
static __device__ __forceinline__ u32 before_tile(const u64 *sums, u32 tile, u32 tag, u32 *room) {
	u32 sum = 0;
	for (u32 j = threadIdx.x; j < tile; j += THREADS)
		sum += waited(sums + j, tag);
	return block_sum(sum, room);
}

static __device__ __forceinline__ u32 next_tile(u32 *ticket, u32 *room) {
	if (threadIdx.x == 0)
		room[0] = atomicAdd(ticket, 1u);
	__syncthreads();
	u32 tile = room[0];
	__syncthreads();
	return tile;
}

// How many seeds the batch has, and its key.
static __device__ __forceinline__ u32 seeds_of(const u32 *b) {
	u32 from = b[FROM], size = b[SIZE], total = b[TOTAL], left = total > from ? total - from : 0;
	return size < left ? size : left;
}

static __device__ __forceinline__ Words stream_of(const u32 *b) { return philox(b[SEED0], b[SEED1], b[EPOCH], b[NUMBER], 0, 0); }
`

const hopsText = `
// The draws of a hop: rows begin at begin, edges are far and edge. LANES are the lanes that a row has; LOOPS the most
// loops of a vertex that are kept.
template <u32 K, u32 LANES, u32 ROWS, bool AGAIN, u32 LOOPS> static __device__ __forceinline__ void draw(const u32 *offsets, const uint2 *pairs, u32 *b, u32 hop,
		const u32 *seeds, u32 *vertices, u64 *table, u64 *sums, u32 *begin, u32 *far, u32 *edge, u32 start, Scores scores, u32 *shared) {
	const u32 MOST = ROWS * (K + LOOPS), EACH = (MOST + THREADS - 1) / THREADS;
	u32 *room = shared, *place = shared + 32, *rowAt = place + MOST, *spare = rowAt + ROWS;
	Row *rows = (Row *)(spare + (K > 32 ? ROWS * K : 0));
	u32 t = threadIdx.x, tag = b[TAG], n, k0, k1;
	if (hop == 0) // the batch begins
		n = seeds_of(b);
	else {
		n = b[COUNT + hop];
		k0 = b[KEY0];
		k1 = b[KEY1];
	}
	u32 skip = ONLY_NEW && hop > 0 ? b[COUNT + hop - 1] : 0, all = n - skip; // rows that draw
	u32 tile = next_tile(b + TICKET + 2 * hop, room), first = tile * ROWS;
	if (first >= all) {
		if (all == 0 && tile == 0 && t == 0)
			b[EDGES + hop] = begin[0] = 0;
		return;
	}
	Row r = {};
	u32 total;
	bool row = t < ROWS && first + t < all;
	if (row) {
		if (hop == 0) {
			r.v = seeds[b[FROM] + first + t];
			vertices[first + t] = r.v;
			atomicMax(table + r.v, marked(tag, first + t));
		} else
			r.v = vertices[skip + first + t];
		r.lo = offsets[r.v];
		r.d = offsets[r.v + 1] - r.lo;
		if (LOOPS > 0)
			find_loops(pairs, r);
#if METHOD
		r.m = places<K, AGAIN>(scores.drawable[r.v], 0);
#else
		r.m = places<K, AGAIN>(r.d, r.loops);
#endif
	}
	u32 at = block_scan(r.m, room, &total);
	if (t == 0)
		*(volatile u64 *)(sums + tile) = (u64)tag << 32 | total;
	if (hop == 0) {
		Words w = stream_of(b);
		k0 = w.w0;
		k1 = w.w1;
		if (tile == 0 && t == 0) {
			b[KEY0] = k0;
			b[KEY1] = k1;
			b[COUNT] = n;
		}
	}
#if METHOD
	if (r.m > 0 && !by_score<K, AGAIN>(scores, k0, k1, hop, r, scores.drawable[r.v], place + at))
		b[WRONG] = 1;
#else
	if (LANES == 1) {
		if (r.m > 0)
			Chosen<K, AGAIN>::thread(k0, k1, hop, r, place + at);
	} else {
		if (t < ROWS) {
			rowAt[t] = at;
			rows[t] = r;
		}
		__syncthreads();
		u32 mine = t / LANES;
		if (K > 32)
			Chosen<K, AGAIN>::warp(k0, k1, hop, rows[mine], spare + mine * K, place + rowAt[mine]);
		else
			Chosen<K, AGAIN>::template lanes<LANES>(k0, k1, hop, rows[mine], place + rowAt[mine]);
	}
#endif
	__syncthreads();
	uint2 got[EACH];
	#pragma unroll
	for (u32 j = 0; j < EACH; j++)
		if (j * THREADS + t < total)
			got[j] = pairs[place[j * THREADS + t]];
	u32 base = before_tile(sums, tile, tag, room);
	#pragma unroll
	for (u32 j = 0; j < EACH; j++) {
		u32 e = j * THREADS + t;
		if (e < total) {
			far[base + e] = got[j].x;
			edge[base + e] = got[j].y;
			atomicMax(table + got[j].x, marked(tag, start + base + e));
		}
	}
	if (row)
		begin[first + t] = base + at;
	if (t == 0 && first + ROWS >= all) {
		begin[all] = base + total;
		b[EDGES + hop] = base + total;
	}
}

#define FIRST 0x80000000u

// Gives vertices that stand in far for the first time their local numbers, in the order of the edges. ids and far may be the same.
template <u32 EACH> static __device__ __forceinline__ void place(u32 *b, u32 hop, u32 *vertices, const u64 *table, u64 *sums, const u32 *ids, u32 *far, u32 start, u32 *shared) {
	const u32 WARPS = THREADS / 32;
	u32 *room = shared, *counts = shared + 32;
	u32 t = threadIdx.x, lane = t & 31, warp = t >> 5, tag = b[TAG], n = b[COUNT + hop], m = b[EDGES + hop];
	u32 tile = next_tile(b + TICKET + 2 * hop + 1, room), first = tile * THREADS * EACH;
	if (first >= m) {
		if (m == 0 && tile == 0 && t == 0)
			b[COUNT + hop + 1] = n;
		return;
	}
	u32 v[EACH], x[EACH], ballot[EACH];
	#pragma unroll
	for (u32 j = 0; j < EACH; j++) {
		u32 e = first + j * THREADS + t;
		v[j] = e < m ? ids[e] : NONE;
	}
	#pragma unroll
	for (u32 j = 0; j < EACH; j++)
		x[j] = v[j] == NONE ? NONE : ~(u32)table[v[j]];
	#pragma unroll
	for (u32 j = 0; j < EACH; j++) {
		ballot[j] = __ballot_sync(ALL, v[j] != NONE && x[j] == start + first + j * THREADS + t);
		if (lane == 0)
			counts[j * WARPS + warp] = __popc(ballot[j]);
	}
	__syncthreads();
	u32 total, c = t < EACH * WARPS ? counts[t] : 0;
	c = block_scan(c, room, &total);
	if (t < EACH * WARPS)
		counts[t] = c;
	if (t == 0)
		*(volatile u64 *)(sums + tile) = (u64)tag << 32 | total;
	u32 base = before_tile(sums, tile, tag, room) + n;
	#pragma unroll
	for (u32 j = 0; j < EACH; j++)
		if (v[j] != NONE) {
			if (ballot[j] >> lane & 1) {
				u32 id = base + counts[j * WARPS + warp] + __popc(ballot[j] & ((1u << lane) - 1));
				vertices[id] = v[j];
				x[j] = id | FIRST;
			}
			far[first + j * THREADS + t] = x[j];
		}
	if (t == 0 && first + THREADS * EACH >= m)
		b[COUNT + hop + 1] = base + total;
}

// The local number of what stands in far. Others may have made local numbers of theirs already.
static __device__ __forceinline__ u32 local_of(u32 x, const u32 *all, u32 seeds) {
	return x & FIRST ? x & ~FIRST : x < seeds ? x : *(const volatile u32 *)(all + (x - seeds)) & ~FIRST;
}
`

// drawHead is the kernel that draws the edges of a hop: its number, draws of a row, lanes a row, rows a block, whether with replacement, and
// loops.
const drawHead = `
extern "C" __global__ void __launch_bounds__(THREADS) saga_draw_%[1]d(const u32 *offsets, const u32 *pairs, u32 *b, const u32 *seeds, u32 *vertices, u64 *table, u64 *sums, u32 *begin, u32 *far, u32 *edge, u64 start,
		const void *table_of_scores, const float *most, const float *score, const u32 *drawable) {
	Scores scores = {table_of_scores, most, score, drawable};
	extern __shared__ u32 shared[];
	draw<%[2]d, %[3]d, %[4]d, %[5]v, %[6]d>(offsets, (const uint2 *)pairs, b, %[1]d, seeds, vertices, table, sums, begin, far, edge, (u32)start, scores, shared);
}
`

// placeHead is the kernel that numbers the far ends of a hop: its number, and edges that a thread places.
const placeHead = `
extern "C" __global__ void __launch_bounds__(THREADS) saga_place_%[1]d(u32 *b, u32 *vertices, const u64 *table, u64 *sums, const u32 *ids, u32 *far, u64 start) {
	extern __shared__ u32 shared[];
	place<%[2]d>(b, %[1]d, vertices, table, sums, ids, far, (u32)start, shared);
}
`

// finishHead and finishHop are saga_finish: far ends become local numbers, and the words of the batch are those
// of the next one. finishHop is for a hop.
const finishHead = `
extern "C" __global__ void __launch_bounds__(THREADS) saga_finish(u32 *b, u32 *all, u64 seeds%s) {
	u32 at = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
`

const finishHop = `	for (u32 e = at; e < b[EDGES + %[1]d]; e += step)
		far%[1]d[e] = local_of(far%[1]d[e], all, (u32)seeds);
`

const finishEnd = `	if (at == 0) {
		for (u32 i = 0; i < 2 * HOPS; i++)
			b[TICKET + i] = 0;
		b[TAG]++;
		b[NUMBER]++;
		b[FROM] += b[SIZE];
	}
}
`

// scanText sums over the threads of a block, THREADS of them.
const scanText = `
// The sum of x over the block, which all threads get. room is one word a warp.
static __device__ __forceinline__ u32 block_sum(u32 x, u32 *room) {
	for (int d = 16; d > 0; d >>= 1)
		x += __shfl_down_sync(ALL, x, d);
	if ((threadIdx.x & 31) == 0)
		room[threadIdx.x >> 5] = x;
	__syncthreads();
	u32 sum = 0;
	for (u32 w = 0; w < THREADS / 32; w++)
		sum += room[w];
	__syncthreads();
	return sum;
}

// The sum of x over the threads before, and over all.
static __device__ __forceinline__ u32 block_scan(u32 x, u32 *room, u32 *all) {
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, sum = x;
	for (u32 d = 1; d < 32; d <<= 1) {
		u32 y = __shfl_up_sync(ALL, sum, d);
		if (lane >= d)
			sum += y;
	}
	if (lane == 31)
		room[warp] = sum;
	__syncthreads();
	u32 before = 0, total = 0;
	for (u32 w = 0; w < THREADS / 32; w++) {
		before += w < warp ? room[w] : 0;
		total += room[w];
	}
	__syncthreads();
	*all = total;
	return before + sum - x;
}
`
