
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
