
// Of the rows from begin to end, writes what follows each to as many slots as there are neighbours that may: slots of a row are in the order of the rows that come
// of it. A neighbour that does not follow leaves NONE. kept is how many do. If there are words, they say which do (grow_bits.cu), and a row has a multiple of 32 slots. A warp lays the neighbours of 32 rows in a line, place by place.
extern "C" __global__ void __launch_bounds__(128) saga_grow_fill(const Row *rows, const int *label, const u64 *off, const int *kind, const u32 *parents, u64 parent_room, u64 first,
		u64 begin, u64 end, const u64 *place, u32 *kept, const u32 *words, u32 *slots, u64 *next) {
	extern __shared__ u32 shared[];
	u32 lane = threadIdx.x & 31;
	u32 *at = shared + (threadIdx.x >> 5) * WORDS, *from = at + 32 * LISTS, *upto = from + 32 * LISTS, *many = upto + 32 * LISTS, *to = many + 32;
	for (;;) {
		u64 group = lane == 0 ? atomicAdd(next, 1ull) : 0;
		group = begin + 32 * __shfl_sync(ALL, group, 0);
		if (group >= end)
			break;
		u64 r = group + lane;
		if (r < end)
			put(at + lane, parents, parent_room, first, r);
		many[lane] = 0;
		to[lane] = r < end ? (u32)(place[r] - place[begin]) : 0;
		u32 total = 0, last[LISTS];
		for (u32 p = 0; p < LISTS; p++) {
			u32 k = 0, n = r < end ? follow(rows, at + lane, p, k) : 0, sum = n;
			for (u32 d = 1; d < 32; d <<= 1) {
				u32 other = __shfl_up_sync(ALL, sum, d);
				if (lane >= d)
					sum += other;
			}
			from[32 * p + lane] = k;
			upto[32 * p + lane] = total + sum;
			total += __shfl_sync(ALL, sum, 31);
			last[p] = total;
		}
		__syncwarp();
		for (u32 e = lane; e < total; e += 32) {
			u32 p = 0, row = 0;
			for (u32 i = 0; i + 1 < LISTS; i++)
				p += e >= last[i];
			for (u32 d = 16; d > 0; d >>= 1)
				if (upto[32 * p + row + d - 1] <= e)
					row += d;
			const u32 *own = at + row;
			u32 x = own[32 * p], begins = row ? upto[32 * p + row - 1] : p ? upto[32 * p - 1] : 0, rank = e - begins;
			bool ok = true;
#if SIZE == 0 && VERTICES
			u32 y = x, code = x;
			(void)y;
#else
			u32 index = from[32 * p + row] + rank, y = rows[x].at[index];
#if SIZE == 0
			u32 code = (u32)off[x] + index;
#else
			u32 code = p << NEAR | index;
#endif
			u32 lo = min(x, y), hi = max(x, y);
			(void)lo; (void)hi;
#if SIZE > 0
			for (u32 q = 0; q < LISTS; q++) {
				u32 z = own[32 * q], least;
				if (q == p)
					continue;
				u32 n = upto[32 * q + row] - (row ? upto[32 * q + row - 1] : q ? upto[32 * q - 1] : 0);
#if VERTICES
				if (n == 0 && q > p)
					continue;
				Row list = rows[z];
				least = lower(list.at, list.degree, y);
				if (q < p && (z == y || least < list.degree && list.at[least] == y)) {
					ok = false;
					least += z != y;
				}
				if (n)
					rank += least > from[32 * q + row] ? least - from[32 * q + row] : 0;
#else
				if (n == 0)
					continue;
				if (z < lo) { // all of its edges come before
					rank += n;
					continue;
				}
				least = z == lo ? hi + (q < p) : z == hi ? lo + (q < p) : lo + (z < hi);
				Row list = rows[z];
				least = lower(list.at, list.degree, least);
				rank += least > from[32 * q + row] ? least - from[32 * q + row] : 0;
#endif
			}
#if !VERTICES
			// The edge touches its first edge at x: its other end is new, or comes with a later edge.
			u32 seen = NONE;
			for (u32 q = PLACES; q-- > 0;)
				if (own[32 * q] == y)
					seen = q;
			if (seen != NONE) {
				ok = seen / 2 > p / 2;
				for (u32 i = 0; i < SIZE; i++)
					ok = ok && !(own[64 * i] == lo && own[64 * i + 32] == hi);
			}
#endif
#endif
#endif
#ifdef WHERE
			ok = ok && (WHERE);
#endif
			if (words) {
				u32 k = e - begins;
				for (u32 q = 0; q < p; q++)
					k += upto[32 * q + row] - (row ? upto[32 * q + row - 1] : q ? upto[32 * q - 1] : 0);
				ok = words[(to[row] + k) >> 5] >> (k & 31) & 1;
			}
			slots[to[row] + rank] = ok ? code : NONE;
			if (ok)
				atomicAdd(&many[row], 1u);
		}
		__syncwarp();
		if (r < end) {
			kept[r] = many[lane];
			if (words) {
				u64 at = place[r] - place[begin];
				for (u32 p = 0; p < LISTS; p++)
					at += upto[32 * p + lane] - (lane ? upto[32 * p + lane - 1] : p ? upto[32 * p - 1] : 0);
				for (; at < place[r + 1] - place[begin]; at++)
					slots[at] = NONE;
			}
		}
		__syncwarp();
	}
}

// Writes what is in the slots of n rows from begin on, in their order and without gaps: the last edge or vertex and, if there is out, the rows. place is where
// slots of a row begin, child where what comes of it does.
extern "C" __global__ void __launch_bounds__(128) saga_grow_rows(const Row *rows, const u64 *off, u64 vertices, const u32 *parents, u64 parent_room, u64 begin, u64 n,
		const u64 *place, const u64 *child, const u32 *slots, u32 *values, u32 *out, u64 out_room, u64 *next) {
	extern __shared__ u32 shared[];
	u32 lane = threadIdx.x & 31, *start = shared + (threadIdx.x >> 5) * WORDS, *own = start + 32 + lane;
	for (;;) {
		u64 group = lane == 0 ? atomicAdd(next, 1ull) : 0;
		group = 32 * __shfl_sync(ALL, group, 0);
		if (group >= n)
			break;
		u64 s = place[begin + group] - place[begin], to = child[group], all = place[begin + min(n, group + 32)] - place[begin] - s;
		__syncwarp();
		start[lane] = group + lane < n ? (u32)(place[begin + group + lane] - place[begin] - s) : NONE;
		__syncwarp();
		for (u64 i = 0; i < all; i += 32) {
			u32 v = i + lane < all ? slots[s + i + lane] : NONE, good = __ballot_sync(ALL, v != NONE);
			u64 k = to + __popc(good & ((1u << lane) - 1));
			to += __popc(good);
			if (v == NONE)
				continue;
			if (values)
				values[k] = v;
			if (!out)
				continue;
			u32 row = 0;
			for (u32 d = 16; d > 0; d >>= 1)
				if (row + d < 32 && start[row + d] <= i + lane)
					row += d;
			u64 r = begin + group + row;
			u32 a, b = 0;
			put(own, parents, parent_room, 0, r);
			grown(rows, off, vertices, own, v, a, b);
			own[32 * PLACES] = a;
#if !VERTICES
			own[32 * PLACES + 32] = b;
#endif
			for (u32 p = 0; p < PLACES + STEP; p++)
				out[p * out_room + k] = own[32 * p];
		}
	}
}
