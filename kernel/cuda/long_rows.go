package cuda

import (
	"fmt"
	"strings"

	"sagann/kernel"
)

// Rows of very many edges (hubs). A warp would work on such a row long after the others are done. So a row with more than
// hubEdges edges per group of lanes of a warp is left to a second kernel, in which all warps of a block take its edges
// in turn. Their accumulators are joined in the order of the warps, so the result does not depend on timing.
const hubEdges = 256

// hubName is the suffix of the names of these kernels.
const hubName = "_hub_beside"

// hubThreads is the size of that kernel's blocks.
const hubThreads = 512

// hubFloats bounds the shared memory in which its warps hand over their accumulators. A
// kernel that needs more leaves every row to one warp.
const hubFloats = 4 << 10

// handover is the number of floats of a warp's accumulators; 0 if rows are not split over warps.
func (t *emitter) handover(outs []*kernel.Out) int {
	n := 0
	for i, o := range outs {
		if o.Key != kernel.NoKey && o.Acc != kernel.Store {
			return 0 // keyed results are updated in memory
		}
		c := accumulatorOf(t, i, o)
		n += c.states() * t.floats(c.w)
	}
	if n > hubFloats || 4*(n+hubThreads/t.g*t.shared) > sharedLimit {
		return 0
	}
	return n
}

// floats is the number of floats of a register of w columns, over all lanes of a group.
func (t *emitter) floats(w int) int {
	if w == 1 {
		return t.g
	}
	return t.g * t.elems(w)
}

// rowSource declares the current row of a gather kernel and the range of its edges.
const rowSource = `		const ll entry = first + at, row = rowids ? rowids[entry] : entry;
		const ll lo = max((ll)ptr[entry], from), hi = min((ll)ptr[entry + 1], to); (void)row;
		const bool some = hi > lo; (void)some;
`

// rowLoop opens the loop over rows that gives each warp of a block a row at a time.
func (t *emitter) rowLoop(b *strings.Builder, warps int, outs []*kernel.Out, hubs bool) {
	fmt.Fprintf(b, "\tconst int sub = threadIdx.x %% 32 / G;\n"+
		"\tconstexpr int begun = 0, step = 32 / G;\n"+
		"\tconst ll warps = gridDim.x * (ll)%d;\n", warps)
	first := fmt.Sprintf("\tfor (ll at = blockIdx.x * (ll)%d + threadIdx.x / 32; at < n;", warps)
	skip := "continue;"
	if hubs && inRounds(outs) {
		b.WriteString("\tunsigned done = 0;\n" + first + ") {{\n")
		skip = "{ at += warps; continue; }"
	} else {
		b.WriteString(first + " at += warps) {{\n")
	}
	b.WriteString(rowSource)
	if hubs {
		b.WriteString("\t\tif (hi - lo > large) " + skip + "\n")
	}
	b.WriteString("\t\tconst bool lead = sub == 0;\n")
}

// hub is the most edges of a row that is left to one warp.
func (t *emitter) hub() int { return hubEdges * (32 / t.g) }

// Rows of few columns, of which a warp takes 32/G edges at a time, have too few edges for a block from warpTurns turns of a warp down: most of its warps would have nothing, and
// joining them takes longer than the edges. Before a block of that kernel takes its rows together, each of its warps takes such rows alone.
const (
	warpTurns = 16
	warpLanes = 4 // the most lanes of an edge
)

// ofWarps is the most edges of a row that a warp of the kernel for rows of many edges takes alone; 0: none.
func ofWarps(t *emitter) int {
	if t.g > warpLanes {
		return 0
	}
	return warpTurns * 32 / t.g
}

// warpLoop opens a scope, and in it the loop over the large rows of at most so many edges that a warp takes.
func warpLoop(b *strings.Builder, most int) {
	fmt.Fprintf(b, "\t{\n"+
		"\tconst int sub = threadIdx.x %% 32 / G;\n"+
		"\tconstexpr int begun = 0, step = 32 / G;\n"+
		"\tconst bool lead = sub == 0;\n"+
		"\tconst ll warps = gridDim.x * (ll)%d, whose = blockIdx.x * (ll)%d + threadIdx.x / 32, mine = whose + threadIdx.x %% 32 * warps;\n"+
		"\tll many = 0;\n"+
		"\tif (mine < n) many = min((ll)ptr[first + mine + 1], to) - max((ll)ptr[first + mine], from);\n"+
		"\tfor (unsigned f = __ballot_sync(0xffffffffu, many > large && many <= %d); f; f &= f - 1) {{\n"+
		"\t\tconst ll at = whose + (__ffs(f) - 1) * warps;\n", hubThreads/32, hubThreads/32, most)
	b.WriteString(rowSource)
}

// hubLoop opens the loop over the large rows of a block. The rows that a block examines are far apart in the list, since
// rows of many edges are often neighbours.
func (t *emitter) hubLoop(b *strings.Builder, floats int) {
	large := "large"
	if most := ofWarps(t); most > 0 {
		large = fmt.Sprintf("max(large, %dll)", most)
	}
	fmt.Fprintf(b, "\tconst int sub = threadIdx.x %% 32 / G, warp = threadIdx.x / 32;\n"+
		"\tconst int begun = warp * (32 / G);\n"+
		"\tconstexpr int step = %d / G;\n"+
		"\tconst bool lead = threadIdx.x < G;\n"+
		"\t__shared__ float hub_[%d];\n"+
		"\t__shared__ unsigned many_[%d];\n", hubThreads, floats, hubThreads/32)
	fmt.Fprintf(b, "\tconst ll mine = blockIdx.x + threadIdx.x * (ll)gridDim.x;\n"+
		"\tbool many = false;\n"+
		"\tif (mine < n) many = min((ll)ptr[first + mine + 1], to) - max((ll)ptr[first + mine], from) > %s;\n"+
		"\tconst unsigned ballot = __ballot_sync(0xffffffffu, many);\n"+
		"\tif (threadIdx.x %% 32 == 0) many_[warp] = ballot;\n"+
		"\t__syncthreads();\n"+
		"\tfor (int w = 0; w < %d; w++) for (unsigned f = many_[w]; f; f &= f - 1) {{\n"+
		"\t\tconst ll at = blockIdx.x + (w * 32 + __ffs(f) - 1) * (ll)gridDim.x;\n", large, hubThreads/32)
	b.WriteString(rowSource)
}

// join adds the accumulators of a block's warps to those of its first.
func (t *emitter) join(outs []*kernel.Out) {
	t.line("#pragma unroll 1")
	t.line("for (int v = 1; v < %d; v++) {", hubThreads/32)
	t.line("__syncthreads();")
	t.line("if (warp == v && sub == 0) {")
	at := 0
	for i, o := range outs {
		c := accumulatorOf(t, i, o)
		for s := range c.states() {
			t.all(c.w, "%s = %c%d#;", slot(c.w, at), "ax"[s], i)
			at += t.floats(c.w)
		}
	}
	t.line("}")
	t.line("__syncthreads();")
	t.line("if (lead) {")
	at = 0
	for i, o := range outs {
		if o.Acc == kernel.Store {
			continue
		}
		c := accumulatorOf(t, i, o)
		c.add(slot(c.w, at), slot(c.w, at+t.floats(c.w)))
		at += c.states() * t.floats(c.w)
	}
	t.line("}")
	t.line("}")
}

// slot is the place, from float at on, of a register of w columns in the memory where warps hand over.
func slot(w, at int) string {
	if w == 1 {
		return fmt.Sprintf("hub_[%d + lane]", at)
	}
	return fmt.Sprintf("hub_[%d + k * G + lane]", at)
}
