
// A bit for each neighbour that may follow a row: whether it does. Neighbours are numbered place by place, and each row begins with a word. A warp holds GROUP rows: lane g * PLACES + p looks
// at place p of row g. It has three times 32 * PLACES words: by place and row the vertex, which of its neighbours is the first that may follow, and how many may up to this place.
#define GROUP (32 / PLACES)
#define FROM (32 * PLACES)
#define UPTO (64 * PLACES)

// Takes the rows from one on, to end at most.
static __device__ __forceinline__ void take_rows(const Row *rows, u32 *at, const u32 *parents, u64 parent_room, u64 row, u64 end, u32 lane) {
	u32 g = lane / PLACES, p = lane % PLACES, k = 0;
	bool there = g < GROUP && row + g < end;
	__syncwarp();
	if (there)
		at[32 * p + g] = parents[p * parent_room + row + g];
	__syncwarp();
	u32 sum = there ? follow(rows, at + g, p, k) : 0;
	for (u32 d = 1; d < PLACES; d <<= 1) {
		u32 other = __shfl_up_sync(ALL, sum, d);
		if (p >= d)
			sum += other;
	}
	if (there) {
		at[FROM + 32 * p + g] = k;
		at[UPTO + 32 * p + g] = sum;
	}
	__syncwarp();
}

// How many may follow the row that own is of.
static __device__ __forceinline__ u32 may_follow(const u32 *own) { return own[UPTO + 32 * (PLACES - 1)]; }

// Number k of those that may follow: its place, and the vertex.
static __device__ __forceinline__ u32 neighbour(const Row *rows, const u32 *own, u32 k, u32 &p) {
	p = 0;
	for (u32 i = 0; i + 1 < PLACES; i++)
		p += k >= own[UPTO + 32 * i];
	return rows[own[32 * p]].at[own[FROM + 32 * p] + k - (p ? own[UPTO + 32 * (p - 1)] : 0)];
}

// Whether y, a neighbour at place p of those that may, follows.
static __device__ __forceinline__ bool follows(const Row *rows, const int *label, const u64 *off, const int *kind, const u32 *own, u32 p, u32 y) {
	bool ok = true;
#if VERTICES
	for (u32 q = 0; q < p; q++) {
		u32 z = own[32 * q];
		Row list = rows[z];
		u32 k = lower(list.at, list.degree, y);
		ok = ok && z != y && !(k < list.degree && list.at[k] == y);
	}
#else
	// The edge touches its first edge at x: its other end is new, or comes with a later edge.
	u32 seen = NONE, x = own[32 * p], lo = min(x, y), hi = max(x, y);
	for (u32 q = PLACES; q-- > 0;)
		if (own[32 * q] == y)
			seen = q;
	if (seen != NONE) {
		ok = seen / 2 > p / 2;
		for (u32 i = 0; i < SIZE; i++)
			ok = ok && !(own[64 * i] == lo && own[64 * i + 32] == hi);
	}
#endif
#ifdef WHERE
	ok = ok && (WHERE);
#endif
	return ok;
}

// Of the rows from begin to end, writes which neighbours follow each, from a word of the row on; kept is how many.
extern "C" __global__ void __launch_bounds__(128) saga_grow_bits(const Row *rows, const int *label, const u64 *off, const int *kind, const u32 *parents, u64 parent_room, u64 first, u64 begin, u64 end, const u64 *place,
		u32 *kept, u32 *words, u64 *next) {
	extern __shared__ u32 shared[];
	u32 lane = threadIdx.x & 31, *at = shared + (threadIdx.x >> 5) * WORDS;
	for (;;) {
		u64 r = lane == 0 ? atomicAdd(next, 1ull) : 0;
		r = begin + 32 * __shfl_sync(ALL, r, 0);
		if (r >= end)
			break;
		for (u64 upto = min(end, r + 32); r < upto; r += GROUP) {
			take_rows(rows, at, parents, parent_room, r, upto, lane);
			for (u32 g = 0; g < GROUP && r + g < upto; g++) {
				const u32 *own = at + g;
				u32 n = may_follow(own), many = 0, *to = words + (place[r + g] - place[begin]) / 32;
				for (u32 k = 0; k < n; k += 32) {
					bool ok = false;
					if (k + lane < n) {
						u32 p, y = neighbour(rows, own, k + lane, p);
						ok = follows(rows, label, off, kind, own, p, y);
					}
					u32 word = __ballot_sync(ALL, ok);
					many += __popc(word);
					if (lane == 0)
						to[k / 32] = word;
				}
				if (lane == 0)
					kept[r + g] = many;
			}
		}
	}
}
