
struct PoolDraws {
	const u32 *offsets, *far;
	const u32 *row, *after; // of the pool: where each row begins, and the edges up to and with it
	u32 rows, edges;
	u32 k0, k1, of, step;

	__device__ __forceinline__ u32 at(u32 place) const {
		u32 lo = 0, n = rows - 1;
		while (n > 0) {
			u32 half = n >> 1;
			bool up = after[lo + half] <= place;
			lo = up ? lo + half + 1 : lo;
			n = up ? n - half - 1 : half;
		}
		return far[row[lo] + (place - (lo ? after[lo - 1] : 0))];
	}
	__device__ __forceinline__ u32 vertex(u32 draw, u32 again) const {
		return at(__umulhi(philox(k0, k1, of, step, draw | again << 24, counter(0, 0)).w0, edges));
	}
	// All vertices of the pool come into the table, and those are counted that the sample does not have.
	__device__ __forceinline__ void list_free(const Held &h, u32 t) const {
		u32 free = 0;
		for (u32 place = t; place < edges; place += GROUP) {
			bool fresh;
			place_of(h, at(place), &fresh);
			free += fresh;
		}
		atomicAdd(h.free, free);
	}
	__device__ __forceinline__ bool exhausted(const Held &, u32, u32) const { return false; } // see settle_few
};

// Makes a group's draws from j0 on where all that they can give stand in the table. When all of these are held, draws after the last that holds one
// add nothing. False if draws after this group add nothing either. room is two words.
template <class D> static __device__ __forceinline__ bool settle_few(const Held &h, const D &d, u32 t, u32 j0, u32 many, u32 *room) {
	Making m = {j0 + t, 0};
	bool busy = m.draw < many;
	for (;;) {
		if (busy)
			busy = !settle(h, d, m, d.vertex(m.draw, m.again), 4);
		if (t == 0)
			room[0] = room[1] = 0;
		__syncthreads();
		u32 last = 0;
		bool full = *(volatile u32 *)h.free == 0;
		for (u32 at = t; full && at < SLOTS; at += GROUP)
			if (h.key[at] != NONE && h.who[at] >> 8 > last)
				last = h.who[at] >> 8;
		if (last > 0)
			atomicMax(room, last);
		__syncthreads();
		busy = busy && !(full && m.draw >= *(volatile u32 *)room);
		if (busy)
			atomicOr(room + 1, 1u);
		__syncthreads();
		u32 goes_on = *(volatile u32 *)(room + 1);
		__syncthreads();
		if (!goes_on)
			return !full;
	}
}

// The table has the vertices of the sample and nothing else.
static __device__ __forceinline__ void enter_table(const Held &h, const u32 *list, u32 length, u32 t) {
	__syncthreads();
	for (u32 j = t; j < SLOTS; j += GROUP)
		h.key[j] = h.who[j] = NONE;
	__syncthreads();
	for (u32 j = t; j < length; j += GROUP) {
		bool fresh;
		h.who[place_of(h, *(volatile u32 *)(list + j), &fresh)] = 0;
	}
	__syncthreads();
}

extern "C" __global__ void __launch_bounds__(256) saga_grow(const u32 *offsets, const u32 *far, const u32 *roots, u32 *list, u32 *place, u32 *count, u64 steps, u64 first, u64 key) {
	extern __shared__ u32 shared[];
	u32 *room = shared, *row = shared + 32, *after = row + SIZE + ROOTS, *value = after + SIZE + ROOTS;
	Held h = {value + SIZE, value + SIZE + SLOTS, shared + 31};
	u32 t = threadIdx.x, length = ROOTS, begin = 0;
	bool listed = true; // vertices stand in the table that the sample does not have
	u64 i = blockIdx.x;
	list += i * MOST;
	place += i * MOST;
	for (u32 j = t; j < ROOTS; j += GROUP)
		list[j] = roots[i * ROOTS + j];
	PoolDraws d = {offsets, far, row, after, 0, 0, (u32)key, (u32)(key >> 32), (u32)first + (u32)i, 0};
	for (u32 step = 0; step < (u32)steps && length < MOST; step++) {
		__syncthreads();
		d.step = step;
		d.rows = length - begin;
		d.edges = 0;
		for (u32 j0 = 0; j0 < d.rows; j0 += GROUP) { // the pool
			u32 j = j0 + t, n = 0, all;
			if (j < d.rows) {
				u32 v = *(volatile u32 *)(list + begin + j);
				row[j] = offsets[v];
				n = offsets[v + 1] - row[j];
			}
			u32 before = block_scan(n, room, &all);
			if (j < d.rows)
				after[j] = d.edges + before + n;
			d.edges += all;
		}
		if (d.edges == 0)
			break;
		bool few = d.edges + length <= SLOTS / 4 * 3; // then all that may be drawn stand in the table
		if (few || listed)
			enter_table(h, list, length, t);
		if (t == 0)
			*h.free = few ? 0 : 1u << 31;
		__syncthreads();
		if (few)
			d.list_free(h, t);
		listed = few;
		for (u32 j = t; j < SIZE; j += GROUP)
			value[j] = NONE;
		__syncthreads();
		if (few)
			for (u32 j0 = 0; j0 < SIZE && settle_few(h, d, t, j0, SIZE, shared + 29); j0 += GROUP)
				;
		else
			settle_all(h, d, t, SIZE);
		__syncthreads();
		for (u32 j = t; j < SLOTS; j += GROUP)
			if (h.key[j] != NONE && h.who[j] != 0 && h.who[j] != NONE) {
				value[(h.who[j] >> 8) - 1] = h.key[j];
				h.who[j] = 0;
			}
		__syncthreads();
		begin = length;
		for (u32 j0 = 0; j0 < SIZE && length < MOST; j0 += GROUP) {
			u32 j = j0 + t, v = j < SIZE ? value[j] : NONE, all, at = length + block_scan(v != NONE, room, &all);
			if (v != NONE && at < MOST) {
				*(volatile u32 *)(list + at) = v;
				place[at] = step * SIZE + j;
			}
			length = length + all < MOST ? length + all : MOST;
		}
		if (length == begin)
			break;
	}
	if (t == 0)
		count[i] = length;
}
