
// What a launch has done: groups of tiles of 32 rows taken, keys in the table, rows with the key that the table cannot hold.
struct Counted { u64 next, keys, top; };

// Counts n rows of SIZE edges (vertices) by KEY. It takes no more rows when there are most keys.
extern "C" __global__ void __launch_bounds__(128) saga_grow_count(const Row *rows, const int *label, const u32 *classes, const u64 *off, const int *kind, const u32 *kinds, u64 many_kinds, const u32 *list, u64 list_room, u64 n,
		u64 tiles, u64 *keys, u64 mask, u64 most, Counted *done) {
	extern __shared__ u32 shared[];
	u32 lane = threadIdx.x & 31;
	u32 *own = shared + (threadIdx.x >> 5) * WORDS + lane;
	for (;;) {
		if (__any_sync(ALL, *(volatile u64 *)&done->keys >= most))
			break;
		u64 r = lane == 0 ? atomicAdd(&done->next, 1ull) : 0;
		r = 32 * tiles * __shfl_sync(ALL, r, 0);
		if (r >= n)
			break;
		u64 end = min(n, r + 32 * tiles);
		for (r += lane; r - lane < end; r += 32) {
			u32 slot = NONE;
			bool is_new = false;
			if (r < end) {
				put(own, list, list_room, 0, r);
				u64 key = (u64)(KEY) ^ 1ull << 63;
				if (key + 1 == 0)
					atomicAdd(&done->top, 1ull);
				else
					slot = (u32)slot_of(keys, 2, mask, key, is_new);
			}
			u32 same = __match_any_sync(ALL, slot);
			if (slot != NONE && (same & ((1u << lane) - 1)) == 0)
				atomicAdd(keys + 2 * (u64)slot + 1, (u64)__popc(same));
			u32 fresh = __popc(__ballot_sync(ALL, is_new));
			if (lane == 0 && fresh)
				atomicAdd(&done->keys, (u64)fresh);
		}
	}
}
