
struct End { u32 far, lo, degree; }; // the far end of an edge, with its row where entries are WIDE
struct G { // the rows of a graph
	const u32 *offsets;  // V+1
	const void *edges;   // E: far ends, or WIDE entries of 16 bytes
	const u32 *far;      // E: far ends alone
	const float *weight; // E
	const float *most;   // V: the largest weight of a row
	const void *table;   // E: alias tables, or WIDE ones of 32 bytes; or sums of weights
	u64 vertices;
};
struct F { // one draw of a function
	u64 i, n;            // of n samples
	u32 of, step, slot;  // what names it in counters
	u32 k0, k1;
	u32 at, lo, degree, before; // the transit with its row, and the vertex before it
	const u32 *roots;    // n×ROOTS
	const u32 *out;      // step by step what was added, n each
	Number *state;       // field by field, stride each, of which this sample has number own
	u64 stride, own;
	u64 length;
	u64 *wrong;          // set where the reference would end with an error
};

static __device__ __forceinline__ End no_end() { End e = {NONE, 0, 0}; return e; }
static __device__ __forceinline__ i64 vertex(u32 v) { return v == NONE ? -1 : (i64)v; }

// The row of any vertex; of none it is empty.
static __device__ __forceinline__ u32 span(const G &g, i64 v, u32 *lo) {
	if ((u64)v >= g.vertices)
		return 0;
	*lo = g.offsets[v];
	return g.offsets[v + 1] - *lo;
}

static __device__ __forceinline__ i64 degree_of(const G &g, i64 v) {
	u32 lo;
	return span(g, v, &lo);
}

template <int S> static __device__ __forceinline__ u32 word(const Words &w) { return S == 0 ? w.w0 : S == 1 ? w.w1 : S == 2 ? w.w2 : w.w3; }

static __device__ __forceinline__ End end_at(const G &g, u32 at) {
#ifdef WIDE
	uint4 x = ((const uint4 *)g.edges)[at];
	End e = {x.x, x.y, x.z};
#else
	End e = {((const u32 *)g.edges)[at], 0, 0};
#endif
	return e;
}

// The row of an edge's far end, by the edge where it says so.
static __device__ __forceinline__ void enter(const G &g, End &e) {
#ifndef WIDE
	if (e.far != NONE) {
		e.lo = g.offsets[e.far];
		e.degree = g.offsets[e.far + 1] - e.lo;
	}
#endif
}

static __device__ __forceinline__ End end_of(const G &g, const F &f, i64 place) {
	return (u64)place < f.degree ? end_at(g, f.lo + (u32)place) : no_end();
}

static __device__ __forceinline__ i64 neighbour(const G &g, i64 v, i64 place) {
	u32 lo = 0, d = span(g, v, &lo);
	return (u64)place < d ? (i64)g.far[lo + (u32)place] : -1;
}

static __device__ __forceinline__ float weight_at(const G &g, u32 at) { return g.weight ? g.weight[at] : 1.0f; }

static __device__ __forceinline__ float weight_of(const G &g, i64 v, i64 place) {
	u32 lo = 0, d = span(g, v, &lo);
	return (u64)place < d ? weight_at(g, lo + (u32)place) : 0.0f;
}

static __device__ __forceinline__ float most_of(const G &g, i64 v) {
	u32 lo = 0, d = span(g, v, &lo);
	return d == 0 ? 0.0f : g.most ? g.most[v] : 1.0f;
}

static __device__ __forceinline__ float weight_before(const G &g, i64 v, i64 place) {
	u32 lo = 0, d = span(g, v, &lo);
	float sum = 0.0f;
	for (i64 i = 0; i < place && i < d; i++)
		sum = __fadd_rn(sum, weight_at(g, lo + (u32)i));
	return sum;
}

// Whether the row of u has v.
static __device__ __forceinline__ bool has(const G &g, i64 u, i64 v) {
	u32 lo = 0, n = span(g, u, &lo);
	if ((u64)v >= g.vertices)
		return false;
	u32 end = lo + n, x = (u32)v;
	while (n > 0) {
		u32 half = n >> 1;
		bool up = g.far[lo + half] < x;
		lo = up ? lo + half + 1 : lo;
		n = up ? n - half - 1 : half;
	}
	return lo < end && g.far[lo] == x;
}

static __device__ __forceinline__ i64 below(u32 word, i64 n) { return n <= 0 ? -1 : (i64)((u64)word * (u64)n >> 32); }
static __device__ __forceinline__ i64 below_degree(u32 word, u32 n) { return n == 0 ? -1 : (i64)__umulhi(word, n); }
static __device__ __forceinline__ float uniform(u32 word) { return (float)(word >> 8) * (1.0f / 16777216.0f); }

// A place of a row by its alias table, and the end that it leads to.
static __device__ __forceinline__ i64 alias_in(const G &g, u32 lo, u32 d, u32 a, u32 b, End *e) {
	*e = no_end();
	if (d == 0)
		return -1;
	u32 i = __umulhi(a, d);
#ifdef WIDE
	const uint4 *t = (const uint4 *)g.table + 2 * (u64)(lo + i);
	uint4 x = t[0], y = t[1];
	if (b < x.x) {
		End own = {x.y, x.z, x.w};
		*e = own;
		return i;
	}
	if (x.x == 0 && y.x == NONE)
		return -1;
	End other = {y.y, y.z, y.w};
	*e = other;
	return y.x;
#else
	uint2 x = ((const uint2 *)g.table)[lo + i];
	if (b >= x.x) {
		if (x.x == 0 && x.y == NONE)
			return -1;
		i = x.y;
	}
	*e = end_at(g, lo + i);
	return i;
#endif
}

static __device__ __forceinline__ i64 alias_of(const G &g, i64 v, u32 a, u32 b) {
	u32 lo = 0, d = span(g, v, &lo);
	End e;
	return alias_in(g, lo, d, a, b, &e);
}

// A place of a row by sums of weights.
static __device__ __forceinline__ i64 inverse_of(const G &g, i64 v, u32 word) {
	u32 lo = 0, n = span(g, v, &lo);
	const u32 *row = (const u32 *)g.table + lo;
	if (n == 0 || row[n - 1] == 0)
		return -1;
	word = word < 0xfffffffeu ? word : 0xfffffffeu;
	u32 at = 0, left = n - 1;
	while (left > 0) {
		u32 half = left >> 1;
		bool up = row[at + half] <= word;
		at = up ? at + half + 1 : at;
		left = up ? left - half - 1 : half;
	}
	return at;
}

// Numbers as Go has them.
static __device__ __forceinline__ i64 quotient(i64 a, i64 b) { return b == 0 ? 0 : b == -1 ? (i64)(0 - (u64)a) : a / b; }
static __device__ __forceinline__ i64 greater(i64 a, i64 b) { return a > b ? a : b; }
static __device__ __forceinline__ i64 lesser(i64 a, i64 b) { return a < b ? a : b; }
static __device__ __forceinline__ float greater_real(float a, float b) {
	return a != a || b != b ? __int_as_float(0x7fc00000) : a == b ? __int_as_float(__float_as_int(a) & __float_as_int(b)) : a > b ? a : b;
}
static __device__ __forceinline__ float lesser_real(float a, float b) {
	return a != a || b != b ? __int_as_float(0x7fc00000) : a == b ? __int_as_float(__float_as_int(a) | __float_as_int(b)) : a < b ? a : b;
}

// The vertex that stands at step s of the sample.
static __device__ __forceinline__ i64 past(const F &f, i64 s) {
	if (s < 0)
		return -1;
	return vertex(s == 0 ? f.roots[f.i * ROOTS] : f.out[(u64)(s - 1) * f.n + f.i]);
}

static __device__ __forceinline__ i64 root(const F &f, i64 k) {
	if ((u64)k >= ROOTS) {
		*f.wrong = 1;
		return -1;
	}
	return vertex(f.roots[f.i * ROOTS + k]);
}

// Number k of a field of the state, which has so many.
static __device__ __forceinline__ Number *number(const F &f, u64 first, u64 many, i64 k) {
	if ((u64)k >= many) {
		*f.wrong = 1;
		k = 0;
	}
	return f.state + (first + (u64)k) * f.stride + f.own;
}

// What Next chose: a place, and the end that it leads to.
static __device__ __forceinline__ End chosen(const F &f, i64 place, End e) {
	if (place < 0)
		return no_end();
	if ((u64)place >= f.degree) {
		*f.wrong = 1;
		return no_end();
	}
	return e;
}
