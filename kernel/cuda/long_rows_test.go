package cuda

import (
	"strings"
	"testing"

	"sagann/kernel"
)

// TestCUDAHubs: rows of many edges, and many times the mean, bring the second kernel,
// others do not.
func TestCUDAHubs(t *testing.T) {
	c := render(t, weighted(128))
	l := &kernel.GPULaunch{Rows: 2, Bufs: make([]uint64, 4), First: true, Last: true}
	for _, x := range []struct {
		ptr  []uint32
		want int
	}{{[]uint32{0, 1024, 2048}, 1}, {append(make([]uint32, 30), 1024, 2049), 2}, {[]uint32{0, 1024, 2049}, 1}} {
		l.Rows, l.Cell = len(x.ptr)-1, &kernel.GPUCell{Ptr: x.ptr}
		s := c.Steps(l)
		if len(s) != x.want {
			t.Fatalf("rows %v: %d steps, want %d", x.ptr, len(s), x.want)
		}
		if x.want == 2 && (c.Names[s[0].Func] != "gather"+hubName || !s[0].Beside || s[1].Beside || s[0].Flops <= 0 || s[1].Flops <= 0) {
			t.Errorf("the first step is %s of %d operations, the second has %d", c.Names[s[0].Func], s[0].Flops, s[1].Flops)
		}
	}
}

// TestCUDAHeads: weights of 8 heads of 8 columns need no shared memory.
func TestCUDAHeads(t *testing.T) {
	p := weighted(64)
	p.Widths[1], p.Leaves[1] = 8, kernel.Leaf{From: kernel.Own, Operand: 0, Cols: 8, LD: 64, Reg: 1}
	p.Instrs[0].I = 64
	c := render(t, p)
	if !strings.Contains(c.Source, "r2[k] = r1[k / V];") || strings.Contains(c.Source, "shared_[]") {
		t.Error("widening 8 heads goes through shared memory")
	}
	p = weighted(60)
	p.Widths[1], p.Leaves[1] = 20, kernel.Leaf{From: kernel.Own, Operand: 0, Cols: 20, LD: 60, Reg: 1}
	p.Instrs[0].I = 60
	if c := render(t, p); !strings.Contains(c.Source, "sm[col / 3]") && strings.Contains(c.Source, "saga_load_heads<G") {
		t.Error("heads of 3 columns have the layout of heads")
	}
}

// TestCUDALazy: a row chosen by a comparison is read after the comparison.
func TestCUDALazy(t *testing.T) {
	p := &kernel.Program{Name: "max_grad", Edges: true, Operands: 3, Widths: []int{16, 1, 16, 16, 16, 16},
		Leaves: []kernel.Leaf{
			{From: kernel.Other, Operand: 0, Cols: 16, LD: 16, Reg: 0},
			{From: kernel.Cell, Array: kernel.Rank, Cols: 1, LD: 1, Reg: 1},
			{From: kernel.Other, Operand: 1, Cols: 16, LD: 16, Reg: 4}},
		Instrs: []kernel.Instr{
			{Op: "widen", Role: kernel.Widen, Dst: 2, In: []int{1}, I: 16},
			{Op: "eq", Role: kernel.Eq, CUDA: "($0 == $1 ? 1.f : 0.f)", Dst: 3, In: []int{0, 2}},
			{Op: "mask", Role: kernel.Mask, CUDA: "($1 != 0.f ? $0 : 0.f)", Dst: 5, In: []int{4, 3}}},
		Outs: []kernel.Out{{Acc: kernel.Sum, Reg: 5, Operand: 2, Aux: -1, LD: 16}}}
	c := render(t, p)
	if eq, load := strings.Index(c.Source, "{ // eq"), strings.Index(c.Source, "if (need4)"); eq < 0 || load < eq {
		t.Errorf("comparison at %d, load at %d", eq, load)
	}
	p.Outs = append(p.Outs, kernel.Out{Acc: kernel.Sum, Reg: 4, Operand: 2, Aux: -1, LD: 16})
	if c := render(t, p); strings.Contains(c.Source, "need4") {
		t.Error("a row that another result needs is left unread")
	}
}
