package cuda

import (
	"slices"
	"strings"
	"testing"

	"sagann/kernel"
)

// even is the list of rows of n edges each.
func even(rows, n int) []uint32 {
	p := make([]uint32, rows+1)
	for i := range p {
		p[i] = uint32(i * n)
	}
	return p
}

// TestCUDAFew: groups of lanes have rows of their own in large cells of few edges a row,
// in others warps do.
func TestCUDAFew(t *testing.T) {
	c := render(t, weighted(128))
	for _, x := range []struct {
		rows, edges int
		way         kernel.GatherWay
		want        string
		blocks      [2]uint32
	}{
		{157_000, 18, kernel.ByCell, "gather_few", [2]uint32{9813, 4}}, // 80 MB whole, 20 MB in slices
		{157_000, 4, kernel.ByCell, "gather_few", [2]uint32{9813, 4}},
		{157_000, 3, kernel.ByCell, "gather_whole_few", [2]uint32{19_625, 1}},
		{157_000, 95, kernel.ByCell, "gather_few", [2]uint32{9813, 4}},
		{157_000, 96, kernel.ByCell, "gather", [2]uint32{78_500, 4}},
		{8000, 4, kernel.ByCell, "gather_whole", [2]uint32{4000, 1}},
		{8000, 4, kernel.FewWhole, "gather_whole_few", [2]uint32{1000, 1}},
		{8000, 4, kernel.FewSlice, "gather_few", [2]uint32{500, 4}},
		{157_000, 4, kernel.WarpSlice, "gather", [2]uint32{78_500, 4}},
		{157_000, 4, kernel.WarpWhole, "gather_whole", [2]uint32{78_500, 1}},
	} {
		l := &kernel.GPULaunch{Rows: x.rows, Bufs: make([]uint64, 4), First: true, Last: true, Gather: x.way,
			Cell: &kernel.GPUCell{Ptr: even(x.rows, x.edges)}}
		s := c.Steps(l)
		if len(s) != 1 || c.Names[s[0].Func] != x.want || [2]uint32(s[0].Grid[:2]) != x.blocks {
			t.Errorf("%d rows of %d edges, way %d: %d steps, the first %s of %v blocks; want %s of %v",
				x.rows, x.edges, x.way, len(s), c.Names[s[0].Func], s[0].Grid, x.want, x.blocks)
		}
	}
	// A row of very many edges is left to the kernel of such rows.
	ptr := even(157_000, 3)
	for i := 78_000; i < len(ptr); i++ {
		ptr[i] += leanLeast
	}
	s := c.Steps(&kernel.GPULaunch{Rows: 157_000, Bufs: make([]uint64, 4), Cell: &kernel.GPUCell{Ptr: ptr}})
	if len(s) != 2 || c.Names[s[0].Func] != "gather_whole"+hubName || c.Names[s[1].Func] != "gather_whole_few" || !slices.Contains(s[1].Args, num("large", leanLeast)) {
		t.Errorf("a row of %d edges: %d steps", leanLeast+3, len(s))
	}
}

// TestCUDANarrow: rows of few columns have a group of lanes, too, unless they are few or have many edges.
func TestCUDANarrow(t *testing.T) {
	for _, x := range []struct {
		cols, rows, edges int
		want              string
	}{{4, 110_000, 4, "gather_few"}, {1, 110_000, 31, "gather_few"}, {4, 110_000, 32, "gather"}, {16, 30_000, 16, "gather_few"},
		{32, 30_000, 60, "gather_few"}, {4, 15_000, 4, "gather"}} {
		p := weighted(x.cols)
		p.Outs, p.Operands = p.Outs[:1], 4
		c := render(t, p)
		s := c.Steps(&kernel.GPULaunch{Rows: x.rows, Bufs: make([]uint64, 4), First: true, Last: true, Cell: &kernel.GPUCell{Ptr: even(x.rows, x.edges)}})
		if len(s) != 1 || c.Names[s[0].Func] != x.want {
			t.Errorf("%d rows of %d edges, %d columns: %d steps, the first %s", x.rows, x.edges, x.cols, len(s), c.Names[s[0].Func])
		}
	}
}

// TestCUDAFewLanes: rows of few columns take the lanes that they fill, those of many as
// many as registers allow. Sums that are updated in memory have no such kernel.
func TestCUDAFewLanes(t *testing.T) {
	for _, x := range []struct{ cols, block, rows int }{{1, 128, 128}, {16, 128, 32}, {32, 128, 16}, {128, 128, 16}, {602, 128, 4}} {
		p := weighted(x.cols)
		p.Outs = p.Outs[:1]
		p.Operands = 4
		c := render(t, p)
		k := &c.gather[len(c.gather)-1].few
		if k.block != x.block || k.groups != x.rows {
			t.Errorf("%d columns: blocks of %d threads and %d rows", x.cols, k.block, k.groups)
		}
	}
	keyed := weighted(16)
	keyed.Outs[0].Key, keyed.Outs[0].Blocks = kernel.ByType, 3
	if c := render(t, keyed); slices.ContainsFunc(c.Names, func(s string) bool { return strings.HasSuffix(s, fewName) }) {
		t.Errorf("a keyed sum has kernels %v", c.Names)
	}
}
