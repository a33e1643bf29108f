package cuda

import (
	"fmt"
	"strings"

	"sagann/mine/plan"
)

// mapsText is the functions that kernels which count maps use.
const mapsText = `
static __device__ __forceinline__ u64 power(u64 x, u32 k) {
	u64 y = 1;
	for (u32 i = 0; i < k; i++)
		y *= x;
	return y;
}

static __device__ __forceinline__ u64 warp_sum(u64 x) {
	for (int d = 16; d > 0; d >>= 1)
		x += __shfl_down_sync(ALL, x, d);
	return x;
}

// The sum over the lanes' part of a row of what x has there; times the triangles at the edge to the power of closed.
template <u32 closed> static __device__ __forceinline__ u64 pulled(const u64 *x, Row r, const u32 *t, u32 lane) {
	u64 s = 0;
	#pragma unroll 4
	for (u32 e = lane; e < r.degree; e += 32)
		s += closed ? x[r.at[e]] * power(t[e], closed) : x[r.at[e]];
	return warp_sum(s);
}

// Adds y to the row's vertices, and notes those that had nothing.
template <u32 closed> static __device__ __forceinline__ void spread(u64 *x, u32 *ends, u32 *count, Row r, const u32 *t, u64 y, u32 lane) {
	for (u32 e = lane; e < (r.degree + 31 & ~31u); e += 32) {
		u64 z = e < r.degree ? closed ? y * power(t[e], closed) : y : 0;
		u32 v = z ? r.at[e] : 0;
		bool first = z && atomicAdd(x + v, z) == 0;
		u32 m = __ballot_sync(ALL, first);
		if (m == 0)
			continue;
		u32 at = lane == 0 ? atomicAdd(count, (u32)__popc(m)) : 0;
		at = __shfl_sync(ALL, at, 0);
		if (first)
			ends[at + __popc(m & ((1u << lane) - 1))] = v;
	}
}

static __device__ __forceinline__ Sum times(Sum a, Sum b) {
	Sum c = {a.lo * b.lo, __umul64hi(a.lo, b.lo) + a.lo * b.hi + a.hi * b.lo};
	return c;
}

// The block's sum, for its first thread.
static __device__ Sum block_sum(Sum s, Sum *room) {
	for (int d = 16; d > 0; d >>= 1) {
		u64 lo = __shfl_down_sync(ALL, s.lo, d), hi = __shfl_down_sync(ALL, s.hi, d);
		add(s, lo);
		s.hi += hi;
	}
	__syncthreads();
	if ((threadIdx.x & 31) == 0)
		room[threadIdx.x >> 5] = s;
	__syncthreads();
	if (threadIdx.x == 0)
		for (u32 i = 1; i < blockDim.x >> 5; i++) {
			add(s, room[i].lo);
			s.hi += room[i].hi;
		}
	return s;
}

extern "C" __global__ void __launch_bounds__(512) saga_maps(const Row *rows, u64 *state, u64 *next, u64 lo, u64 hi, u64 step, u64 vertices,
		u64 most, const u64 *first, const u32 *closed, const u64 *shareds, u64 *scratch, u64 words, Sum *out) {
	extern __shared__ u32 shared[];
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
	u64 *taken = (u64 *)shared;
	Sum *room = (Sum *)(taken + 2);
	u32 *count = (u32 *)(room + warps);
	u64 *own = scratch + blockIdx.x * words, half = (vertices + 1) / 2;
	Sum sum = {0, 0};
	(void)lane; (void)warp; (void)first; (void)closed; (void)shareds; (void)half; (void)room;
	for (;;) {
		__syncthreads();
		if (threadIdx.x == 0)
			*taken = next_task(state, next, lo, hi, step);
		if (threadIdx.x < NODES)
			count[threadIdx.x] = 0;
		__syncthreads();
		if (*taken == ~0ull)
			break;
		u32 a = (u32)(vertices - 1 - *taken);
		Row root = rows[a];
		if (root.degree == 0)
			continue;
`

// mapsBlock is the threads of a block.
const mapsBlock = 512

// mapsShared is the shared memory of a block.
func mapsShared(m *plan.Maps) int64 { return 16 + 16*mapsBlock/32 + 4*int64(len(m.Nodes)) }

// mapsPlaces says where the arrays of nodes begin in a block's memory. An offset has two parts: one
// counts half numbers (4 bytes) for each vertex, the other numbers for each neighbour of the root.
type mapsPlaces struct {
	list, dense, ends []string
	halves, most      int
}

func placesOf(m *plan.Maps) (p mapsPlaces) {
	k := len(m.Nodes)
	p.list, p.dense, p.ends = make([]string, k), make([]string, k), make([]string, k)
	take := func(halves, most int) string {
		at := fmt.Sprintf("(own + %d * half + %d * most)", p.halves, p.most)
		p.halves, p.most = p.halves+halves, p.most+most
		return at
	}
	for i, n := range m.Nodes {
		switch n.Kind {
		case plan.Near:
			p.list[i] = take(0, 1)
		case plan.Far:
			p.list[i] = take(2, 0)
		case plan.Spread:
			p.ends[i] = fmt.Sprintf("((u32 *)%s)", take(1, 0))
		}
		if n.Dense || n.Kind == plan.Spread {
			p.dense[i] = take(2, 0)
		}
	}
	return p
}

// mapsRenderer writes the kernel that counts maps.
type mapsRenderer struct {
	*plan.Maps
	mapsPlaces
	text strings.Builder
	top  []bool // by node: see plan.Maps.Tops
}

// mapsOf is the text of the kernel that counts maps. A block does a root.
func mapsOf(m *plan.Maps) string {
	b := &mapsRenderer{Maps: m, mapsPlaces: placesOf(m), top: m.Tops()}
	fmt.Fprintf(&b.text, "%s#define NODES %d\n%s", prelude, len(m.Nodes), mapsText)
	for i := range m.Nodes {
		n := &m.Nodes[i]
		switch {
		case n.Kind == plan.Spread:
			b.spread(i, n)
		case !b.top[i]:
			store := fmt.Sprintf("%s[j] = x * last;", b.list[i])
			if n.Dense {
				store += fmt.Sprintf(" %s[v] = x * last;", b.dense[i])
			}
			b.each(i, n, store)
		default:
			continue
		}
		b.line("__syncthreads();")
	}
	if len(m.Sums) == 1 {
		b.each(m.Sums[0], &m.Nodes[m.Sums[0]], "add_product(sum, x, last);")
	} else {
		b.line("Sum product = {1, 0};")
		for _, i := range m.Sums {
			b.line("{ Sum part = {0, 0};")
			b.each(i, &m.Nodes[i], "add_product(part, x, last);")
			b.line("product = times(product, block_sum(part, room)); }")
		}
		b.line("if (threadIdx.x == 0) { add(sum, product.lo); sum.hi += product.hi; }")
	}
	b.line("__syncthreads();")
	for i := range m.Nodes {
		if b.dense[i] == "" {
			continue
		}
		list, k := b.support(i)
		b.line("for (u32 j = threadIdx.x; j < %s; j += blockDim.x) %s[%s[j]] = 0;", k, b.dense[i], list)
	}
	b.text.WriteString("\t}\n\tfinish(sum, out);\n}\n")
	return b.text.String()
}

func (b *mapsRenderer) line(format string, a ...any) { fmt.Fprintf(&b.text, "\t\t"+format+"\n", a...) }

// support is the vertices where a node has numbers, as expressions: a list, and its length.
func (b *mapsRenderer) support(i int) (list, n string) {
	switch x := &b.Nodes[i]; x.Kind {
	case plan.Near:
		return "root.at", "root.degree"
	case plan.Far:
		i = x.Of[0]
	}
	return b.ends[i], fmt.Sprintf("count[%d]", i)
}

// each renders a loop over a node's support. In store, v is the j-th vertex of the support, and x·last the
// node's number there. For a node with pulls a warp does each vertex, and one of its lanes stores.
func (b *mapsRenderer) each(i int, n *plan.Node, store string) {
	list, k := b.support(i)
	if len(n.Pulls) > 0 {
		b.line("for (u32 j = warp; j < %s; j += warps) {", k)
	} else {
		b.line("for (u32 j = threadIdx.x; j < %s; j += blockDim.x) {", k)
	}
	b.line("u32 v = %s[j];", list)
	b.line("u64 x = 1, last = 1;")
	if n.Kind == plan.Spread {
		b.line("x = %s[v];", b.dense[i])
	}
	if n.Leaves > 0 {
		b.line("x *= power(rows[v].degree, %d);", n.Leaves)
	}
	if n.AtRoot > 0 {
		b.line("x *= power(closed[first[a] + j], %d);", n.AtRoot)
	}
	for _, s := range n.Shared {
		b.line("x *= shareds[%d * vertices + v];", s)
	}
	if len(n.Pulls) > 0 {
		b.line("Row r = rows[v];")
	}
	for k, p := range n.Pulls {
		if k > 0 {
			b.line("x *= last;")
		}
		b.line("last = pulled<%d>(%s, r, %s, lane);", p.Closed, b.dense[p.From], at(p.Closed))
	}
	if n.Kind == plan.Far {
		for k, s := range n.Of {
			if k > 0 {
				b.line("x *= last;")
			}
			b.line("last = %s[v];", b.dense[s])
		}
	}
	if len(n.Pulls) > 0 {
		store = "if (lane == 0) { " + store + " }"
	}
	b.line("%s", store)
	b.line("}")
}

// at is the expression for the triangles at the edges of v's row, if they are read.
func at(closed int) string {
	if closed == 0 {
		return "0"
	}
	return "closed + first[v]"
}

// spread renders a spread: a warp does each vertex where node From is not 0.
func (b *mapsRenderer) spread(i int, n *plan.Node) {
	list, k := b.support(n.From)
	b.line("for (u32 j = warp; j < %s; j += warps) {", k)
	b.line("u32 v = %s[j];", list)
	if b.Nodes[n.From].Kind == plan.Spread {
		b.line("u64 x = %s[v];", b.dense[n.From])
	} else {
		b.line("u64 x = %s[j];", b.list[n.From])
	}
	b.line("if (x) spread<%d>(%s, %s, count + %d, rows[v], %s, x, lane);", n.Closed, b.dense[i], b.ends[i], i, at(n.Closed))
	b.line("}")
}
