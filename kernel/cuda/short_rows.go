package cuda

import (
	"fmt"
	"strings"

	"sagann/kernel"
)

// Rows of few edges. A warp that has such a row spends most of its time on costs per row: the latencies of its pointers, of
// the first IDs and of the last edges, which are read one by one, and joining its groups. So if rows have few edges in
// the mean (lean, gather_select.go), each row has a group of lanes to itself. It takes the row's edges in order, in
// rounds. All reads of a round are in flight together, in the last round too, along with the IDs of the next round.

const (
	// fewThreads is the size of the blocks: they hold rows that lie side by side, which
	// share lines of pointers and ids.
	fewThreads = 128
	// fewFloats bounds the floats that a lane has of the edges of a round, fewLive those of
	// a row's sums and own operands with those of an edge.
	fewFloats = 32
	fewLive   = 48
	// fewOnce leaves the cache to far rows: own rows and sums, which are many beside few
	// edges, are read and written as what is used once.
	fewOnce = true
)

// fewLanes narrows the groups of a kernel of whole rows: the less lanes, the more rows a
// warp has, until a row's columns are too many for the registers of a lane.
func (t *emitter) fewLanes(used []int, outs []*kernel.Out, width int) {
	wide, g := 0, t.g
	for _, r := range used {
		wide += min(1, t.c.p.Widths[r]-1)
	}
	for _, o := range outs {
		wide += accumulatorOf(t, 0, o).states() * min(1, t.c.p.Widths[o.Reg]-1)
	}
	for t.g = min(g, 8); t.g < g && width/t.g*wide > fewLive; {
		t.g *= 2
	}
}

// fewShape chooses lanes and columns.
func (t *emitter) fewShape(slice int, instrs []*kernel.Instr, outs []*kernel.Out, used []int, width int) {
	t.shape(width)
	t.spreadHeads(instrs, used, outs, width)
	if slice > 0 {
		t.slice, t.v, t.g = slice, slice/8, 8
		return
	}
	g, heads := t.g, t.heads
	t.heads = 0
	t.fewLanes(used, outs, width)
	t.spreadHeads(instrs, used, outs, width)
	if t.heads != heads { // a head's columns take more lanes
		t.g = g
		t.spreadHeads(instrs, used, outs, width)
	}
}

// fewRows is how many edges a group has under way: as many as registers allow, but not
// many where an edge computes much, for warps wait for the group with most rounds.
func (t *emitter) fewRows(instrs []*kernel.Instr) int {
	floats, n := 0, 2
	for _, r := range t.held {
		if t.c.p.Widths[r] > 1 {
			floats += t.elems(t.c.p.Widths[r])
		}
	}
	if len(instrs) <= 3 {
		n = 4
	}
	for n > 1 && n*floats > fewFloats {
		n /= 2
	}
	return n
}

// few renders the kernel of a way for rows of few edges. There is none for sums that are
// updated in memory.
func (c *Program) few(b *strings.Builder, name string, slice int, g *gathering) (entry, error) {
	k := entry{fn: -1}
	if c.start {
		return k, nil
	}
	var loads, body, before strings.Builder
	t := &emitter{c: c, b: &loads, tab: "\t\t\t\t", ptr: make([]string, len(c.p.Widths)), few: true}
	t.fewShape(slice, g.instrs, g.outs, g.used, g.width)
	used, late := c.late(g.instrs, g.outs, g.used)
	t.round = true
	t.loadEdges(used, &before)
	t.round = false
	t.nearPointers(&before)
	t.b = &body
	if err := t.edge(g.instrs, g.outs, late); err != nil {
		return k, err
	}
	k.fn, k.slices = c.name(name+fewName), t.slices(g.width)
	k.groups, _ = t.block(t.g, fewThreads)
	k.block = max(32, k.groups*t.g)
	k.groups = k.block / t.g
	k.shared = uint32(k.groups * t.shared * 4)
	k.row, k.edge = c.countGather(used, g.instrs, g.outs)

	t.head(b, name+fewName, k.block, globalsOf(c.p, used))
	return k, t.rounds(b, g, k.groups, before.String(), loads.String(), body.String())
}

// nearPointers declares the pointers of leaves that have one of their own.
func (t *emitter) nearPointers(b *strings.Builder) {
	for _, l := range t.nears {
		fmt.Fprintf(b, "\t\tconst float *near%d = b%d + off", l.Reg, l.Operand)
		if l.Half {
			b.WriteString(" / 2")
		}
		fmt.Fprintf(b, "; asm(\"\" : \"+l\"(near%d));\n", l.Reg)
	}
}

// rounds writes what is done for a row of few edges: before them, a round of loads and
// the round's edges, until none is left.
func (t *emitter) rounds(b *strings.Builder, g *gathering, groups int, before, loads, body string) error {
	fmt.Fprintf(b, "\tconstexpr int R = %d;\n", t.fewRows(g.instrs))
	fmt.Fprintf(b, "\tconst unsigned at = blockIdx.x * %du + group;\n", groups)
	list, edge := listOf(t.c.p), fewEdge+t.c.ifPlaces(placeOfRound)
	b.WriteString(fewRow + list.begin)
	fmt.Fprintf(b, fewFirst, fmt.Sprintf(list.id, "u"))
	b.WriteString(strings.ReplaceAll(before, "\t\t", "\t"))
	u := *t
	u.b, u.tab, u.once = b, "\t", fewOnce
	for i, o := range g.outs {
		accumulatorOf(&u, i, o).begin("many > 0", "next")
	}
	b.WriteString("\tfor (int left = many; left > 0; left -= R, next += R) {\n")
	for _, r := range t.held {
		u.line("\tfloat h%d[R]%s;", r, t.index(r))
	}
	b.WriteString("\t\tunsigned ids[R];\n\t\t#pragma unroll\n\t\tfor (int u = 0; u < R; u++) ids[u] = soon[u];\n" + t.c.ifPlaces(roundPlaces) + edge + loads + "\t\t\t}\n\t\t}\n" +
		fmt.Sprintf(fewIDs, fmt.Sprintf(list.id, "R + u")) + list.next + edge)
	for _, r := range t.held {
		u.line("\t\t\t%s", t.alias(r))
	}
	b.WriteString(body + "\t\t\t}\n\t\t}\n\t}\n")
	for i, o := range g.outs {
		accumulatorOf(&u, i, o).end()
	}
	err := then(&u)
	b.WriteString("}\n")
	return err
}

// fewName is the suffix of the names of these kernels.
const fewName = "_few"

// fewRow finds the current row and its edges. A row without edges is skipped, unless its sum begins or ends.
const fewRow = `	if (at >= (unsigned)n) return;
	const unsigned entry = (unsigned)first + at;
	const ll row = rowids ? rowids[entry] : entry; (void)row;
	unsigned next = max(ptr[entry], (unsigned)from);
	const int many = (int)(min(ptr[entry + 1], (unsigned)to) - next);
	if ((unsigned)many > (unsigned)large || many == 0 && !begin && !end) return;
	const bool some = many > 0, more = !begin, last = end; (void)some; (void)more; (void)last;
	const int off = base + lane * V; (void)off;
`

// fewFirst reads the first ids.
const fewFirst = `	unsigned soon[R];
	#pragma unroll
	for (int u = 0; u < R; u++) soon[u] = u < many ? %s : 0u;
`

// fewEdge opens the loop over the edges of a round, fewIDs reads the ids of the next.
const (
	fewEdge = `		#pragma unroll
		for (int u = 0; u < R; u++) {
			const ll e = next + u; (void)e;
			const unsigned far = ids[u]; (void)far;
			if (u < left) {
`
	fewIDs = `		#pragma unroll
		for (int u = 0; u < R; u++) soon[u] = R + u < left ? %s : 0u;
`
)
