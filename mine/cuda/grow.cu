
// Rows of SIZE edges (vertices) that become one longer. A row has PLACES words: vertices, or the lower and the higher end of each edge; word p of row r is
// rows[p * room + r]. Rows of size 0 are roots, of one word that is not kept. LISTS are the places from whose neighbours a row may go on. What follows a root is written as a vertex or
// as the place of an edge among all entries, what follows a longer row as a place of it and, in the lower NEAR bits, which of the neighbours there.
#if VERTICES
#define STEP 1
#else
#define STEP 2
#endif
#define PLACES (SIZE * STEP)
#if SIZE == 0
#define LISTS 1
#else
#define LISTS PLACES
#endif
#define NONE 0xffffffffu

static __device__ __forceinline__ u64 edge_of(u32 a, u32 b) { return a < b ? (u64)a << 32 | b : (u64)b << 32 | a; }

// Whether two vertices are neighbours, and the label of the edge between them, -1 if there is none.
static __device__ __forceinline__ bool adjacent(Row a, u32 v, Row b, u32 w) {
	if (a.degree > b.degree) {
		a = b;
		w = v;
	}
	u32 k = lower(a.at, a.degree, w);
	return k < a.degree && a.at[k] == w;
}
static __device__ __forceinline__ long long kind_of(const Row *rows, const u64 *off, const int *kind, u32 v, u32 w) {
	Row r = rows[v];
	u32 k = lower(r.at, r.degree, w);
	return k < r.degree && r.at[k] == w ? kind[off[v] + k] : -1;
}

// Puts a row in this lane's words of a warp.
static __device__ __forceinline__ void put(u32 *at, const u32 *parents, u64 parent_room, u64 first, u64 r) {
#if SIZE == 0
	at[0] = (u32)(first + r);
#else
	for (u32 p = 0; p < PLACES; p++)
		at[32 * p] = parents[p * parent_room + r];
#endif
}

// The words that v, the last edge or vertex, adds to a row whose word p is at own[32 * p].
static __device__ __forceinline__ void grown(const Row *rows, const u64 *off, u64 vertices, const u32 *own, u32 v, u32 *to) {
#if SIZE == 0 && VERTICES
	to[0] = v;
#else
	u32 x = 0;
#if SIZE == 0
	for (u64 hi = vertices - 1, lo = 0; x = (u32)lo, lo < hi;) { // the last whose entries begin at v or before
		u64 mid = (lo + hi + 1) / 2;
		if (off[mid] <= v)
			lo = mid;
		else
			hi = mid - 1;
	}
	v -= (u32)off[x];
#else
	x = own[32 * (v >> NEAR)];
	v &= (1u << NEAR) - 1;
#endif
	u32 y = rows[x].at[v];
#if VERTICES
	to[0] = y;
#else
	to[0] = min(x, y);
	to[32] = max(x, y);
#endif
#endif
}
