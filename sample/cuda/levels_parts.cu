
#define TURNS 8 // times that a warp reads between two looks at where rows begin
#define SPAN (32 * TURNS)
#define AT_ONCE 4 // reads of a lane that overlap
#define MOST_PART 65536 // pieces of a warp, numbered in 16 bits

// What a warp has: bits where rows begin, pieces that wait, with their rows, and the edges that it found: places, and slots with rows.
struct Part { u32 *begins, *waiting, *place, *slot; u32 from, end, row, found, stop; };

static __device__ __forceinline__ u32 filtered(const Level &s, u32 v) { return *(const u32 *)((const char *)s.filter + (v >> 3 & 4 * (FILTER - 1))) >> (v & 31); }

// Sets bits where rows begin from a piece on. The row is that of the piece before.
static __device__ __forceinline__ void mark_rows(const Level &s, const Part &x, u32 piece) {
	u32 lane = threadIdx.x & 31;
	__syncwarp();
	if (lane < TURNS)
		x.begins[lane] = 0;
	__syncwarp();
	for (u32 r = x.row + 1 + lane; r < s.n && s.quads[r] - piece < SPAN; r += 32)
		atomicOr(x.begins + (s.quads[r] - piece >> 5), 1u << (s.quads[r] - piece & 31));
	__syncwarp();
}

// Reads pieces, of each lane 32 apart, and lets those wait that pass the filter. The number of those that wait.
static __device__ __forceinline__ u32 read_pieces(const Rowed &g, const Level &s, Part &x, u32 piece, const u32 *begins, u32 waits) {
	u32 lane = threadIdx.x & 31, own[AT_ONCE];
	uint4 v[AT_ONCE];
	#pragma unroll
	for (u32 t = 0; t < AT_ONCE; t++) {
		u32 bits = begins[t], p = piece + 32 * t + lane;
		own[t] = x.row + __popc(bits & 0xffffffffu >> (31 - lane));
		x.row += __popc(bits);
		uint4 none = {0, 0, 0, 0};
		v[t] = p < x.end ? *(const uint4 *)(g.far + ((s.shift[own[t]] & ~3u) + 4 * p)) : none;
	}
	#pragma unroll
	for (u32 t = 0; t < AT_ONCE; t++) {
		u32 p = piece + 32 * t + lane;
		bool some = ((filtered(s, v[t].x) | filtered(s, v[t].y) | filtered(s, v[t].z) | filtered(s, v[t].w)) & 1) && p < x.end;
		u32 which = __ballot_sync(ALL, some);
		if (some)
			x.waiting[waits + __popc(which & (1u << lane) - 1)] = p - x.from | own[t] << 16;
		waits += __popc(which);
	}
	return waits;
}

// Finds the edges of the row from a drawn vertex in as many waiting pieces as lanes, or fewer. Where there is no room for those of a piece it stops there.
static __device__ __forceinline__ void look_up(const Rowed &g, const Level &s, Part &x, const u32 *waiting, u32 n) {
	u32 lane = threadIdx.x & 31, one = lane < n ? waiting[lane] : 0, row = one >> 16, p = x.from + (one & 0xffffu), at = (s.shift[row] & ~3u) + 4 * p, left = 0;
	u64 slots = 0;
	if (lane < n) {
		uint4 v = *(const uint4 *)(g.far + at);
		u32 which = filtered(s, v.x) & 1 | (filtered(s, v.y) & 1) << 1 | (filtered(s, v.z) & 1) << 2 | (filtered(s, v.w) & 1) << 3;
		u32 lo = begin_of(s, row), d = s.before[row + 1] - s.before[row];
		for (; which; which &= which - 1) {
			u32 q = __ffs(which) - 1, u = q == 0 ? v.x : q == 1 ? v.y : q == 2 ? v.z : v.w, slot = at + q - lo < d ? find(s, u) : NONE;
			if (slot != NONE && (ONCE || s.first[slot] != NONE)) {
				left |= 1u << q;
				slots |= (u64)slot << 16 * q;
			}
		}
	}
	u32 own = __popc(left), to = x.found, all = x.found;
	#pragma unroll
	for (u32 q = 0; q < 4; q++) {
		u32 have = __ballot_sync(ALL, left >> q & 1);
		to += __popc(have & (1u << lane) - 1);
		all += __popc(have);
	}
	u32 over = __ballot_sync(ALL, to + own > FOUND);
	if (over) {
		all = __shfl_sync(ALL, to, __ffs(over) - 1);
		x.stop = __shfl_sync(ALL, p, __ffs(over) - 1);
	}
	if (to + own <= FOUND)
		for (; left; left &= left - 1, to++) {
			u32 q = __ffs(left) - 1;
			x.place[to] = at + q;
			x.slot[to] = (u32)(slots >> 16 * q) & 0xffffu | row << 16;
		}
	x.found = all;
}

// Finds the edges of a warp's part, in order.
static __device__ __forceinline__ void scan_part(const Rowed &g, const Level &s, Part &x) {
	u32 lane = threadIdx.x & 31, waits = 0;
	x.row = row_at(s.quads, s.n, x.from);
	if (s.quads[x.row] == x.from)
		x.row--; // which is marked
	for (u32 piece = x.from; piece < x.end && x.stop == NONE; piece += 32 * AT_ONCE) {
		u32 turn = (piece - x.from) / 32 % TURNS;
		if (turn == 0)
			mark_rows(s, x, piece);
		waits = read_pieces(g, s, x, piece, x.begins + turn, waits);
		bool last = x.end - piece <= 32 * AT_ONCE;
		__syncwarp();
		u32 i = 0;
		for (; (i + 32 <= waits || last && i < waits) && x.stop == NONE; i += 32)
			look_up(g, s, x, x.waiting + i, waits - i < 32 ? waits - i : 32);
		if (i > 0 && !last) {
			waits -= i;
			u32 one = lane < waits ? x.waiting[i + lane] : 0;
			__syncwarp();
			if (lane < waits)
				x.waiting[lane] = one;
		}
	}
	__syncwarp();
}

// Writes a warp's edges from number e on: far has their slots, or rows where they wait for what draws them; edge their places, or numbers where no weights are to come.
static __device__ __forceinline__ void write_edges(const Rowed &g, const Level &s, const Lists &l, const Part &x, u32 base, u32 e, u32 most) {
	for (u32 i = threadIdx.x & 31; i < x.found; i += 32) {
		u32 place = x.place[i], slot = x.slot[i] & 0xffffu, to = e + i;
		if (ONCE) {
			if (to < most) {
				l.far[base + to] = s.row0 + (x.slot[i] >> 16);
				l.edge[base + to] = place;
			}
			continue;
		}
		atomicAdd(s.count + (x.slot[i] >> 16), 1u);
		if (to >= most)
			continue;
		l.far[base + to] = slot;
		l.edge[base + to] = WEIGHTS ? place : g.edge[place];
		atomicMin(s.first + slot, to);
		if (KIND == COLUMNS)
			atomicAdd(s.own + slot, g.scores[(u64)place + 1] - g.scores[place]);
	}
}

// The edges from what was drawn, in order. The number of them, and in count that of each row. Where a warp has no room for the edges of its part, what comes after
// is scanned again.
static __device__ __forceinline__ u32 find_edges(const Rowed &g, const Level &s, const Lists &l, u32 base, u32 most) {
	u32 all = s.quads[s.n], m = 0, warp = threadIdx.x >> 5, turn = 0, p0 = 0;
	u32 *mine = s.room + ROOM_OF_BLOCK + warp * ROOM_OF_WARP;
	Part x = {mine, mine + TURNS, mine + ROOM_OF_WARP - 2 * FOUND, mine + ROOM_OF_WARP - FOUND};
	while (p0 < all) {
		u32 each = ((all - p0 + WARPS - 1) / WARPS + 31) & ~31u, e = m;
		each = each < MOST_PART ? each : MOST_PART;
		x.from = p0 + warp * each;
		x.end = x.from + each < all ? x.from + each : all;
		x.found = 0;
		x.stop = NONE;
		if (x.from < x.end)
			scan_part(g, s, x);
		if ((threadIdx.x & 31) == 0) { // beside what others may still read of the last time
			s.room[turn + 2 * warp] = x.found;
			s.room[turn + 2 * warp + 1] = x.stop;
		}
		__syncthreads();
		p0 += WARPS * each;
		bool open = true, take = false;
		for (u32 w = 0; w < WARPS && open; w++) {
			if (w == warp) {
				e = m;
				take = true;
			}
			m += s.room[turn + 2 * w];
			if (s.room[turn + 2 * w + 1] != NONE) {
				p0 = s.room[turn + 2 * w + 1];
				open = false;
			}
		}
		if (take)
			write_edges(g, s, l, x, base, e, most);
		turn ^= 2 * WARPS;
		if (p0 < all)
			__syncthreads();
	}
	__syncthreads();
	return m;
}
