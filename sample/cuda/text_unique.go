package cuda

// holdText lets draws of a sample hold vertices, each at most one. The reference goes over the draws in order: one whose vertex
// is held draws again. Here all draw at once. A vertex is held by the least draw that has come to it, which
// sends away a greater one that held it; that one draws again. A draw leaves a vertex only for a lesser draw, and vertices once held stay held, so
// in the end each has what it would have in order. Before it stand GROUP, the threads of a sample, and SLOTS, places
// of its table, a power of two.
const holdText = `
#define AGAIN_MOST 255u

// The vertices of a sample with who holds each: 0 if the sample had it before, else (draw + 1) << 8 | times it was made again,
// and NONE if it may be held. free counts those, where it is there.
struct Held { u32 *key, *who, *free; };

static __device__ __forceinline__ u32 hash_of(u32 v) { return (v * 0x9e3779b1u >> 7) & (SLOTS - 1); }

// The place of v in the table, which is put there if it is missing.
static __device__ __forceinline__ u32 place_of(const Held &h, u32 v, bool *fresh) {
	for (u32 at = hash_of(v);; at = (at + 1) & (SLOTS - 1)) {
		u32 was = *(volatile u32 *)(h.key + at);
		if (was == NONE)
			was = atomicCAS(h.key + at, NONE, v);
		if (was == NONE || was == v) {
			*fresh = was == NONE;
			return at;
		}
	}
}

// A draw comes to v. The one that does not hold it then, or NONE.
static __device__ __forceinline__ u32 hold(const Held &h, u32 v, u32 me) {
	bool fresh;
	u32 old = atomicMin(h.who + place_of(h, v, &fresh), me);
	if (old == NONE && h.free)
		atomicAdd(h.free, 0xffffffffu);
	return old > me ? old : me == old ? NONE : me;
}

// Whether v is held by a draw before this one.
static __device__ __forceinline__ bool held_before(const Held &h, u32 v, u32 draw) {
	for (u32 at = hash_of(v);; at = (at + 1) & (SLOTS - 1)) {
		u32 k = *(volatile u32 *)(h.key + at);
		if (k == NONE)
			return false;
		if (k == v)
			return *(volatile u32 *)(h.who + at) >> 8 <= draw;
	}
}

static __device__ __forceinline__ void group_sync() {
	if (GROUP == 32)
		__syncwarp();
	else
		__syncthreads();
}

// A draw that is being made, and how often it was made before.
struct Making { u32 draw, again; };

// Makes a draw that has come to v, and those that it sends away, until none is left, or for so many tries. Some rows have fewer vertices than
// are drawn from them: now and then it is looked up whether there is another at all.
template <class D> static __device__ __forceinline__ bool settle(const Held &h, const D &d, Making &m, u32 v, u32 tries) {
	for (;;) {
		if (v == NONE)
			return true;
		u32 out = hold(h, v, (m.draw + 1) << 8 | m.again);
		if (out == NONE)
			return true;
		m.draw = (out >> 8) - 1;
		m.again = (out & 255) + 1;
		if (m.again > AGAIN_MOST || m.again % 4 == 0 && d.exhausted(h, m.draw, m.again))
			return true;
		if (--tries == 0)
			return false;
		v = d.vertex(m.draw, m.again);
	}
}

#define FOREVER 0xffffffffu
#define EACH 4 // draws that a thread begins at a time, so that their reads overlap

// Makes draws 0 to many-1, those of a group side by side.
template <class D> static __device__ __forceinline__ void settle_all(const Held &h, const D &d, u32 t, u32 many) {
	for (u32 j0 = t; j0 < many; j0 += EACH * GROUP) {
		u32 v[EACH];
		#pragma unroll
		for (u32 q = 0; q < EACH; q++)
			v[q] = j0 + q * GROUP < many ? d.vertex(j0 + q * GROUP, 0) : NONE;
		#pragma unroll
		for (u32 q = 0; q < EACH; q++) {
			Making m = {j0 + q * GROUP, 0};
			settle(h, d, m, v[q], FOREVER);
		}
	}
}
`

// uniqueTreeText is the kernel of a step of trees that adds no vertex twice (InStep): GROUP threads a sample, in blocks
// of 256. PER are the draws of a sample, SIZE those of a transit.
const uniqueTreeText = `
template <u32 SIZE> struct TreeDraws {
	const G &g;
	F &f;
	const u32 *from; // the transits of the sample

	__device__ __forceinline__ void enter(u32 draw) const {
		f.at = from[draw / SIZE];
		f.lo = f.degree = 0;
		if (f.at != NONE) {
			f.lo = g.offsets[f.at];
			f.degree = g.offsets[f.at + 1] - f.lo;
		}
	}
	__device__ __forceinline__ u32 vertex(u32 draw, u32 again) const {
		enter(draw);
		if (f.degree == 0)
			return NONE;
		f.slot = draw | again << 24;
		Words w = {};
		return next<0>(g, f, w).far;
	}
	// All of a row are looked up, which must not cost more than the draws so far.
	__device__ __forceinline__ bool exhausted(const Held &h, u32 draw, u32 again) const {
		enter(draw);
		bool all = f.degree <= 8 * again;
		#pragma unroll 4
		for (u32 j = 0; all && j < f.degree; j++)
			all = held_before(h, end_at(g, f.lo + j).far, draw);
		return all;
	}
};

template <u32 PER, u32 SIZE> static __device__ __forceinline__ void unique_tree(const G &g, const u32 *from, const u32 *roots, u32 *out, u64 n, u32 step, u64 first, u64 key, u64 *wrong, u32 *shared) {
	u32 mine = threadIdx.x / GROUP, t = threadIdx.x % GROUP;
	u64 i = blockIdx.x * (u64)(blockDim.x / GROUP) + mine;
	if (i >= n)
		return;
	Held h = {shared + mine * 2 * SLOTS, shared + mine * 2 * SLOTS + SLOTS, 0};
	for (u32 j = t; j < SLOTS; j += GROUP)
		h.key[j] = h.who[j] = NONE;
	F f = {};
	f.i = i;
	f.n = n;
	f.of = (u32)first + (u32)i;
	f.step = step;
	f.k0 = (u32)key;
	f.k1 = (u32)(key >> 32);
	f.roots = roots;
	f.wrong = wrong;
	out += i * PER;
	for (u32 j = t; j < PER; j += GROUP)
		out[j] = NONE;
	group_sync();
	TreeDraws<SIZE> d = {g, f, from + i * (PER / SIZE)};
	settle_all(h, d, t, PER);
	group_sync();
	for (u32 j = t; j < SLOTS; j += GROUP)
		if (h.key[j] != NONE)
			out[(h.who[j] >> 8) - 1] = h.key[j];
}
`

// uniqueTreeHead is the kernel of one step: its number, PER and SIZE.
const uniqueTreeHead = `
extern "C" __global__ void __launch_bounds__(256) saga_tree_%d(const u32 *offsets, const void *edges, const u32 *far, const float *weight, const float *most,
		const void *table, u64 vertices, const u32 *from, const u32 *roots, u32 *out, u64 n, u64 first, u64 key, u64 *wrong) {
	extern __shared__ u32 shared[];
	G g = {offsets, edges, far, weight, most, table, vertices};
	unique_tree<%[2]d, %[3]d>(g, from, roots, out, n, %[1]d, first, key, wrong, shared);
}
`

// growText is the kernel of samples that grow by steps of SIZE draws from the rows of all that the last step added, without
// a vertex twice, until they have MOST: a block a sample. ROOTS are where a sample begins.
// list has the vertices of each sample, roots first, and place the step and draw of each, as step·SIZE + draw.
const growText = `
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
`
