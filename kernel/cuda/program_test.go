package cuda

import (
	"slices"
	"strings"
	"testing"

	"sagann/kernel"
)

// weighted is a gather: a sum of scaled rows, and the maximum of them with its rank.
func weighted(cols int) *kernel.Program {
	return &kernel.Program{Name: "weighted", Edges: true, Operands: 4, Widths: []int{cols, 1, cols, cols},
		Leaves: []kernel.Leaf{
			{From: kernel.Other, Operand: 0, Cols: cols, LD: cols, Reg: 0},
			{From: kernel.Cell, Array: kernel.Weight, Cols: 1, LD: 1, Reg: 1}},
		Instrs: []kernel.Instr{
			{Op: "widen", Role: kernel.Widen, Dst: 2, In: []int{1}},
			{Op: "mul", Role: kernel.Mul, CUDA: "$0 * $1", Dst: 3, In: []int{0, 2}}},
		Outs: []kernel.Out{
			{Acc: kernel.Sum, Reg: 3, Operand: 1, Aux: -1, LD: cols},
			{Acc: kernel.Max, Reg: 3, Operand: 2, Aux: 3, LD: cols, AuxLD: cols}}}
}

// dense is two products with an activation between them and the sums of a backward pass.
func dense(edges bool) *kernel.Program {
	own := kernel.Own
	if edges {
		own = kernel.EdgeBuf
	}
	p := &kernel.Program{Name: "dense", Edges: edges, Operands: 7, Widths: []int{10, 20, 20, 20, 3, 3},
		Leaves: []kernel.Leaf{
			{From: own, Operand: 0, Cols: 10, LD: 16, Reg: 0},
			{From: kernel.Global, Operand: 1, Cols: 20, LD: 20, Rows: 10, Reg: 1},
			{From: kernel.Global, Operand: 2, Cols: 20, LD: 20, Rows: 3, Reg: 4}},
		Instrs: []kernel.Instr{
			{Op: "matmul", Role: kernel.MatMul, Dst: 2, In: []int{0, 1}},
			{Op: "relu", CUDA: "saga_maximum($0, 0.f)", Dst: 3, In: []int{2}},
			{Op: "matmul_nt", Role: kernel.MatMulNT, Dst: 5, In: []int{3, 4}}},
		Outs: []kernel.Out{
			{Acc: kernel.Store, Reg: 5, Operand: 3, Aux: -1, LD: 4},
			{Acc: kernel.SumTN, Reg: 0, Reg2: 3, Operand: 4, Aux: -1, LD: 20},
			{Acc: kernel.SumRows, Reg: 5, Operand: 5, Aux: -1, LD: 3}}}
	if edges {
		p.Outs = append(p.Outs, kernel.Out{Acc: kernel.Sum, Reg: 5, Operand: 6, Aux: -1, LD: 4})
	}
	p.Widths[4] = 20
	return p
}

func render(t *testing.T, p *kernel.Program) *Program {
	t.Helper()
	c, err := Render(p, H200)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCUDAGather(t *testing.T) {
	c := render(t, weighted(128))
	for _, want := range []string{
		"constexpr int G = 8, V = 4;", // slices of 32 columns
		"r3[k] = r0[k] * r2[k];",
		"a0[k] += r3[k];",
		"saga_arg(a1[k], x1[k], r3[k], rank[e]);",
		"const float r1 = weight[e];",
	} {
		if !strings.Contains(c.Source, want) {
			t.Errorf("the source has no %q", want)
		}
	}
	if n := c.Scratch(1e6, 1e6); n != 0 {
		t.Errorf("a fused gather takes %d bytes beside its operands", n)
	}
	l := &kernel.GPULaunch{Rows: 3, Bufs: make([]uint64, 4), First: true, Last: true,
		Cell: &kernel.GPUCell{Ptr: []uint32{0, 2, 2, 200}}}
	if s := c.Steps(l); len(s) != 1 || s[0].Grid[1] != 4 {
		t.Errorf("a whole cell of 128 columns: %d steps, %+v; want one of 4 slices", len(s), s)
	}
	l.Cell.Ptr = []uint32{0, 2, 2, 5}
	if s := c.Steps(l); len(s) != 1 || s[0].Grid[1] != 1 {
		t.Errorf("a sparse cell of 128 columns: %d steps, %+v; want one of whole rows", len(s), s)
	}
	l.Cell.RowIDs = 64 // a list of rows: those that it leaves out start and finish too
	if s := c.Steps(l); len(s) != 3 {
		t.Errorf("a listed cell: %d steps, want 3", len(s))
	}
	l.First, l.Last = false, false
	if s := c.Steps(l); len(s) != 1 {
		t.Errorf("a listed cell in between: %d steps, want 1", len(s))
	}
	if c := render(t, weighted(12)); !strings.Contains(c.Source, "constexpr int G = 4, V = 4;") {
		t.Error("12 columns do not take 4 lanes")
	}
}

// TestAscend: where ranks ascend in rows, edges do not compare them; what is merged does.
func TestAscend(t *testing.T) {
	p := weighted(128)
	p.Ascend = true
	const step, merge = "saga_arg_next(a1[k], x1[k], r3[k], rank[e]);", "saga_arg(a1[k], x1[k], y, q);"
	if c := render(t, p); !strings.Contains(c.Source, step) || !strings.Contains(c.Source, merge) || strings.Contains(c.Source, "saga_arg(a1[k], x1[k], r3[k]") {
		t.Error("edges compare ranks, or what is merged does not")
	}
	p.Outs[1].Aux = -1
	if strings.Contains(render(t, p).Source, "saga_arg_next") {
		t.Error("a maximum without ranks looks at them")
	}
}

func TestCUDADense(t *testing.T) {
	for _, edges := range []bool{false, true} {
		c := render(t, dense(edges))
		// relu's operand and result, a product's result in its buffer.
		if want := int64(2*kernel.Align(100*20*4)) + kernel.Align(3*columnBlocks*4); c.Scratch(100, 100) != want { // more than 10×20 sums of products
			t.Errorf("edges %v: scratch %d, want %d", edges, c.Scratch(100, 100), want)
		}
		l := &kernel.GPULaunch{Rows: 100, Bufs: []uint64{1 << 20, 2 << 20, 3 << 20, 4 << 20, 5 << 20, 6 << 20, 7 << 20}, Scratch: 8 << 20, First: true, Last: true}
		if edges {
			l.Rows, l.Cell = 2, &kernel.GPUCell{Ptr: []uint32{0, 40, 100}}
		}
		var gemms []kernel.GPUGemm
		var sums kernel.GPUArgs
		for _, s := range c.Steps(l) {
			if s.Func < 0 {
				gemms = append(gemms, s.Gemm)
			}
			if s.Func >= 0 && strings.HasPrefix(c.Names[s.Func], "saga_product") {
				sums = append(sums, s.Args...)
			}
		}
		s0 := uint64(8 << 20)
		s1 := s0 + uint64(kernel.Align(100*20*4))
		want := []kernel.GPUGemm{
			{A: 1 << 20, B: 2 << 20, C: s0, M: 100, N: 20, K: 10, LDA: 16, LDB: 20, LDC: 20},
			{A: s1, B: 3 << 20, C: 4 << 20, M: 100, N: 3, K: 20, LDA: 20, LDB: 20, LDC: 4, TransB: true}}
		if len(gemms) != len(want) {
			t.Fatalf("edges %v: %d products, want %d: %+v", edges, len(gemms), len(want), gemms)
		}
		for i := range want {
			if gemms[i] != want[i] {
				t.Errorf("edges %v: product %d is %+v, want %+v", edges, i, gemms[i], want[i])
			}
		}
		wantSums := kernel.GPUArgs{at("a", 1<<20), num("lda", 16), at("b", s1), num("ldb", 20), num("rows", 100), num("m", 10), num("n", 20), num("each", 112), at("part", s1+uint64(kernel.Align(100*20*4)))}
		if !slices.Equal(sums, wantSums) {
			t.Errorf("edges %v: sum of products %v, want %v", edges, sums, wantSums)
		}
	}
}

func TestCUDATiles(t *testing.T) {
	c := render(t, dense(false))
	l := &kernel.GPULaunch{Rows: 2*c.Tile() + 5, Bufs: make([]uint64, 7)}
	n := 0
	for _, s := range c.Steps(l) {
		if s.Func >= 0 && strings.HasPrefix(c.Names[s.Func], "saga_product") {
			n += int(s.Args[slices.IndexFunc(s.Args, func(a kernel.GPUArg) bool { return a.Name == "rows" })].Value)
		}
	}
	if n != l.Rows {
		t.Errorf("the tiles sum %d rows of %d", n, l.Rows)
	}
}

func TestCUDARefuses(t *testing.T) {
	p := weighted(8)
	p.Instrs[1].CUDA = ""
	if _, err := Render(p, H200); err == nil || !strings.Contains(err.Error(), "mul") {
		t.Errorf("an op without device code: %v", err)
	}
}

// Slices are for rows of many edges, and for those of a few where they bring the rows of
// the far end into the cache.
func TestCUDASlices(t *testing.T) {
	w := &gatherKernels{far: 2400, slice: 256} // two operands of 300 columns
	for _, c := range []struct {
		rows, far, edges int
		want             bool
	}{
		{1000, 1000, 32 * 1000, true},
		{1000, 1000, 31 * 1000, false},          // whole rows are in the cache
		{157_000, 157_000, 18 * 157_000, true},  // 377 MB whole, 40 MB in slices
		{157_000, 157_000, 3 * 157_000, false},  // too few edges for ten lists a row
		{900_000, 900_000, 18 * 900_000, false}, // 230 MB even in slices
		{157_000, 600_000, 5 * 157_000, false},  // a far row is read once
		{157_000, 1000, 18 * 157_000, false},    // all are in the cache
		{900_000, 900_000, 32 * 900_000, true},
		{1_100_000, 1_100_000, 64 * 1_100_000, false},
	} {
		if got := w.slices(H200, c.rows, c.far, c.edges, c.rows); got != c.want {
			t.Errorf("%d rows, %d far rows, %d edges: slices %v, want %v", c.rows, c.far, c.edges, got, c.want)
		}
	}
}

// TestIndexedProduct: a product reads rows side by side, so that no launch reads its rows by a list; if one did, they would be
// brought to memory of their own.
func TestIndexedProduct(t *testing.T) {
	p := dense(false)
	if p.Indexable(0) || p.Indexable(1) || p.Indexable(3) || !weighted(8).Indexable(0) || weighted(8).Indexable(1) {
		t.Error("other operands may be indexed than those whose rows are read one by one")
	}
	c := render(t, p.WithIndex(0))
	if h := c.Home[0]; h.Kind != kernel.InScratch || !strings.Contains(c.Source, "b0 + (size_t)index[row] * 16") {
		t.Errorf("the product reads %+v", h)
	}
	if p.Indexes() {
		t.Error("the program itself was changed")
	}
}
