
#define TURNS 8 // pieces that a lane reads at a time
#define SPAN (32 * TURNS)

// What a warp has of its SPAN of pieces: bits where rows begin, the row before each 32 pieces, and pieces that may have
// edges: their place in the span, and from bit 8 on which of the four.
struct Spanned { u32 *begins, *rows; unsigned short *some; };

static __device__ __forceinline__ u32 passes(const Level &s, u32 v) { return s.filter[v >> 5 & FILTER - 1] >> (v & 31) & 1; }

// Lists the pieces from one on, of all, that pass the filter. The number of them.
static __device__ __forceinline__ u32 read_span(const Rowed &g, const Level &s, const Spanned &x, u32 piece, u32 all) {
	u32 lane = threadIdx.x & 31, some = 0;
	__syncwarp();
	if (lane < TURNS)
		x.begins[lane] = 0;
	__syncwarp();
	u32 row = row_at(s.quads, s.n, piece);
	for (u32 r = row + 1 + lane; r < s.n && s.quads[r] - piece < SPAN; r += 32)
		atomicOr(x.begins + (s.quads[r] - piece >> 5), 1u << (s.quads[r] - piece & 31));
	__syncwarp();
	for (u32 t0 = 0; t0 < TURNS; t0 += 4) {
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
			u32 which = passes(s, v[t].x) | passes(s, v[t].y) << 1 | passes(s, v[t].z) << 2 | passes(s, v[t].w) << 3, any = __ballot_sync(ALL, which != 0);
			if (which)
				x.some[some + __popc(any & (1u << lane) - 1)] = (unsigned short)(32 * (t0 + t) + lane | which << 8);
			some += __popc(any);
		}
	}
	__syncwarp();
	return some;
}

// Piece i of those that were listed: its row, and where it lies.
static __device__ __forceinline__ void piece_of(const Level &s, const Spanned &x, u32 piece, u32 i, u32 *row, u32 *at) {
	u32 p = x.some[i] & SPAN - 1, lane = p & 31;
	*row = x.rows[p >> 5] + __popc(x.begins[p >> 5] & 0xffffffffu >> (31 - lane));
	*at = (s.shift[*row] & ~3u) + 4 * (piece + p);
}

// Leaves of the listed pieces what is an edge of the row from a drawn vertex. The number of edges.
static __device__ __forceinline__ u32 look_up(const Rowed &g, const Level &s, const Spanned &x, u32 piece, u32 some) {
	u32 lane = threadIdx.x & 31, found = 0;
	for (u32 i0 = 0; i0 < some; i0 += 32) {
		u32 i = i0 + lane, which = i < some ? x.some[i] >> 8 : 0, left = 0, row, at;
		if (which) {
			piece_of(s, x, piece, i, &row, &at);
			u32 lo = begin_of(s, row), d = s.before[row + 1] - s.before[row];
			for (; which; which &= which - 1) {
				u32 q = __ffs(which) - 1;
				if (at + q - lo < d) {
					u32 slot = find(s, g.far[at + q]);
					left |= (slot != NONE && atomicMin(s.first + slot, NONE) != NONE) << q; // other warps may already lower it
				}
			}
			x.some[i] = (unsigned short)(x.some[i] & SPAN - 1 | left << 8);
		}
		found += __popc(left);
	}
	for (u32 d = 16; d > 0; d >>= 1)
		found += __shfl_down_sync(ALL, found, d);
	return __shfl_sync(ALL, found, 0);
}

// Writes the edges of the listed pieces in order, from number e on: far has their slots, edge their places, or numbers where no weights are to come.
static __device__ __forceinline__ void write_edges(const Rowed &g, const Level &s, const Lists &l, const Spanned &x, u32 piece, u32 some, u32 base, u32 e, u32 most) {
	u32 lane = threadIdx.x & 31, row, at;
	for (u32 i0 = 0; i0 < some; i0 += 32) {
		u32 i = i0 + lane, which = i < some ? x.some[i] >> 8 : 0, own = __popc(which), sum = own;
		for (u32 d = 1; d < 32; d <<= 1) {
			u32 y = __shfl_up_sync(ALL, sum, d);
			if (lane >= d)
				sum += y;
		}
		u32 to = e + sum - own;
		e += __shfl_sync(ALL, sum, 31);
		if (which) {
			piece_of(s, x, piece, i, &row, &at);
			atomicAdd(s.count + row, own);
			for (; which; which &= which - 1, to++) {
				u32 place = at + __ffs(which) - 1, slot = find(s, g.far[place]);
				if (to >= most)
					continue;
				l.far[base + to] = slot;
				l.edge[base + to] = WEIGHTS ? place : g.edge[place];
				atomicMin(s.first + slot, to);
				if (KIND == COLUMNS)
					atomicAdd(s.own + slot, g.scores[(u64)place + 1] - g.scores[place]);
			}
		}
	}
}

// The edges from what was drawn, in order. The number of them, and in count that of each row.
static __device__ __forceinline__ u32 find_edges(const Rowed &g, const Level &s, const Lists &l, u32 base, u32 most) {
	u32 all = s.quads[s.n], m = 0, warp = threadIdx.x >> 5, turn = 0;
	u32 *mine = s.room + 64 + warp * (2 * TURNS + SPAN / 2);
	Spanned x = {mine, mine + TURNS, (unsigned short *)(mine + 2 * TURNS)};
	for (u32 p0 = 0; p0 < all; p0 += WARPS * SPAN, turn ^= WARPS) {
		u32 piece = p0 + warp * SPAN, some = 0, found = 0, e = m;
		if (piece < all && (some = read_span(g, s, x, piece, all)) > 0)
			found = look_up(g, s, x, piece, some);
		if ((threadIdx.x & 31) == 0)
			s.room[turn + warp] = found; // beside what others may still read of the last time
		__syncthreads();
		for (u32 w = 0; w < WARPS; w++) {
			u32 n = s.room[turn + w];
			e += w < warp ? n : 0;
			m += n;
		}
		if (found > 0)
			write_edges(g, s, l, x, piece, some, base, e, most);
	}
	__syncthreads();
	return m;
}
