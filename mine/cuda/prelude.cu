
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
#define ALL 0xffffffffu

// Neighbours of a vertex: ascending, those below it first. In packed rows, which have only
// those above it, below is how many have a word each.
struct __align__(16) Row { const u32 *at; u32 below, degree; };

// n neighbours above a vertex: whole of them have a word each, the others, less base, half.
struct Above { const u32 *at; u32 whole, n; };
static __device__ __forceinline__ Above above(Row r) {
#ifdef PACKED
	Above a = {r.at, r.below, r.degree};
#else
	Above a = {r.at + r.below, r.degree - r.below, r.degree - r.below};
#endif
	return a;
}
static __device__ __forceinline__ u32 member(Above a, u32 i, u32 base) {
#ifdef PACKED
	if (i >= a.whole)
		return base + ((const u16 *)(a.at + a.whole))[i - a.whole];
#endif
	return a.at[i];
}

// A count of 128 bits. What is taken away may come before what it is taken from.
struct Sum { u64 lo, hi; };
static __device__ __forceinline__ void add(Sum &s, u64 n) { s.lo += n; s.hi += s.lo < n; }
static __device__ __forceinline__ void take(Sum &s, u64 n) { s.hi -= s.lo < n; s.lo -= n; }
static __device__ __forceinline__ void add_product(Sum &s, u64 a, u64 b) { s.hi += __umul64hi(a, b); add(s, a * b); }

// Adds the warp's counts up and writes them to the warp's place in out.
static __device__ void finish(Sum s, Sum *out) {
	for (int d = 16; d > 0; d >>= 1) {
		u64 lo = __shfl_down_sync(ALL, s.lo, d), hi = __shfl_down_sync(ALL, s.hi, d);
		add(s, lo);
		s.hi += hi;
	}
	if ((threadIdx.x & 31) == 0)
		out[blockIdx.x * (u64)(blockDim.x >> 5) + (threadIdx.x >> 5)] = s;
}

// The number of members of the sorted list, of n, that are below x.
template <class T> static __device__ __forceinline__ u32 lower(const T *list, u32 n, u32 x) {
	u32 lo = 0;
	while (n > 0) {
		u32 half = n >> 1;
		bool up = list[lo + half] < x;
		lo = up ? lo + half + 1 : lo;
		n = up ? n - half - 1 : half;
	}
	return lo;
}

// The place of x among the neighbours above a vertex; ALL if it is none of them.
static __device__ __forceinline__ u32 place_of(Above a, u32 x, u32 base) {
#ifdef PACKED
	if (x >= base) {
		const u16 *list = (const u16 *)(a.at + a.whole);
		u32 n = a.n - a.whole, p = lower(list, n, x - base);
		return p < n && list[p] == x - base ? a.whole + p : ALL;
	}
#endif
	u32 p = lower(a.at, a.whole, x);
	return p < a.whole && a.at[p] == x ? p : ALL;
}

// The number of members of a list that are below x, by all lanes of a warp together: each looks at one of 32 places.
static __device__ __forceinline__ u32 lower_warp(const u32 *list, u32 n, u32 x, u32 lane) {
	u32 lo = 0;
	while (n > 0) {
		u32 step = (n + 31) >> 5, i = lane * step + step - 1;
		u32 k = __popc(__ballot_sync(ALL, i < n && list[lo + i] < x)), skip = min(k * step, n);
		lo += skip;
		n = min(n - skip, step - 1);
	}
	return lo;
}

static __device__ __forceinline__ bool stopped(const u64 *state) { return *(const volatile u64 *)state != 0; }

// The position of the next task of those from lo up to hi, each step-th of which is this
// GPU's; all ones at the end.
static __device__ __forceinline__ u64 next_task(u64 *state, u64 *next, u64 lo, u64 hi, u64 step) {
	if (stopped(state))
		return ~0ull;
	u64 i = lo + atomicAdd(next, 1ull) * step;
	return i < hi ? i : ~0ull;
}

// The same, dealt from both ends, by halves of *next: where tasks are in order of work, as
// many that compute much as those that mostly wait for rows run beside each other.
static __device__ __forceinline__ u64 next_of_ends(u64 *state, u64 *next, u64 lo, u64 hi, u64 step, bool back) {
	if (stopped(state))
		return ~0ull;
	u64 all = (hi - lo + step - 1) / step, taken = atomicAdd(next, back ? 1ull << 32 : 1ull);
	u64 first = taken & 0xffffffff, last = taken >> 32;
	if (first + last >= all || lo >= hi)
		return ~0ull;
	return lo + (back ? all - 1 - last : first) * step;
}
