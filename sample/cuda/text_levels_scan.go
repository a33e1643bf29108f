package cuda

// levelsScan finds the edges from drawn vertices into a level. Far ends are read 16 bytes at a time, rows one after the other, so that all lanes
// read whatever the rows' lengths: a warp has pieces side by side. A filter leaves few of them, which are then looked up.
const levelsScan = `
#define TURNS 8 // pieces that a lane reads before what they have is looked up
#define SPAN (32 * TURNS)

// What a warp has of its SPAN of pieces: bits where rows begin, the row before each 32 pieces, and pieces that may have
// edges: their place in the span, and from bit 8 on which of the four.
struct Spanned { u32 *begins, *rows; unsigned short *some; };

// Lists the pieces from one on, of all, that pass the filter. The number of them. Row is the one of the first piece or before, and then of the last.
static __device__ __forceinline__ u32 read_span(const Rowed &g, const Level &s, const Spanned &x, u32 piece, u32 all, u32 &row) {
	u32 lane = threadIdx.x & 31, some = 0;
	__syncwarp();
	if (lane < TURNS)
		x.begins[lane] = 0;
	__syncwarp();
	for (u32 r = row + 1 + lane; r < s.n && s.quads[r] - piece < SPAN; r += 32)
		atomicOr(x.begins + (s.quads[r] - piece >> 5), 1u << (s.quads[r] - piece & 31));
	__syncwarp();
	for (u32 t0 = 0; t0 < TURNS && piece + 32 * t0 < all; t0 += 4) {
		uint4 v[4];
		#pragma unroll
		for (u32 t = 0; t < 4; t++) {
			u32 bits = x.begins[t0 + t], p = piece + 32 * (t0 + t) + lane, own = row + __popc(bits & 0xffffffffu >> (31 - lane));
			if (lane == 0)
				x.rows[t0 + t] = row;
			row += __popc(bits);
			uint4 none = {NONE, NONE, NONE, NONE};
			v[t] = p < all ? *(const uint4 *)(g.far + ((s.shift[own] & ~3u) + 4 * p)) : none;
		}
		#pragma unroll
		for (u32 t = 0; t < 4; t++) {
			u32 which = passes(s, v[t].x) + 2 * passes(s, v[t].y) + 4 * passes(s, v[t].z) + 8 * passes(s, v[t].w);
			if (piece + 32 * (t0 + t) + lane >= all)
				which = 0; // what the next warp has
			u32 any = __ballot_sync(ALL, which != 0);
			if (which)
				x.some[some + __popc(any & (1u << lane) - 1)] = (unsigned short)(32 * (t0 + t) + lane | which << 8);
			some += __popc(any);
		}
	}
	__syncwarp();
	return some;
}

// Edges that a warp has found, in order: their places, and slots beside rows. So many lie in shared memory.
struct Found { u32 *place, *which; };

// Of the listed pieces the edges from drawn vertices: they get the numbers after found of the warp's, and those that have room lie at them. The number
// of them all.
static __device__ __forceinline__ u32 look_up(const Rowed &g, const Level &s, const Spanned &x, u32 piece, u32 some, const Found &to, u32 found, u32 room) {
	u32 lane = threadIdx.x & 31;
	for (u32 i0 = 0; i0 < some; i0 += 32) {
		u32 i = i0 + lane, left = 0, row = 0, at = 0, slot[4];
		if (i < some) {
			u32 p = x.some[i] & SPAN - 1, which = x.some[i] >> 8;
			row = x.rows[p >> 5] + __popc(x.begins[p >> 5] & 0xffffffffu >> (31 - (p & 31)));
			at = (s.shift[row] & ~3u) + 4 * (piece + p);
			u32 lo = begin_of(s, row), d = s.before[row + 1] - s.before[row];
			uint4 v = *(const uint4 *)(g.far + at);
			u32 far[4] = {v.x, v.y, v.z, v.w};
			#pragma unroll
			for (u32 q = 0; q < 4; q++)
				if (which >> q & 1 && at + q - lo < d) {
					slot[q] = find(s.t, far[q]);
					left |= (slot[q] != NONE && (KIND == AMONG || s.drawn[slot[q]] != NONE)) << q;
				}
		}
		if (__ballot_sync(ALL, left) == 0)
			continue;
		u32 own = __popc(left), sum = own;
		for (u32 d = 1; d < 32; d <<= 1) {
			u32 y = __shfl_up_sync(ALL, sum, d);
			if (lane >= d)
				sum += y;
		}
		u32 e = found + sum - own;
		found += __shfl_sync(ALL, sum, 31);
		#pragma unroll
		for (u32 q = 0; q < 4; q++)
			if (left >> q & 1) {
				if (e < room) {
					to.place[e] = at + q;
					to.which[e] = slot[q] << 16 | row;
				}
				e++;
			}
	}
	return found;
}

// The edges from what was drawn in the pieces from one to end. The number of them.
static __device__ __forceinline__ u32 scan_pieces(const Rowed &g, const Level &s, u32 from, u32 end, const Found &to, u32 room) {
	u32 *mine = s.spans + (threadIdx.x >> 5) * ROOM_OF_WARP, found = 0;
	Spanned x = {mine, mine + TURNS, (unsigned short *)(mine + 2 * TURNS)};
	u32 row = from < end ? row_at(s.quads, s.n, from) : 0;
	for (u32 piece = from; piece < end; piece += SPAN) {
		u32 some = read_span(g, s, x, piece, end, row);
		if (some > 0)
			found = look_up(g, s, x, piece, some, to, found, room);
	}
	__syncwarp();
	return found;
}

// What a warp found, and its number among all edges of the step.
struct Share { Found at; u32 n, first; };

// Every warp has as many pieces, one after the other, and so edges are in order. Those of a warp that found more than FOUND are found again, and lie where
// edges do in the end. The number of all.
static __device__ __forceinline__ u32 find_edges(const Rowed &g, const Level &s, const Lists &l, u32 base, u32 most, Share &mine) {
	u32 all = s.quads[s.n], warp = threadIdx.x >> 5, each = (all + WARPS - 1) / WARPS, m = 0;
	each = (each + 31) & ~31u;
	u32 from = warp * each, end = from + each < all ? from + each : all, *found = s.found + warp * 2 * FOUND;
	mine.at.place = found;
	mine.at.which = found + FOUND;
	mine.n = scan_pieces(g, s, from, end, mine.at, FOUND);
	if ((threadIdx.x & 31) == 0)
		s.room[warp] = mine.n;
	__syncthreads();
	mine.first = 0;
	for (u32 w = 0; w < WARPS; w++) {
		mine.first += w < warp ? s.room[w] : 0;
		m += s.room[w];
	}
	if (m <= most && mine.n > FOUND) {
		mine.at.place = l.edge + base + mine.first;
		mine.at.which = l.far + base + mine.first;
		scan_pieces(g, s, from, end, mine.at, mine.n);
	}
	return m;
}
`
