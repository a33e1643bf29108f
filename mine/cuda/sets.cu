
struct __align__(16) Task { u32 root, lo, hi, pad; }; // neighbours from lo up to hi of the root; hi 0: all
// bits: of a whole row, or of a window of one, a bit for each vertex of the graph that is
// set for those in the row; 0: none.
struct List { const u32 *at; u32 n; const u32 *bits; };

static __device__ __forceinline__ List whole(Row r, const u32 *bits) { List l = {r.at, r.degree, bits}; return l; }

// The members of l from x on, or below x.
static __device__ __forceinline__ List from(List l, u32 x, u32 lane) {
	u32 k = lower_warp(l.at, l.n, x, lane);
	l.at += k;
	l.n -= k;
	return l;
}
static __device__ __forceinline__ List upto(List l, u32 x, u32 lane) {
	l.n = lower_warp(l.at, l.n, x, lane);
	return l;
}

// 1 if l has x.
static __device__ __forceinline__ u32 has(List l, u32 x, u32 lane) {
	u32 k = lower_warp(l.at, l.n, x, lane);
	return k < l.n && l.at[k] == x;
}
static __device__ __forceinline__ bool holds(List l, u32 x) {
	if (l.n == 0)
		return false;
	if (l.bits)
		return (l.bits[x >> 5] >> (x & 31) & 1) && x >= l.at[0] && x <= l.at[l.n - 1];
	u32 k = lower(l.at, l.n, x);
	return k < l.n && l.at[k] == x;
}
static __device__ __forceinline__ bool adjacent(Row a, u32 v, Row b, u32 w) {
	return a.degree < b.degree ? holds(whole(a, 0), w) : holds(whole(b, 0), v);
}

// The members of l that have a label.
static __device__ __forceinline__ u32 labelled(List l, const int *label, int want, u32 lane) {
	u32 n = 0;
	for (u32 j = 0; j < l.n; j += 32)
		n += __popc(__ballot_sync(ALL, j + lane < l.n && label[l.at[j + lane]] == want));
	return n;
}

// About what it takes to look for each member of a in b.
static __device__ __forceinline__ u64 cost(List a, List b) { return (u64)a.n * (b.bits ? 1 : 33 - __clz(b.n)); }

// Writes the members of a that b has, or has not, and returns their number.
static __device__ u32 keep(u32 *to, List a, List b, bool minus, u32 lane) {
	u32 n = 0;
	__syncwarp();
	for (u32 j = 0; j < a.n; j += 32) {
		u32 x = j + lane < a.n ? a.at[j + lane] : 0;
		u32 m = __ballot_sync(ALL, j + lane < a.n && holds(b, x) != minus);
		if (m >> lane & 1)
			to[n + __popc(m & ((1u << lane) - 1))] = x;
		n += __popc(m);
	}
	__syncwarp();
	return n;
}
static __device__ __forceinline__ u32 intersect(u32 *to, List a, List b, u32 lane) {
	return cost(a, b) <= cost(b, a) ? keep(to, a, b, false, lane) : keep(to, b, a, false, lane);
}

// The lane's share of the number of vertices that both have.
static __device__ __forceinline__ u32 overlap(List a, List b, u32 lane) {
	if (cost(a, b) > cost(b, a)) { List c = a; a = b; b = c; }
	u32 k = 0;
	for (u32 j = lane; j < a.n; j += 32)
		k += holds(b, a.at[j]);
	return k;
}
