package cuda

import (
	_ "embed"
	"fmt"
	"strings"

	"sagann/mine/plan"
)

// mapsText is the functions that kernels which count maps use.
//
//go:embed maps.cu
var mapsText string

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
