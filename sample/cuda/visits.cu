
// The walks of a row from v, of a batch's key: after each move the vertex, NONE for v itself and behind the end of a walk.
template <u32 WALKS, u32 LENGTH, u32 LANES> static __device__ __forceinline__ void walk_from(const G &g, u32 k0, u32 k1, u32 hop, u32 v, u32 *seen) {
	for (u32 walk = threadIdx.x % LANES; walk < WALKS; walk += LANES) {
		Words key = philox(k0, k1, walk, hop, NONE, 0), none = {};
		F f = {};
		f.of = v;
		f.k0 = key.w0;
		f.k1 = key.w1;
		End e = {v, 0, 0};
		e.lo = g.offsets[v];
		e.degree = g.offsets[v + 1] - e.lo;
		for (u32 i = 0; i < LENGTH; i++) {
			f.step = i;
			f.at = e.far;
			f.lo = e.lo;
			f.degree = e.degree;
			if (e.far != NONE && e.degree > 0) {
				e = next<0>(g, f, none);
				enter(g, e);
			} else
				e = no_end();
			seen[walk * LENGTH + i] = e.far == v ? NONE : e.far;
		}
	}
}

// The rows of a hop: they begin at begin, edges have far ends, weights and, as numbers, their own places.
template <u32 WALKS, u32 LENGTH, u32 TOP, u32 LANES> static __device__ __forceinline__ void visit(const G &g, u32 *b, u32 hop, const u32 *seeds, u32 *vertices, u64 *table, u64 *sums,
		u32 *begin, u32 *far, u32 *edge, float *weight, u32 start, u32 *shared) {
	const u32 ROWS = THREADS / LANES, SEEN = WALKS * LENGTH;
	u32 *room = shared, *counts = room + 32, *rowAt = counts + ROWS;
	u32 t = threadIdx.x, mine = t / LANES, l = t % LANES, tag = b[TAG], n, k0, k1;
	u32 *seen = rowAt + ROWS + mine * SEEN, *times = seen + ROWS * SEEN, *kept = times + ROWS * SEEN; // of the row
	if (hop == 0) { // the batch begins
		Words w = stream_of(b);
		n = seeds_of(b);
		k0 = w.w0;
		k1 = w.w1;
	} else {
		n = b[COUNT + hop];
		k0 = b[KEY0];
		k1 = b[KEY1];
	}
	u32 tile = next_tile(b + TICKET + 2 * hop, room), first = tile * ROWS;
	if (first >= n) {
		if (n == 0 && tile == 0 && t == 0)
			b[EDGES + hop] = begin[0] = 0;
		return;
	}
	if (hop == 0 && tile == 0 && t == 0) {
		b[KEY0] = k0;
		b[KEY1] = k1;
		b[COUNT] = n;
	}
	bool row = first + mine < n;
	if (row) {
		u32 v = hop == 0 ? seeds[b[FROM] + first + mine] : vertices[first + mine];
		if (hop == 0 && l == 0) {
			vertices[first + mine] = v;
			atomicMax(table + v, marked(tag, first + mine));
		}
		walk_from<WALKS, LENGTH, LANES>(g, k0, k1, hop, v, seen);
	}
	__syncthreads();
	for (u32 j = l; row && j < SEEN; j += LANES) { // of equal entries the first has how many they are
		u32 x = seen[j], same = 0, before = 0;
		for (u32 a = 0; a < SEEN; a++) {
			same += seen[a] == x;
			before += seen[a] == x && a < j;
		}
		times[j] = x == NONE || before > 0 ? 0 : same;
	}
	__syncthreads();
	for (u32 j = l; row && j < SEEN; j += LANES) {
		u32 rank = 0;
		for (u32 a = 0; a < SEEN; a++)
			rank += times[a] > times[j] || times[a] == times[j] && seen[a] < seen[j];
		kept[j] = times[j] > 0 && rank < TOP ? times[j] : 0;
	}
	__syncthreads();
	u32 m = 0, sum = 0;
	for (u32 a = 0; row && a < SEEN; a++) {
		m += kept[a] > 0;
		sum += kept[a];
	}
	if (l == 0)
		counts[mine] = m;
	__syncthreads();
	u32 total, at = block_scan(t < ROWS ? counts[t] : 0, room, &total);
	if (t < ROWS)
		rowAt[t] = at;
	if (t == 0)
		*(volatile u64 *)(sums + tile) = (u64)tag << 32 | total;
	u32 base = before_tile(sums, tile, tag, room);
	for (u32 j = l; row && j < SEEN; j += LANES)
		if (kept[j] > 0) {
			u32 e = base + rowAt[mine];
			for (u32 a = 0; a < SEEN; a++)
				e += kept[a] > 0 && seen[a] < seen[j];
			far[e] = seen[j];
			edge[e] = e;
			weight[e] = __fdiv_rn((float)kept[j], (float)sum);
			atomicMax(table + seen[j], marked(tag, start + e));
		}
	if (row && l == 0)
		begin[first + mine] = base + rowAt[mine];
	if (t == 0 && first + ROWS >= n) {
		begin[n] = base + total;
		b[EDGES + hop] = base + total;
	}
}
