package kernel

import (
	"strings"
	"testing"
)

// TestCUDAHalf: rows of bfloat16 take slices of 64 columns, eight of them a lane; no
// other device reads them.
func TestCUDAHalf(t *testing.T) {
	p := &Program{Name: "sum", Edges: true, Operands: 2, Widths: []int{128},
		Leaves: []Leaf{{From: Other, Operand: 0, Cols: 128, LD: 64, Reg: 0, Half: true}},
		Outs:   []Out{{Acc: Sum, Reg: 0, Operand: 1, Aux: -1, LD: 128}}}
	c := render(t, p)
	if !strings.Contains(c.Source, "constexpr int G = 8, V = 8;") || !strings.Contains(c.Source, "saga_load_half<G, V, 8, 128, false>(b0 + (size_t)far * 64,") {
		t.Error("rows of bfloat16 are not read eight columns a lane")
	}
	if w := c.gather[0].rows.edge; w.bytes != 4+2*128 {
		t.Errorf("an edge counts %d bytes, want its index and 256", w.bytes)
	}
	if _, err := Compile(p); err == nil || !strings.Contains(err.Error(), "bfloat16") {
		t.Errorf("the CPU's compiler says %v", err)
	}
}

func TestCUDATileWithin(t *testing.T) {
	p := dense(false) // 160 bytes a row
	for bytes, want := range map[int64]int{0: largestTile, 1: leastTile, 160 * 70000: 2 * tileWave, 1 << 40: largestTile} {
		if n, err := TileWithin(p, bytes); n != want || err != nil {
			t.Errorf("%d bytes: tiles of %d rows (%v), want %d", bytes, n, err, want)
		}
	}
}
