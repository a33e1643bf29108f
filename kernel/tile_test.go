package kernel

import "testing"

// TestTileWithin: tiles fill the chip a whole number of times where they can.
func TestTileWithin(t *testing.T) {
	p := &Program{Name: "product", Widths: []int{4, 4, 12, 12}, Operands: 3,
		Leaves: []Leaf{{From: Own, Operand: 0, Cols: 4, LD: 4, Reg: 0}, {From: Global, Operand: 1, Cols: 12, LD: 12, Rows: 4, Reg: 1}},
		Instrs: []Instr{{Op: "matmul", Role: MatMul, Dst: 2, In: []int{0, 1}}, {Op: "relu", Dst: 3, In: []int{2}}},
		Outs:   []Out{{Acc: Store, Reg: 3, Operand: 2, Aux: -1, LD: 12}}} // 48 bytes a row
	chip := Chip{Processors: 132}
	wave := 132 * 256
	for bytes, want := range map[int64]int{0: largestTile, 1: leastTile, 48 * 70000: 2 * wave, 1 << 40: largestTile} {
		if n := TileWithin(p, chip, bytes); n != want {
			t.Errorf("%d bytes: tiles of %d rows, want %d", bytes, n, want)
		}
	}
	if n := TileWithin(p, Chip{}, 48*70000); n != 70000 {
		t.Errorf("an unknown chip: tiles of %d rows, want 70000", n)
	}
}

// TestBetween: a level's kernel reads what a product left in scratch memory, and writes there what the next product reads.
func TestBetween(t *testing.T) {
	w := func(operand, rows, reg int) Leaf {
		return Leaf{From: Global, Operand: operand, Cols: 12, LD: 12, Rows: rows, Reg: reg}
	}
	p := &Program{Name: "products", Widths: []int{4, 48, 12, 12, 144, 12}, Operands: 4,
		Leaves: []Leaf{{From: Own, Operand: 0, Cols: 4, LD: 4, Reg: 0}, w(1, 4, 1), w(2, 12, 4)},
		Instrs: []Instr{{Op: "matmul", Role: MatMul, Dst: 2, In: []int{0, 1}}, {Op: "relu", Dst: 3, In: []int{2}}, {Op: "matmul", Role: MatMul, Dst: 5, In: []int{3, 4}}},
		Outs:   []Out{{Acc: Store, Reg: 5, Operand: 3, Aux: -1, LD: 12}}}
	if n := Between(NewLayout(p, Chip{})); n != 2*48 {
		t.Errorf("%d bytes a row between kernels, want %d", n, 2*48)
	}
}
