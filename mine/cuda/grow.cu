
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

// The words that v, the last edge or vertex, adds to a row whose word p is at own[32 * p]: a and, of an edge, b.
static __device__ __forceinline__ void grown(const Row *rows, const u64 *off, u64 vertices, const u32 *own, u32 v, u32 &a, u32 &b) {
#if SIZE == 0 && VERTICES
	a = v;
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
	a = y;
#else
	a = min(x, y);
	b = max(x, y);
#endif
#endif
}

// How many neighbours may follow at place p of a row, whose word i is at[32 * i], and the first of them.
static __device__ __forceinline__ u32 follow(const Row *rows, const u32 *at, u32 p, u32 &from) {
	u32 x = at[32 * p];
	from = 0;
#if SIZE == 0 && VERTICES
	return 1; // the root itself
#else
	Row list = rows[x];
#if SIZE == 0
	from = list.below;
#elif VERTICES
	u32 bound = at[0];
	for (u32 i = p + 1; i < PLACES; i++)
		bound = max(bound, at[32 * i]);
	from = lower(list.at, list.degree, bound + 1);
#else
	for (u32 i = 0; i < p; i++)
		if (at[32 * i] == x)
			return 0;
	u64 bound = edge_of(at[0], at[32]);
	for (u32 i = p / 2 + 1; i < SIZE; i++)
		bound = max(bound, edge_of(at[64 * i], at[64 * i + 32]));
	u32 least = (u32)(bound >> 32), far = (u32)bound; // the first neighbour that will do, or any after it
	if (x < least)
		from = list.degree;
	else {
		if (x == least)
			least = far + 1;
		else if (x <= far)
			least++;
		from = lower(list.at, list.degree, least);
	}
#endif
	return list.degree - from;
#endif
}

// How many neighbours there are that may follow each of n rows.
extern "C" __global__ void __launch_bounds__(128) saga_grow_need(const Row *rows, const u32 *parents, u64 parent_room, u64 first, u64 n, u32 *need) {
	extern __shared__ u32 shared[];
	u32 *at = shared + (threadIdx.x >> 5) * WORDS + (threadIdx.x & 31);
	for (u64 r = blockIdx.x * (u64)blockDim.x + threadIdx.x; r < n; r += gridDim.x * (u64)blockDim.x) {
		put(at, parents, parent_room, first, r);
		u32 sum = 0, from;
		for (u32 p = 0; p < LISTS; p++)
			sum += follow(rows, at, p, from);
		need[r] = sum;
	}
}
