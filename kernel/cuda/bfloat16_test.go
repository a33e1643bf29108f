package cuda

import (
	"strings"
	"testing"

	"sagann/kernel"
)

// TestCUDAHalf: rows of bfloat16 take slices of 64 columns, eight of them a lane.
func TestCUDAHalf(t *testing.T) {
	p := &kernel.Program{Name: "sum", Edges: true, Operands: 2, Widths: []int{128},
		Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: 128, LD: 64, Reg: 0, Half: true}},
		Outs:   []kernel.Out{{Acc: kernel.Sum, Reg: 0, Operand: 1, Aux: -1, LD: 128}}}
	c := render(t, p)
	if !strings.Contains(c.Source, "constexpr int G = 8, V = 8;") || !strings.Contains(c.Source, "saga_load_half<G, V, 8, 128, false>(b0 + (size_t)far * 64,") {
		t.Error("rows of bfloat16 are not read eight columns a lane")
	}
	if w := c.gather[0].rows.edge; w.bytes != 4+2*128 {
		t.Errorf("an edge counts %d bytes, want its index and 256", w.bytes)
	}
}

// unpacked is p with its leaf 0 packed and unpacked.
func unpacked(p *kernel.Program) *kernel.Program {
	l := &p.Leaves[0]
	words, cols := len(p.Widths), p.Widths[l.Reg]
	p.Widths = append(p.Widths, (cols+1)/2)
	p.Instrs = append([]kernel.Instr{{Op: "unpack", Role: kernel.Unpack, CUDA: "saga_unpack($0[$C / 2], $C)", I: int32(cols), Dst: l.Reg, In: []int{words}}}, p.Instrs...)
	l.Reg, l.Cols, l.LD = words, (cols+1)/2, ((cols+1)/2+7)&^7
	return p
}

// TestCUDAUnpack: where op unpack alone reads words, the kernel loads columns of bfloat16
// and there is no unpacking; where something else does, or rows are not aligned, the op's
// own expression runs.
func TestCUDAUnpack(t *testing.T) {
	for _, cols := range []int{32, 128, 100} {
		p := unpacked(weighted(cols))
		before := len(p.Instrs)
		c := render(t, p)
		if !strings.Contains(c.Source, "saga_load_half<G, V,") || strings.Contains(c.Source, "// unpack") {
			t.Errorf("%d columns: words are unpacked on the edge", cols)
		}
		if len(p.Instrs) != before || p.Leaves[0].Half {
			t.Error("the program itself was changed")
		}
		if w := c.gather[0].rows.edge; w.bytes != int64(4+4+2*cols) {
			t.Errorf("%d columns: an edge counts %d bytes", cols, w.bytes)
		}
	}
	unaligned, summed := unpacked(weighted(20)), unpacked(weighted(32))
	unaligned.Leaves[0].LD = 10
	summed.Outs = append(summed.Outs, kernel.Out{Acc: kernel.Sum, Reg: summed.Leaves[0].Reg, Operand: 1, Aux: -1, LD: 16})
	for name, p := range map[string]*kernel.Program{"unaligned": unaligned, "summed as it is": summed} {
		if c := render(t, p); !strings.Contains(c.Source, "// unpack") || strings.Contains(c.Source, "saga_load_half<G, V,") {
			t.Errorf("%s: words are read as columns", name)
		}
	}
}

// TestCUDAUnpackedProduct: a product reads floats, so packed rows are unpacked into memory
// of their own before it.
func TestCUDAUnpackedProduct(t *testing.T) {
	c := render(t, unpacked(dense(false)))
	if h := c.Home[0]; h.Kind != kernel.InScratch || !strings.Contains(c.Source, "saga_load_half<G, V,") {
		t.Errorf("the product reads %+v", h)
	}
}

// TestCUDALazyHalf: the row that a mask may leave unread may be of bfloat16.
func TestCUDALazyHalf(t *testing.T) {
	p := unpacked(&kernel.Program{Name: "max gradient", Edges: true, Operands: 3, Widths: []int{64, 64, 1, 64, 64, 64},
		Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: 64, LD: 64, Reg: 0}, {From: kernel.Other, Operand: 1, Cols: 64, LD: 64, Reg: 1},
			{From: kernel.Cell, Array: kernel.Rank, Cols: 1, LD: 1, Reg: 2}},
		Instrs: []kernel.Instr{{Op: "widen", Role: kernel.Widen, Dst: 3, In: []int{2}}, {Op: "eq", Role: kernel.Eq, CUDA: "($0 == $1 ? 1.f : 0.f)", Dst: 4, In: []int{1, 3}},
			{Op: "mask", Role: kernel.Mask, CUDA: "($1 != 0.f ? $0 : 0.f)", Dst: 5, In: []int{0, 4}}},
		Outs: []kernel.Out{{Acc: kernel.Sum, Reg: 5, Operand: 2, Aux: -1, LD: 64}}})
	c := render(t, p)
	if at := strings.Index(c.Source, "if (need0) {"); at < 0 || !strings.HasPrefix(strings.TrimSpace(c.Source[at+12:]), "saga_load_half<G, V, 4, 64, false>(b0 + (size_t)far * 32,") {
		t.Errorf("the row is not left unread:\n%s", c.Source[len(preludeSource):])
	}
}

// TestCUDAHeadsHalf: heads of 8 columns let a lane have eight columns of a wide row of
// bfloat16; narrower heads take slices of 32 columns as rows of float32 do.
func TestCUDAHeadsHalf(t *testing.T) {
	for heads, want := range map[int]string{16: "constexpr int G = 8, V = 8;", 32: "constexpr int G = 8, V = 4;"} {
		p := unpacked(&kernel.Program{Name: "heads", Edges: true, Operands: 3, Widths: []int{128, heads, 128, 128},
			Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: 128, LD: 128, Reg: 0}, {From: kernel.Other, Operand: 1, Cols: heads, LD: heads, Reg: 1}},
			Instrs: []kernel.Instr{{Op: "widen", Role: kernel.Widen, Dst: 2, In: []int{1}}, {Op: "mul", Role: kernel.Mul, CUDA: "$0 * $1", Dst: 3, In: []int{0, 2}}},
			Outs:   []kernel.Out{{Acc: kernel.Sum, Reg: 3, Operand: 2, Aux: -1, LD: 128}}})
		if c := render(t, p); !strings.Contains(c.Source, want) {
			t.Errorf("%d heads: no %q", heads, want)
		}
	}
}
