
// What a launch has done: groups of tiles of 32 slots taken, rows with the key that the table cannot hold; and the keys in the table.
struct Counted { u64 next, top, keys; };

// Keys that a block has met, and how often: places of a power of two, of which a key may have one of four. A key here is in the table, at slot.
#define CACHE 512
struct Met { u64 key; u32 slot, times; };

// Counts by KEY the rows that what is in n slots makes of the rows of SIZE edges (vertices) from begin to end. It takes no more slots when there are most keys. If there are halves, slots are
// read there, as numbers of two bytes.
extern "C" __global__ void __launch_bounds__(128) saga_grow_count(const Row *rows, const int *label, const u32 *classes, const u64 *off, const int *kind, const u32 *kinds, u64 many_kinds, u64 vertices,
		const u32 *parents, u64 parent_room, u64 first, u64 begin, u64 end, const u64 *place, const u32 *slots, const unsigned short *halves, u64 n, u64 tiles, u64 *keys, u64 mask, u64 most, Counted *done) {
	extern __shared__ u32 shared[];
	Met *met = (Met *)shared;
	u32 lane = threadIdx.x & 31, *own = shared + 4 * CACHE + (threadIdx.x >> 5) * WORDS + lane;
	for (u32 i = threadIdx.x; i < CACHE; i += blockDim.x) {
		met[i].key = 0;
		met[i].times = 0;
	}
	__syncthreads();
	const u64 base = place[begin];
	for (;;) {
		if (__any_sync(ALL, *(volatile u64 *)&done->keys >= most))
			break;
		u64 s = lane == 0 ? atomicAdd(&done->next, 1ull) : 0;
		s = 32 * tiles * __shfl_sync(ALL, s, 0);
		if (s >= n)
			break;
		u64 upto = min(n, s + 32 * tiles), row = begin;
		for (u64 many = end - begin; many > 1;) { // the row of the first slot: the last that begins there or before
			u64 step = (many + 31) / 32, i = lane * step;
			u32 k = __popc(__ballot_sync(ALL, i < many && place[row + (i < many ? i : 0)] - base <= s)) - 1;
			row += k * step;
			many = min(step, many - k * step);
		}
		u32 begins = row + lane < end ? (u32)(place[row + lane] - base) : NONE; // of the rows from row on, one a lane
		for (; s < upto; s += 32) {
			u32 at = (u32)min(s + lane, upto - 1);
			bool found = false;
			u64 r = 0;
			for (;;) {
				u32 k = 0;
				for (u32 d = 16; d > 0; d >>= 1)
					if (__shfl_sync(ALL, begins, k + d) <= at)
						k += d;
				if (!found && (k < 31 || row + 32 >= end)) {
					r = row + k;
					found = true;
				}
				if (!__any_sync(ALL, !found))
					break;
				row += 31;
				begins = row + lane < end ? (u32)(place[row + lane] - base) : NONE;
			}
			u32 slot = NONE, v = NONE;
			bool is_new = false;
			if (s + lane < upto)
				v = halves ? halves[at] : slots[at];
			if (v != NONE) {
				put(own, parents, parent_room, first, r);
				grown(rows, off, vertices, own, v, own + 32 * PLACES);
				u64 key = (u64)(KEY) ^ 1ull << 63;
				if (key + 1 == 0)
					atomicAdd(&done->top, 1ull);
				else {
					u32 h = (u32)((key + 1) * 0x9e3779b97f4a7c15ull >> 40);
					u64 there = 0;
					Met *m = met;
					for (u32 i = 0; i < 4; i++) {
						m = met + (h + i & CACHE - 1);
						there = *(volatile u64 *)&m->key;
						if (there == 0 || there == key + 1)
							break;
					}
					if (there != key + 1) {
						slot = (u32)slot_of(keys, 2, mask, key, is_new);
						if (there == 0) {
							there = atomicCAS(&m->key, 0ull, key + 1);
							if (there == 0) {
								m->slot = slot;
								there = key + 1;
							}
						}
					}
					if (there == key + 1) {
						atomicAdd(&m->times, 1u);
						slot = NONE;
					}
				}
			}
			if (__any_sync(ALL, slot != NONE)) {
				u32 same = __match_any_sync(ALL, slot);
				if (slot != NONE && (same & ((1u << lane) - 1)) == 0)
					atomicAdd(keys + 2 * (u64)slot + 1, (u64)__popc(same));
			}
			u32 fresh = __popc(__ballot_sync(ALL, is_new));
			if (lane == 0 && fresh)
				atomicAdd(&done->keys, (u64)fresh);
		}
	}
	__syncthreads();
	for (u32 i = threadIdx.x; i < CACHE; i += blockDim.x)
		if (met[i].times)
			atomicAdd(keys + 2 * (u64)met[i].slot + 1, (u64)met[i].times);
}
