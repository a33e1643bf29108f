
// The neighbours along the edges of one label from vertices of one label to those of another. Members are bits with
// the number of members before each 64 of them, or, if words is 0, a list; if ids is 0, too, every vertex has a row.
struct __align__(16) Arc { const u32 *words, *before, *ids, *off, *col; u64 members; };

// A candidate. The bits of vertex v begin at sets + at[v] and known + at[v].
struct __align__(16) Candidate {
	u32 n, sure, joins, squares; // sure are the vertices, as bits, that need no search; squares is below
	u32 label[8], orbit[8], near[8], words[8];
	u64 at[8];
	u32 arc[64];     // from v to u: 8 v + u
	u8 order[64];    // for a search from v, from 8 v on
	u8 join[112];    // the vertex that is joined, and with which, as bits
	u8 far[8], mark[8], test[8], pad[8]; // by vertex: a square that begins there, far the vertex itself if there is none
};
// Some words of the domain of a vertex; steps are the semi-joins that drop vertices of it, as bits, and the vertex in the highest eight bits. Most blocks
// have nothing to do for most pieces in a step, so that this must be known without a look at the candidate.
struct __align__(16) Piece { u32 candidate, from; u64 steps; };
static __device__ __forceinline__ u32 vertex_of(const Piece &p) { return (u32)(p.steps >> 56); }

static __device__ __forceinline__ bool has(const u32 *bits, u32 x) { return bits[x >> 5] >> (x & 31) & 1; }

// The neighbours of member x: col from lo up to hi.
static __device__ __forceinline__ void row_of(const Arc &a, u32 x, u32 &lo, u32 &hi) {
	u32 k;
	if (a.words) {
		u32 w = x >> 6 << 1;
		u32 below = a.words[w + (x >> 5 & 1)] & ((1u << (x & 31)) - 1);
		k = a.before[x >> 6] + __popc(below);
		if (x & 32)
			k += __popc(a.words[w]);
	} else
		k = a.ids ? lower(a.ids, (u32)a.members, x) : x;
	lo = a.off[k];
	hi = a.off[k + 1];
}

// Whether a domain of the candidate has become too small. All lanes of the warp get the same answer.
static __device__ __forceinline__ bool is_dead(const Candidate *c, const u32 *count, u64 least, u32 lane) {
	bool small = lane < c->n && *(const volatile u32 *)(count + lane) < least;
	return __ballot_sync(ALL, small) != 0;
}

// Whether entries lo to hi have a member of the domain of each peer, and as many in any of these as there are peers: peers are different vertices.
static __device__ bool enough(const Candidate *c, const u32 *sets, const u32 *col, u32 lo, u32 hi, u32 peers) {
	u32 met = 0, n = __popc(peers);
	for (; lo < hi; lo++) {
		u32 y = col[lo], of = 0;
		for (u32 rest = peers; rest; rest &= rest - 1) {
			u32 i = __ffs(rest) - 1;
			of |= (u32)has(sets + c->at[i], y) << i;
		}
		met |= of;
		n -= of != 0 && n > 0;
		if (n == 0 && met == peers)
			return true;
	}
	return false;
}

// Step number step of the semi-joins: drops vertices without neighbours in the domains at the other ends of edges.
extern "C" __global__ void __launch_bounds__(128) saga_join(const Candidate *candidates, const Piece *pieces, u64 n, u64 step, const Arc *arcs,
		u32 *sets, u32 *counts, u64 least) {
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
	for (u64 j = blockIdx.x; j < n; j += gridDim.x) {
		Piece p = pieces[j];
		if (!(p.steps >> step & 1))
			continue;
		const Candidate *c = candidates + p.candidate;
		u32 *count = counts + 8 * (u64)p.candidate, v = vertex_of(p);
		if (is_dead(c, count, least, lane))
			continue;
		u32 peers = c->join[2 * step + 1], u = __ffs(peers) - 1, end = min(p.from + PIECE, c->words[v]), lost = 0;
		u32 *own = sets + c->at[v];
		const u32 *other = sets + c->at[u];
		Arc a = arcs[c->arc[8 * v + u]];
		for (u32 w = p.from + warp; w < end; w += warps) {
			u32 m = own[w];
			if (m == 0)
				continue;
			bool keep = false;
			if (m >> lane & 1) {
				u32 lo, hi;
				row_of(a, 32 * w + lane, lo, hi);
				if (peers & (peers - 1))
					keep = enough(c, sets, a.col, lo, hi, peers);
				else
					for (; lo < hi && !keep; lo++)
						keep = has(other, a.col[lo]);
			}
			u32 left = __ballot_sync(ALL, keep);
			if (lane == 0 && left != m) {
				own[w] = left;
				lost += __popc(m & ~left);
			}
		}
		if (lost)
			atomicSub(count + v, lost);
	}
}

// Whether the arc leads from x to y; back leads from y to x.
static __device__ __forceinline__ bool joins(const Arc &to, u32 x, const Arc &back, u32 y) {
	u32 lo, hi, from, end;
	row_of(to, x, lo, hi);
	row_of(back, y, from, end);
	if (hi - lo <= end - from) {
		u32 k = lower(to.col + lo, hi - lo, y);
		return k < hi - lo && to.col[lo + k] == y;
	}
	u32 k = lower(back.col + from, end - from, x);
	return k < end - from && back.col[from + k] == x;
}

// The whole graph, with the user's numbers of vertices; only for induced patterns. Vertex x of a label is
// number[first[label] + x].
struct Whole { const u64 *first; const u32 *number; const u64 *off; const u32 *col; };

static __device__ __forceinline__ bool is_edge(const Whole &g, u32 label, u32 x, u32 other, u32 y) {
	u32 v = g.number[g.first[label] + x], w = g.number[g.first[other] + y];
	if (g.off[w + 1] - g.off[w] < g.off[v + 1] - g.off[v]) { u32 t = v; v = w; w = t; }
	u32 n = (u32)(g.off[v + 1] - g.off[v]), k = lower(g.col + g.off[v], n, w);
	return k < n && g.col[g.off[v] + k] == w;
}

// A search for an embedding that puts x at a vertex of the pattern, by one lane. Lanes that search together from one x share the row of the first
// step out, and each entry of it among several of them the row of the second: a lane takes every by-th entry from its own on.
struct Search {
	u32 k, used, ended;         // the step; the vertices that are used; rows that were gone through to their end
	u32 image[8];
	u32 at[8], end[8], base[8]; // by step: the rest of the row that is gone through, and the vertex that it belongs to
	u32 from[3], by[3];         // of steps 1 and 2
};
enum { GONE, FOUND, MORE }; // no embedding, or to be stopped; an embedding; not yet known

// Chooses the shortest of the rows in which the vertex of step k must be.
static __device__ __forceinline__ void enter(Search &s, const Candidate *c, const Arc *arcs, const u8 *order, u32 k, u32 used) {
	u32 v = order[k], least = ALL;
	for (u32 rest = c->near[v] & used; rest; rest &= rest - 1) {
		u32 j = __ffs(rest) - 1, lo, hi;
		row_of(arcs[c->arc[8 * j + v]], s.image[j], lo, hi);
		if (hi - lo < least) {
			least = hi - lo;
			s.at[k] = lo;
			s.end[k] = hi;
			s.base[k] = j;
		}
	}
	if (k == 2)
		s.at[2] += min(s.from[2], least);
}

// Begins a search at x; the lane is one of a warp that searches together, or alone.
static __device__ __forceinline__ void begin(Search &s, const Candidate *c, const Arc *arcs, u32 root, u32 x, bool together, u32 lane) {
	s.k = 1;
	s.used = 1u << root;
	s.ended = s.from[2] = 0;
	s.by[1] = s.by[2] = 1;
	s.image[root] = x;
	enter(s, c, arcs, c->order + 8 * root, 1, s.used);
	if (together) {
		u32 n = s.end[1] - s.at[1], each = 1; // lanes for an entry of the first row
		while (each < 32 && 2 * each * n <= 32)
			each *= 2;
		s.by[1] = 32 / each;
		s.by[2] = each;
		s.at[1] += min(lane / each, n);
		s.from[2] = lane % each;
	}
}

// Whether y stands at one of the used vertices.
static __device__ __forceinline__ bool taken(const Search &s, const Candidate *c, u32 v, u32 y, u32 used) {
	for (u32 rest = used & ~c->near[v]; rest; rest &= rest - 1) {
		u32 j = __ffs(rest) - 1;
		if (c->label[j] == c->label[v] && s.image[j] == y)
			return true;
	}
	return false;
}

// Whether y, which is not taken, can stand at v, beside what the used vertices have.
static __device__ bool fits(const Search &s, const Candidate *c, const Arc *arcs, const Whole &g, u32 v, u32 y, u32 base, u32 used) {
	for (u32 rest = used; rest; rest &= rest - 1) {
		u32 j = __ffs(rest) - 1;
		if (c->near[v] >> j & 1) {
			if (j != base && !joins(arcs[c->arc[8 * j + v]], s.image[j], arcs[c->arc[8 * v + j]], y))
				return false;
		}
#ifdef INDUCED
		else if (is_edge(g, c->label[j], s.image[j], c->label[v], y))
			return false;
#endif
	}
	return true;
}

// Goes on with a search for so many entries of rows.
static __device__ u32 advance(Search &s, const Candidate *c, const Arc *arcs, const Whole &g, const u32 *sets, u32 root, u32 steps, const u64 *state) {
	const u8 *order = c->order + 8 * root;
	u32 k = s.k, used = s.used;
	while (k > 0) {
		u32 v = order[k];
		if (s.at[k] >= s.end[k]) {
			k--;
			used &= ~(1u << order[k]);
			if (k == 0 || ++s.ended % 256 == 0 && stopped(state))
				return GONE;
			continue;
		}
		if (steps-- == 0) {
			s.k = k;
			s.used = used;
			return MORE;
		}
		u32 y = arcs[c->arc[8 * s.base[k] + v]].col[s.at[k]];
		s.at[k] += k < 3 ? s.by[k] : 1;
		if (taken(s, c, v, y, used) || !has(sets + c->at[v], y) || !fits(s, c, arcs, g, v, y, s.base[k], used))
			continue;
		s.image[v] = y;
		if (k + 1 == c->n)
			return FOUND;
		used |= 1u << v;
		enter(s, c, arcs, order, ++k, used);
	}
	return GONE;
}

// Whether the square at v is between two peers, and whether it is the whole pattern.
static __device__ __forceinline__ bool has_peers(const Candidate *c, u32 v) { return c->squares >> v & 1; }
static __device__ __forceinline__ bool is_square(const Candidate *c, u32 v) {
#ifdef INDUCED
	return false; // the ends may be adjacent
#else
	return c->squares >> (8 + v) & 1;
#endif
}

// Whether y can stand at b, which is one of the two vertices between the ends of the square at v.
static __device__ __forceinline__ bool is_between(const Candidate *c, const u32 *sets, u32 v, u32 b, u32 y) {
	return has(sets + c->at[b], y) || has_peers(c, v) && has(sets + c->at[c->mark[v] ^ c->test[v] ^ b], y);
}

// What can stand at c->mark[v] of the square at v that has x, z at the far end, and y between them; ALL if there is nothing.
static __device__ __attribute__((noinline)) u32 other(const Candidate *c, const Arc *arcs, const u32 *sets, u32 v, u32 x, u32 z, u32 y) {
	u32 b = c->mark[v], far = c->far[v], lo, hi, from, end;
	Arc near = arcs[c->arc[8 * v + b]], down = arcs[c->arc[8 * far + b]];
	row_of(near, x, lo, hi);
	row_of(down, z, from, end);
	bool shorter = hi - lo <= end - from;
	if (!shorter) { lo = from; hi = end; }
	for (; lo < hi; lo++) {
		u32 w = shorter ? near.col[lo] : down.col[lo];
		if (!(has_peers(c, v) && w == y) && is_between(c, sets, v, b, w) &&
			(shorter ? joins(arcs[c->arc[8 * b + far]], w, down, z) : joins(near, x, arcs[c->arc[8 * b + v]], w)))
			return w;
	}
	return ALL;
}

// The warp takes the two edges from x, at v, by way of the pattern's vertex b, and marks where they lead, or, to test, looks for a square where a mark
// is. Several vertices share a mark. The answer is the lanes that found one, which have it in s; together they hold on to the first row with one.
static __device__ __attribute__((noinline)) u32 reach(Search &s, const Candidate *c, const Arc *arcs, const u32 *sets, u32 v, u32 x, u32 b, bool test, u32 *marks, u32 lane) {
	u32 far = c->far[v], lo, hi, hit = 0, each = 1; // lanes for a row
	bool peers = has_peers(c, v), again = c->label[far] == c->label[v];
	Arc first = arcs[c->arc[8 * v + b]], second = arcs[c->arc[8 * b + far]];
	row_of(first, x, lo, hi);
	while (each < 32 && 2 * each * (hi - lo) <= 32)
		each *= 2;
	for (lo += lane / each; !hit && __any_sync(ALL, lo < hi); lo += 32 / each) {
		u32 y = lo < hi ? first.col[lo] : 0, from = 0, end = 0;
		if (lo < hi && is_between(c, sets, v, b, y)) {
			row_of(second, y, from, end);
			from += lane % each;
		}
		bool found = false;
		for (; from < end && !found; from += each) {
			u32 z = second.col[from], *word = marks + (z % MARKS >> 5), bit = 1u << (z & 31);
			if (again && z == x || !has(sets + c->at[far], z))
				continue;
			bool met = *(volatile u32 *)word & bit;
			if (!met && !(test && !peers))
				met = atomicOr(word, bit) & bit;
			if (met && test) {
				s.image[far] = z;
				s.image[c->test[v]] = y;
				s.image[c->mark[v]] = other(c, arcs, sets, v, x, z, y);
				found = s.image[c->mark[v]] != ALL;
			}
		}
		hit = __ballot_sync(ALL, found);
	}
	return hit;
}

// The lanes of the warp that find a square of the graph that begins in x, at v.
static __device__ __attribute__((noinline)) u32 closes(Search &s, const Candidate *c, const Arc *arcs, const u32 *sets, u32 v, u32 x, u32 *marks, u32 lane) {
	for (u32 i = lane; i < MARKS / 32; i += 32)
		marks[i] = 0;
	__syncwarp();
	s.image[v] = x;
	u32 hit = reach(s, c, arcs, sets, v, x, c->mark[v], has_peers(c, v), marks, lane);
	__syncwarp();
	if (!has_peers(c, v))
		hit = reach(s, c, arcs, sets, v, x, c->test[v], true, marks, lane);
	__syncwarp();
	return hit;
}

// Marks the vertices of an embedding. What another thread has marked may be seen late: a bit is set again then. So a bit is looked up in the
// nearest cache before it is set.
static __device__ __forceinline__ void mark(const Search &s, const Candidate *c, u32 *known) {
	for (u32 i = 0; i < c->n; i++) {
		u32 y = s.image[i], *word = known + c->at[c->orbit[i]] + (y >> 5), bit = 1u << (y & 31);
		if (!(*word & bit))
			atomicOr(word, bit);
	}
}

// Looks for an embedding of every vertex in the domains of the first vertices of orbits, unless one is known, and marks all
// vertices of those it finds. Whether x is known is read afresh, as a search costs more. A lane searches alone for ALONE entries of rows; what
// has not ended then the lanes of the warp search together, one x after the other: else a few long searches would be all that runs in the end. With SQUARES long
// searches that begin at a square first look whether there is one at all, and what has no embedding no longer counts, so that a candidate ends when it cannot
// be frequent. marks are those of the warp.
template <bool SQUARES> static __device__ __forceinline__ void search(const Candidate *candidates, const Piece *pieces, u64 n, const Arc *arcs,
		const u32 *sets, u32 *known, u32 *counts, u64 least, const u64 *state, const u64 *first, const u32 *number, const u64 *off, const u32 *col, u32 *marks) {
	Whole g = {first, number, off, col};
	u32 lane = threadIdx.x & 31;
	for (u64 j = blockIdx.x; j < n * (PIECE / FEW); j += gridDim.x) {
		Piece p = pieces[j / (PIECE / FEW)];
		const Candidate *c = candidates + p.candidate;
		u32 v = vertex_of(p), from = p.from + j % (PIECE / FEW) * FEW, end = min(from + FEW, c->words[v]), *count = counts + 8 * (u64)p.candidate;
		if (from >= end || is_dead(c, count, least, lane))
			continue;
		const volatile u32 *own = known + c->at[v];
		for (u32 x = 32 * from + threadIdx.x; x < 32 * end; x += blockDim.x) { // all lanes of a warp or none
			Search s;
			u32 is = FOUND;
			if (has(sets + c->at[v], x) && !(own[x >> 5] >> (x & 31) & 1)) {
				begin(s, c, arcs, v, x, false, 0);
				is = advance(s, c, arcs, g, sets, v, ALONE, state);
				if (is == FOUND)
					mark(s, c, known);
			}
			u32 none = SQUARES ? __ballot_sync(ALL, is == GONE) : 0;
			if (none && lane == 0)
				atomicSub(count + v, __popc(none));
			for (u32 rest = __ballot_sync(ALL, is == MORE); rest; rest &= rest - 1) {
				u32 y = x - lane + __ffs(rest) - 1, hit = ALL;
				if (__any_sync(ALL, own[y >> 5] >> (y & 31) & 1))
					continue;
				if (SQUARES && is_dead(c, count, least, lane))
					break;
				if (SQUARES && c->far[v] != v)
					hit = closes(s, c, arcs, sets, v, y, marks, lane);
				if (hit && !(SQUARES && is_square(c, v))) {
					begin(s, c, arcs, v, y, true, lane);
					do {
						is = advance(s, c, arcs, g, sets, v, TOGETHER, state);
						hit = __ballot_sync(ALL, is == FOUND);
					} while (!hit && __any_sync(ALL, is == MORE));
				}
				if (hit && lane == __ffs(hit) - 1)
					mark(s, c, known);
				if (SQUARES && !hit && lane == 0)
					atomicSub(count + v, 1);
			}
		}
	}
}

extern "C" __global__ void __launch_bounds__(128) saga_search(const Candidate *candidates, const Piece *pieces, u64 n, const Arc *arcs,
		const u32 *sets, u32 *known, u32 *counts, u64 least, const u64 *state, const u64 *first, const u32 *number, const u64 *off, const u32 *col) {
	search<false>(candidates, pieces, n, arcs, sets, known, counts, least, state, first, number, off, col, 0);
}

// The same for a batch in which patterns have squares, in few registers: with as many as it would take there are too few warps.
extern "C" __global__ void __launch_bounds__(128, 10) saga_squares(const Candidate *candidates, const Piece *pieces, u64 n, const Arc *arcs,
		const u32 *sets, u32 *known, u32 *counts, u64 least, const u64 *state, const u64 *first, const u32 *number, const u64 *off, const u32 *col) {
	extern __shared__ u32 shared[];
	search<true>(candidates, pieces, n, arcs, sets, known, counts, least, state, first, number, off, col, shared + (threadIdx.x >> 5) * (MARKS / 32));
}

// The exact domains of the first vertices of orbits, and their sizes.
extern "C" __global__ void __launch_bounds__(128) saga_found(const Candidate *candidates, const Piece *pieces, u64 n, u32 *sets, const u32 *known,
		const u32 *counts, u32 *sizes, u64 least) {
	u32 lane = threadIdx.x & 31;
	for (u64 j = blockIdx.x; j < n; j += gridDim.x) {
		Piece p = pieces[j];
		const Candidate *c = candidates + p.candidate;
		u32 v = vertex_of(p), size = 0;
		if (c->orbit[v] != v || is_dead(c, counts + 8 * (u64)p.candidate, least, lane))
			continue;
		u32 end = min(p.from + PIECE, c->words[v]);
		for (u32 w = p.from + threadIdx.x; w < end; w += blockDim.x) {
			u32 m = c->sure >> v & 1 ? sets[c->at[v] + w] : known[c->at[v] + w];
			sets[c->at[v] + w] = m;
			size += __popc(m);
		}
		for (int d = 16; d > 0; d >>= 1)
			size += __shfl_down_sync(ALL, size, d);
		if (lane == 0 && size)
			atomicAdd(sizes + 8 * (u64)p.candidate + v, size);
	}
}
