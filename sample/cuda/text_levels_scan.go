package cuda

// levelsScan finds the edges from drawn vertices into a level, in any order. Far ends are read 16 bytes at a time, rows one after the other, so that all lanes
// read whatever the rows' lengths: a warp has pieces side by side. A filter leaves few of them, which are listed and then looked up.
const levelsScan = `
#define TURNS 8 // pieces that a lane reads before those that pass are listed: four bits of a word each
#define SPAN (32 * TURNS)
#define FEW 128 // pieces are looked up when more are listed

// What a warp has: bits where rows begin in its SPAN of pieces, and pieces that may have edges, with which of their four.
struct Spanned { u32 *begins, *listed, *list; };

// Of the listed pieces the edges from drawn vertices.
static __device__ __forceinline__ void look_up(const Rowed &g, const Level &s, const Spanned &x) {
	u32 lane = threadIdx.x & 31, listed = *x.listed;
	for (u32 i = lane; i < listed; i += 32) {
		u32 p = x.list[i] >> 4, which = x.list[i], row = row_at(s.quads, s.n, p), at = (s.shift[row] & ~3u) + 4 * p, lo = begin_of(s, row), d = s.before[row + 1] - s.before[row];
		uint4 v = *(const uint4 *)(g.far + at);
		#pragma unroll 1
		for (u32 q = 0; q < 4; q++) {
			if (which >> q & 1 && at + q - lo < d) {
				u32 slot = find(s.t, q == 0 ? v.x : q == 1 ? v.y : q == 2 ? v.z : v.w);
				if (slot != NONE && (KIND == AMONG || s.drawn[slot] != NONE)) {
					u32 k = atomicAdd(s.many, 1u);
					if (k < FOUND) {
						s.order[k] = 4 * p + q;
						s.which[k] = slot << 16 | row;
					}
				}
			}
		}
	}
	__syncwarp();
	if (lane == 0)
		*x.listed = 0;
	__syncwarp();
}

// Lists what passes of the pieces from one on, which end before another. Row is the one of the first piece or before, and then of the last.
static __device__ __forceinline__ void read_span(const Rowed &g, const Level &s, const Spanned &x, u32 piece, u32 end, u32 &row) {
	u32 lane = threadIdx.x & 31, flags = 0;
	if (lane < TURNS)
		x.begins[lane] = 0;
	__syncwarp();
	for (u32 r = row + 1 + lane; r < s.n && s.quads[r] - piece < SPAN; r += 32)
		atomicOr(x.begins + (s.quads[r] - piece >> 5), 1u << (s.quads[r] - piece & 31));
	__syncwarp();
	#pragma unroll
	for (u32 t0 = 0; t0 < TURNS; t0 += 4)
		if (piece + 32 * t0 < end) {
			uint4 v[4], bits = *(const uint4 *)(x.begins + t0);
			u32 begin[4] = {bits.x, bits.y, bits.z, bits.w};
			#pragma unroll
			for (u32 t = 0; t < 4; t++) {
				u32 p = piece + 32 * (t0 + t) + lane, own = row + __popc(begin[t] & 0xffffffffu >> (31 - lane));
				row += __popc(begin[t]);
				if (p < end)
					v[t] = *(const uint4 *)(g.far + ((s.shift[own] & ~3u) + 4 * p));
			}
			#pragma unroll
			for (u32 t = 0; t < 4; t++)
				if (piece + 32 * (t0 + t) + lane < end)
					flags |= passes(s, v[t].x) + 2 * passes(s, v[t].y) + 4 * passes(s, v[t].z) + 8 * passes(s, v[t].w) << 4 * (t0 + t);
		}
	while (flags) {
		u32 t = __ffs(flags) - 1 >> 2;
		x.list[atomicAdd(x.listed, 1u)] = piece + 32 * t + lane << 4 | flags >> 4 * t & 15;
		flags &= ~(15u << 4 * t);
	}
	__syncwarp();
}

// The edges from what was drawn into all rows.
static __device__ __forceinline__ void find_edges(const Rowed &g, const Level &s) {
	u32 all = s.quads[s.n], warp = threadIdx.x >> 5, each = (all + THREADS - 1) / THREADS * 32, from = warp * each, end = from + each < all ? from + each : all;
	u32 *mine = s.spans + warp * ROOM_OF_WARP;
	Spanned x = {mine, mine + TURNS, mine + TURNS + 4};
	if (from >= end)
		return;
	if ((threadIdx.x & 31) == 0)
		*x.listed = 0;
	__syncwarp();
	u32 row = row_at(s.quads, s.n, from);
	for (u32 piece = from; piece < end; piece += SPAN) {
		read_span(g, s, x, piece, end, row);
		if (*x.listed > FEW || piece + SPAN >= end)
			look_up(g, s, x);
	}
}

// Where there are more edges than FOUND they are found again, a warp a row, and lie where edges do in the end: first how many each row has.
static __device__ __forceinline__ void find_in_order(const Rowed &g, const Level &s, const Lists &l, u32 base, bool count) {
	u32 lane = threadIdx.x & 31;
	for (u32 r = threadIdx.x >> 5; r < s.n; r += WARPS) {
		u32 lo = begin_of(s, r), d = s.before[r + 1] - s.before[r], e = count ? 0 : base + s.begin[r];
		for (u32 j = 0; j < d; j += 32) {
			u32 slot = j + lane < d ? find(s.t, g.far[lo + j + lane]) : NONE;
			bool found = slot != NONE && (KIND == AMONG || s.drawn[slot] != NONE);
			u32 all = __ballot_sync(ALL, found), at = e + __popc(all & (1u << lane) - 1);
			if (found && !count) {
				l.edge[at] = lo + j + lane;
				l.far[at] = slot << 16 | r;
			}
			e += __popc(all);
		}
		if (count && lane == 0)
			s.begin[r] = e;
	}
}
`
