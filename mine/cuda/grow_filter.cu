
// What a launch has done: tiles of 32 slots taken, codes in the table.
struct Picked { u64 next, codes; };

// The row whose slots have slot s, of those from begin to end.
static __device__ __forceinline__ u64 row_of(const u64 *place, u64 begin, u64 end, u64 s) {
	s += place[begin];
	for (end--; begin < end;) {
		u64 mid = (begin + end + 1) / 2;
		if (place[mid] <= s)
			begin = mid;
		else
			end = mid - 1;
	}
	return begin;
}

// Finds the codes of what is in n slots of the rows from begin to end, in a table that has most codes at most when a warp takes 32 slots. of is where the code of each is. New ones
// are listed. With BITS slots are words of a bit for each, and those of a word are of one row.
extern "C" __global__ void __launch_bounds__(128) saga_grow_pick(const Row *rows, const u32 *classes, const u64 *off, const int *kind, const u32 *kinds, u64 many_kinds, u64 vertices, const u32 *parents, u64 parent_room,
		u64 begin, u64 end, const u64 *place, const u32 *slots, u64 n, u64 *codes, u64 mask, u64 most, u64 *fresh, u32 *of, Picked *done) {
	extern __shared__ u32 shared[];
	u32 lane = threadIdx.x & 31, *at = shared + (threadIdx.x >> 5) * WORDS;
	for (;;) {
		if (__any_sync(ALL, *(volatile u64 *)&done->codes >= most))
			break;
		u64 s = lane == 0 ? atomicAdd(&done->next, 1ull) : 0;
		s = 32 * __shfl_sync(ALL, s, 0);
		if (s >= n)
			break;
		u32 a, b = 0;
#if BITS
		u32 word = slots[s / 32], *own = at, p;
		if (word == 0)
			continue;
		u64 r = row_of(place, begin, end, s), k = s - (place[r] - place[begin]) + lane;
		take_rows(rows, at, parents, parent_room, r, r + 1, lane);
		s += lane;
		if (!(word >> lane & 1))
			continue;
		a = neighbour(rows, own, (u32)k, p);
#if !VERTICES
		b = max(a, own[32 * p]);
		a = min(a, own[32 * p]);
#endif
#else
		s += lane;
		u32 v = s < n ? slots[s] : NONE, *own = at + lane;
		if (v == NONE)
			continue;
		put(own, parents, parent_room, 0, row_of(place, begin, end, s));
		grown(rows, off, vertices, own, v, a, b);
#endif
		bool is_new = false;
		u64 code = quick<PLACES + STEP>(rows, classes, off, kind, kinds, many_kinds, own, a, b), h = slot_of(codes, 1, mask, code, is_new);
		of[s] = (u32)h;
		if (is_new) {
			u64 i = atomicAdd(&done->codes, 1ull);
			fresh[2 * i] = code;
			fresh[2 * i + 1] = h;
		}
	}
}

// Notes for each of n codes, a place and whether it is wanted, the latter in flags.
extern "C" __global__ void __launch_bounds__(128) saga_grow_flags(const u64 *list, u64 n, u32 *flags) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (u64)blockDim.x)
		flags[list[2 * i + 1]] = (u32)list[2 * i];
}

// Empties the slots from one to another whose code is not wanted.
extern "C" __global__ void __launch_bounds__(128) saga_grow_drop(u64 begin, u64 end, const u64 *place, u32 *slots, u64 from, u64 to, const u32 *of, const u32 *flags, u32 *kept) {
	for (u64 s = from + blockIdx.x * (u64)blockDim.x + threadIdx.x; s < to; s += gridDim.x * (u64)blockDim.x) {
#if BITS
		u32 lane = threadIdx.x & 31, word = slots[s / 32];
		u32 left = __ballot_sync(ALL, word >> lane & 1 && flags[of[s]]);
		if (lane == 0 && left != word) {
			slots[s / 32] = left;
			atomicSub(&kept[row_of(place, begin, end, s)], (u32)__popc(word & ~left));
		}
#else
		if (slots[s] != NONE && !flags[of[s]]) {
			slots[s] = NONE;
			atomicSub(&kept[row_of(place, begin, end, s)], 1u);
		}
#endif
	}
}
