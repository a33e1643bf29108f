
// What a launch has done: groups of words taken, rows with the key that the table cannot hold; the keys in the table; and warps that have words left.
struct Counted { u64 next, top, keys, left; };

// Keys that a block has met, and how often: places of a power of two, of which a key may have one of four. A key here is in the table, at slot.
#define CACHE 512
struct Met { u64 key; u32 slot, times; };

// A table of keys, and what a block has met of them.
struct Keys { u64 *keys, mask; Counted *done; Met *met; };

// Counts a row with a key in each lane that is there.
static __device__ __forceinline__ void count_key(Keys t, bool there, u64 key, u32 lane) {
	u32 slot = NONE;
	bool is_new = false;
	if (there) {
		key ^= 1ull << 63;
		if (key + 1 == 0)
			atomicAdd(&t.done->top, 1ull);
		else {
			u32 h = (u32)((key + 1) * 0x9e3779b97f4a7c15ull >> 40);
			u64 seen = 0;
			Met *m = t.met;
			for (u32 i = 0; i < 4; i++) {
				m = t.met + (h + i & CACHE - 1);
				seen = *(volatile u64 *)&m->key;
				if (seen == 0 || seen == key + 1)
					break;
			}
			if (seen != key + 1) {
				slot = (u32)slot_of(t.keys, 2, t.mask, key, is_new);
				if (seen == 0) {
					seen = atomicCAS(&m->key, 0ull, key + 1);
					if (seen == 0) {
						m->slot = slot;
						seen = key + 1;
					}
				}
			}
			if (seen == key + 1) {
				atomicAdd(&m->times, 1u);
				slot = NONE;
			}
		}
	}
	if (__any_sync(ALL, slot != NONE)) {
		u32 same = __match_any_sync(ALL, slot);
		if (slot != NONE && (same & ((1u << lane) - 1)) == 0)
			atomicAdd(t.keys + 2 * (u64)slot + 1, (u64)__popc(same));
	}
	u32 fresh = __popc(__ballot_sync(ALL, is_new));
	if (lane == 0 && fresh)
		atomicAdd(&t.done->keys, (u64)fresh);
}

#if SIZE > 0
// What a lane has found: whether number k of those that may follow the row that own is of does, by the words of the row or, without words, by itself, and the key of the row that comes of it.
struct Found { bool there; u64 key; };

static __device__ __forceinline__ Found find(const Row *rows, const int *label, const u32 *classes, const u64 *off, const int *kind, const u32 *kinds, u64 many_kinds, const u32 *own, const u32 *words, u32 k, u32 may) {
	Found f = {k < may && (!words || words[k >> 5] >> (k & 31) & 1), 0};
	if (f.there) {
		u32 p, a = neighbour(rows, own, k, p), b = 0;
		f.there = words || follows(rows, label, off, kind, own, p, a);
#if !VERTICES
		b = max(a, own[32 * p]);
		a = min(a, own[32 * p]);
#endif
		f.key = (u64)(KEY);
	}
	return f;
}
#endif

// Counts by KEY the rows that come of the rows of SIZE edges (vertices) from begin to end, which have n slots, 32 to a word: those whose bits are in words or, without words, those that follow. Rows of
// size 0 have what follows in slots instead. A warp takes so many words at a time; after each of some it looks whether there are most keys, and then leaves the rest for the next launch, which has resumed.
extern "C" __global__ void __launch_bounds__(128) saga_grow_count(const Row *rows, const int *label, const u32 *classes, const u64 *off, const int *kind, const u32 *kinds, u64 many_kinds, u64 vertices,
		const u32 *parents, u64 parent_room, u64 first, u64 begin, u64 end, const u64 *place, const u32 *slots, const u32 *words, u64 n, u64 tiles, u64 each, u64 *keys, u64 mask, u64 most, u64 *left, u64 resumed, Counted *done) {
	extern __shared__ u32 shared[];
	Keys t = {keys, mask, done, (Met *)shared};
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, *at = shared + 4 * CACHE + warp * WORDS;
	for (u32 i = threadIdx.x; i < CACHE; i += blockDim.x) {
		t.met[i].key = 0;
		t.met[i].times = 0;
	}
	__syncthreads();
	u64 *mine = left + blockIdx.x * (u64)(blockDim.x >> 5) + warp, rest = resumed ? *mine : 0; // from a word, in the upper half, to another
	n = (n + 31) / 32;
	for (;;) {
		u64 s = rest >> 32, upto = rest & 0xffffffff;
		if (rest == 0) {
			if (__any_sync(ALL, *(volatile u64 *)&done->keys >= most))
				break;
			s = lane == 0 ? atomicAdd(&done->next, 1ull) : 0;
			s = tiles * __shfl_sync(ALL, s, 0);
			if (s >= n)
				break;
			upto = min(n, s + tiles);
		}
		rest = 0;
		u32 since = 0; // words since it has looked
#if SIZE == 0
		for (; s < upto; s++, since++) {
			if (since == each) {
				since = 0;
				if (__any_sync(ALL, *(volatile u64 *)&done->keys >= most)) {
					rest = s << 32 | upto;
					break;
				}
			}
			u32 v = 32 * s + lane < place[end] - place[begin] ? slots[32 * s + lane] : NONE, a = 0, b = 0;
			const u32 *own = at;
			if (v != NONE)
				grown(rows, off, vertices, own, v, a, b);
			count_key(t, v != NONE, v != NONE ? (u64)(KEY) : 0, lane);
		}
#else
		const u64 base = place[begin];
		u64 row = begin;
		for (u64 many = end - begin; many > 1;) { // the row of the first word: the last that begins there or before
			u64 step = (many + 31) / 32, i = lane * step;
			u32 k = __popc(__ballot_sync(ALL, i < many && place[row + (i < many ? i : 0)] - base <= 32 * s)) - 1;
			row += k * step;
			many = min(step, many - k * step);
		}
		for (; s < upto && rest == 0; row += GROUP) {
			take_rows(rows, at, parents, parent_room, row, end, lane);
			for (u32 g = 0; g < GROUP && s < upto && rest == 0; g++) {
				const u32 *own = at + g;
				u64 begins = (place[row + g] - base) / 32;
				u32 may = may_follow(own);
				u64 stop = min(upto, begins + (may + 31) / 32);
				while (s < stop) {
					if (since == each) {
						since = 0;
						if (__any_sync(ALL, *(volatile u64 *)&done->keys >= most)) {
							rest = s << 32 | upto;
							break;
						}
					}
					u32 k = 32 * (u32)(s - begins) + lane;
					bool two = s + 1 < stop && since + 1 < each;
					const u32 *of = words ? words + begins : words;
					Found f = find(rows, label, classes, off, kind, kinds, many_kinds, own, of, k, may), next = {false, 0};
					if (two)
						next = find(rows, label, classes, off, kind, kinds, many_kinds, own, of, k + 32, may);
					count_key(t, f.there, f.key, lane);
					if (two)
						count_key(t, next.there, next.key, lane);
					s += 1 + two;
					since += 1 + two;
				}
			}
		}
#endif
		if (rest)
			break;
	}
	if (lane == 0) {
		*mine = rest;
		if (rest)
			atomicAdd(&done->left, 1ull);
	}
	__syncthreads();
	for (u32 i = threadIdx.x; i < CACHE; i += blockDim.x)
		if (t.met[i].times)
			atomicAdd(keys + 2 * (u64)t.met[i].slot + 1, (u64)t.met[i].times);
}
