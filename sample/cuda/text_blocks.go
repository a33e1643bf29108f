package cuda

// blocksText is the kernels of a batch of blocks: saga_begin, then for each hop a draw and a
// place, and saga_finish. Nothing waits for the host: how many rows and edges there are stands in
// words of the batch, which each kernel reads and writes.
//
// A vertex's entry in the table is the batch's tag above ~x. For a vertex of the sample x
// is its local number; for one that the hop has drawn, n and the least position among the edges of
// the hop, where n vertices were there before. atomicMax keeps the least x whatever the order of threads, and
// entries of earlier batches have lower tags, so nothing is cleared between batches.
//
// Positions come from sums over tiles. A block takes the next tile by a ticket, publishes its
// sum with the tag, and adds up those of all tiles before: their blocks have begun, so that they end.
const blocksText = `
enum { TAG, KEY0, KEY1, SEED0 = 4, SEED1, EPOCH, NUMBER, FROM, SIZE, TOTAL, COUNT = 16, EDGES = 32, TICKET = 48 };

static __device__ __forceinline__ u64 marked(u32 tag, u32 x) { return (u64)tag << 32 | (u32)~x; }

static __device__ __forceinline__ u32 waited(const u64 *sum, u32 tag) {
	u64 x = *(const volatile u64 *)sum;
	while ((u32)(x >> 32) != tag) {
		__nanosleep(20);
		x = *(const volatile u64 *)sum;
	}
	return (u32)x;
}

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

extern "C" __global__ void __launch_bounds__(256) saga_begin(u32 *b, const u32 *seeds, u64 *table, u32 *vertices) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, from = b[FROM], size = b[SIZE], total = b[TOTAL], left = total > from ? total - from : 0;
	u32 n = size < left ? size : left;
	if (i < n) {
		u32 v = seeds[from + i];
		vertices[i] = v;
		atomicMax(table + v, marked(b[TAG], i));
	}
	if (i == 0) {
		Words w = philox(b[SEED0], b[SEED1], b[EPOCH], b[NUMBER], 0, 0);
		b[KEY0] = w.w0;
		b[KEY1] = w.w1;
		b[COUNT] = n;
	}
}

// A row of which some edges are drawn: d places from lo on, of which first to first+loops-1 are always taken
// and take no part in the draw. It has m places in the block.
struct Row { u32 v, lo, d, first, loops, m; };

// How many places a row gives: K or all, and the loops.
template <u32 K, bool AGAIN> static __device__ __forceinline__ u32 places(u32 d, u32 loops) {
	u32 n = d - loops;
	return (AGAIN ? (n ? K : 0) : n < K ? n : K) + loops;
}

// Writes place c of those that take part, of which rank are before it.
static __device__ __forceinline__ void put(const Row &r, u32 *to, u32 rank, u32 c) {
	u32 after = c >= r.first ? r.loops : 0;
	to[rank + after] = r.lo + c + after;
}

// Places in a row, ascending: without replacement by Floyd's method, or with it.
template <u32 K, bool AGAIN> struct Chosen {
	// A thread a row.
	static __device__ __forceinline__ void thread(u32 k0, u32 k1, u32 step, const Row &r, u32 *to) {
		u32 n = r.d - r.loops;
		if (!AGAIN && n <= K) {
			for (u32 j = 0; j < r.d; j++)
				to[j] = r.lo + j;
			return;
		}
		u32 c[K], less = 0;
		#pragma unroll
		for (u32 q = 0; q < (K + 3) / 4; q++) {
			Words w = philox(k0, k1, r.v, step, q, 0);
			u32 word[4] = {w.w0, w.w1, w.w2, w.w3};
			#pragma unroll
			for (u32 i = 0; i < 4; i++) {
				u32 j = 4 * q + i;
				if (j < K) {
					u32 top = AGAIN ? n - 1 : n - K + j, x = __umulhi(word[i], top + 1);
					bool taken = false;
					#pragma unroll
					for (u32 a = 0; a < K; a++)
						if (a < j)
							taken |= c[a] == x;
					c[j] = !AGAIN && taken ? top : x;
				}
			}
		}
		if (r.m == r.loops) // there is nothing to draw from
			n = 0;
		#pragma unroll
		for (u32 j = 0; j < K; j++) {
			u32 rank = 0;
			#pragma unroll
			for (u32 a = 0; a < K; a++)
				rank += c[a] < c[j] || a < j && c[a] == c[j];
			if (n)
				put(r, to, rank, c[j]);
			less += n && c[j] < r.first;
		}
		for (u32 j = 0; j < r.loops; j++)
			to[less + j] = r.lo + r.first + j;
	}

	// LANES lanes a row, all of the warp at work.
	template <u32 LANES> static __device__ __forceinline__ void lanes(u32 k0, u32 k1, u32 step, const Row &r, u32 *to) {
		u32 l = threadIdx.x % LANES, n = r.d - r.loops, m = r.m - r.loops;
		Words w = philox(k0, k1, r.v, step, l, 0);
		u32 w0 = __shfl_sync(ALL, w.w0, l >> 2, LANES), w1 = __shfl_sync(ALL, w.w1, l >> 2, LANES);
		u32 w2 = __shfl_sync(ALL, w.w2, l >> 2, LANES), w3 = __shfl_sync(ALL, w.w3, l >> 2, LANES);
		u32 word = (l & 3) == 0 ? w0 : (l & 3) == 1 ? w1 : (l & 3) == 2 ? w2 : w3;
		bool whole = !AGAIN && n <= K;
		u32 top = AGAIN ? n - 1 : n - K + l, c = whole ? l : __umulhi(word, top + 1);
		if (!AGAIN) {
			#pragma unroll
			for (u32 q = 0; q < K; q++) {
				u32 x = __shfl_sync(ALL, c, q, LANES);
				if (!whole && l > q && c == x)
					c = top;
			}
		}
		u32 rank = 0, less = 0;
		#pragma unroll
		for (u32 q = 0; q < K; q++) {
			u32 x = __shfl_sync(ALL, c, q, LANES);
			rank += q < m && (x < c || x == c && q < l);
			less += q < m && x < r.first;
		}
		if (l < m)
			put(r, to, rank, c);
		for (u32 j = l; j < r.loops; j += LANES)
			to[less + j] = r.lo + r.first + j;
	}

	// A warp a row, for any K: places are kept in room, K words, and compared there.
	static __device__ __forceinline__ void warp(u32 k0, u32 k1, u32 step, const Row &r, u32 *room, u32 *to) {
		u32 l = threadIdx.x % 32, n = r.d - r.loops, m = r.m - r.loops;
		bool whole = !AGAIN && n <= K;
		for (u32 j = l; j < m; j += 32) {
			Words w = philox(k0, k1, r.v, step, j >> 2, 0);
			u32 word = (j & 3) == 0 ? w.w0 : (j & 3) == 1 ? w.w1 : (j & 3) == 2 ? w.w2 : w.w3;
			room[j] = whole ? j : __umulhi(word, AGAIN ? n : n - K + j + 1);
		}
		__syncwarp();
		for (u32 j = 1; !AGAIN && !whole && j < m; j++) {
			bool same = false;
			for (u32 a = l; a < j; a += 32)
				same |= room[a] == room[j];
			same = __any_sync(ALL, same);
			if (same && l == 0)
				room[j] = n - K + j;
			__syncwarp();
		}
		u32 less = 0;
		for (u32 j = l; j < m; j += 32) {
			u32 c = room[j], rank = 0;
			for (u32 a = 0; a < m; a++)
				rank += room[a] < c || room[a] == c && a < j;
			put(r, to, rank, c);
			less += c < r.first;
		}
		for (u32 d = 16; d > 0; d >>= 1)
			less += __shfl_down_sync(ALL, less, d);
		less = __shfl_sync(ALL, less, 0);
		for (u32 j = l; j < r.loops; j += 32)
			to[less + j] = r.lo + r.first + j;
	}
};

// The places of the row of v that come from v itself.
static __device__ __forceinline__ void find_loops(const uint2 *pairs, Row &r) {
	u32 lo = 0, n = r.d;
	while (n > 0) {
		u32 half = n >> 1;
		bool up = pairs[r.lo + lo + half].x < r.v;
		lo = up ? lo + half + 1 : lo;
		n = up ? n - half - 1 : half;
	}
	r.first = lo;
	while (lo < r.d && pairs[r.lo + lo].x == r.v)
		lo++;
	r.loops = lo - r.first;
}

// The draws of a hop: rows begin at begin, edges are far and edge. LANES are the lanes that a row has; LOOPS the most
// loops of a vertex that are kept.
template <u32 K, u32 LANES, u32 ROWS, bool AGAIN, u32 LOOPS> static __device__ __forceinline__ void draw(const u32 *offsets, const uint2 *pairs, u32 *b, u32 hop,
		const u32 *vertices, u64 *table, u64 *sums, u32 *begin, u32 *far, u32 *edge, u32 *shared) {
	const u32 MOST = ROWS * (K + LOOPS), EACH = (MOST + THREADS - 1) / THREADS;
	u32 *room = shared, *place = shared + 32, *rowAt = place + MOST, *spare = rowAt + ROWS;
	Row *rows = (Row *)(spare + (K > 32 ? ROWS * K : 0));
	u32 t = threadIdx.x, tag = b[TAG], n = b[COUNT + hop], k0 = b[KEY0], k1 = b[KEY1];
	u32 tile = next_tile(b + TICKET + 2 * hop, room), first = tile * ROWS;
	if (first >= n)
		return;
	Row r = {};
	u32 total;
	bool row = t < ROWS && first + t < n;
	if (row) {
		r.v = vertices[first + t];
		r.lo = offsets[r.v];
		r.d = offsets[r.v + 1] - r.lo;
		if (LOOPS > 0)
			find_loops(pairs, r);
		r.m = places<K, AGAIN>(r.d, r.loops);
	}
	u32 at = block_scan(r.m, room, &total);
	if (t == 0)
		*(volatile u64 *)(sums + tile) = (u64)tag << 32 | total;
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
			atomicMax(table + got[j].x, marked(tag, n + base + e));
		}
	}
	if (row)
		begin[first + t] = base + at;
	if (t == 0 && first + ROWS >= n) {
		begin[n] = base + total;
		b[EDGES + hop] = base + total;
	}
}

// Gives vertices that the hop has drawn for the first time their local numbers, in the order of the edges.
template <u32 EACH> static __device__ __forceinline__ void place(u32 *b, u32 hop, u32 *vertices, u64 *table, u64 *sums, const u32 *far, u32 *shared) {
	const u32 WARPS = THREADS / 32;
	u32 *room = shared, *counts = shared + 32;
	u32 t = threadIdx.x, lane = t & 31, warp = t >> 5, tag = b[TAG], n = b[COUNT + hop], m = b[EDGES + hop];
	u32 tile = next_tile(b + TICKET + 2 * hop + 1, room), first = tile * THREADS * EACH;
	if (first >= m) {
		if (m == 0 && tile == 0 && t == 0)
			b[COUNT + hop + 1] = n;
		return;
	}
	u32 v[EACH], ballot[EACH];
	#pragma unroll
	for (u32 j = 0; j < EACH; j++) {
		u32 e = first + j * THREADS + t;
		v[j] = e < m ? far[e] : NONE;
	}
	#pragma unroll
	for (u32 j = 0; j < EACH; j++) {
		u32 e = first + j * THREADS + t;
		bool mine = e < m && table[v[j]] == marked(tag, n + e);
		ballot[j] = __ballot_sync(ALL, mine);
		if (lane == 0)
			counts[j * WARPS + warp] = __popc(ballot[j]);
	}
	__syncthreads();
	u32 total, x = t < EACH * WARPS ? counts[t] : 0;
	x = block_scan(x, room, &total);
	if (t < EACH * WARPS)
		counts[t] = x;
	if (t == 0)
		*(volatile u64 *)(sums + tile) = (u64)tag << 32 | total;
	u32 base = before_tile(sums, tile, tag, room) + n;
	#pragma unroll
	for (u32 j = 0; j < EACH; j++)
		if (ballot[j] >> lane & 1) {
			u32 id = base + counts[j * WARPS + warp] + __popc(ballot[j] & ((1u << lane) - 1));
			vertices[id] = v[j];
			table[v[j]] = marked(tag, id);
		}
	if (t == 0 && first + THREADS * EACH >= m)
		b[COUNT + hop + 1] = base + total;
}
`

// drawHead is the draw of a hop: its number, draws of a row, lanes a row, rows a block, and whether with replacement.
const drawHead = `
extern "C" __global__ void __launch_bounds__(THREADS) saga_draw_%[1]d(const u32 *offsets, const u32 *pairs, u32 *b, const u32 *vertices, u64 *table, u64 *sums, u32 *begin, u32 *far, u32 *edge) {
	extern __shared__ u32 shared[];
	draw<%[2]d, %[3]d, %[4]d, %[5]v, %[6]d>(offsets, (const uint2 *)pairs, b, %[1]d, vertices, table, sums, begin, far, edge, shared);
}
extern "C" __global__ void __launch_bounds__(THREADS) saga_place_%[1]d(u32 *b, u32 *vertices, u64 *table, u64 *sums, const u32 *far) {
	extern __shared__ u32 shared[];
	place<PLACE_EACH>(b, %[1]d, vertices, table, sums, far, shared);
}
`

// finishHead and finishHop are saga_finish: far ends become local numbers, and the words of the batch are those
// of the next one.
const finishHead = `
extern "C" __global__ void __launch_bounds__(THREADS) saga_finish(u32 *b, const u64 *table, %s) {
	u64 at = blockIdx.x * (u64)blockDim.x + threadIdx.x, all = gridDim.x * (u64)blockDim.x;
`

const finishHop = `	for (u64 e = at; e < b[EDGES + %[1]d]; e += all)
		far%[1]d[e] = ~(u32)table[far%[1]d[e]];
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
