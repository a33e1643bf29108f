package exec

import (
	"testing"

	"sagann/backend"
	"sagann/kernel"
	"sagann/kernel/cuda"
)

// TestScratchIsShared: runners of one arena share their kernels' memory, so it is that of the
// largest, whatever the order.
func TestScratchIsShared(t *testing.T) {
	gpu := &backend.Kind{Renderer: cuda.Backend{}, Chip: cuda.H200}
	sums := func(cols int) []*kernel.Program {
		return []*kernel.Program{{Name: "sum", Widths: []int{cols}, Operands: 2,
			Leaves: []kernel.Leaf{{From: kernel.Own, Operand: 0, Cols: cols, LD: cols}},
			Outs:   []kernel.Out{{Acc: kernel.SumRows, Operand: 1, Aux: -1, LD: cols}}}}
	}
	of := func(lists ...[]*kernel.Program) int64 {
		return Scratch(gpu, 1000, 1000, lists...)
	}
	small, large := of(sums(8)), of(sums(300))
	if small >= large {
		t.Fatalf("8 columns take %d bytes, 300 take %d", small, large)
	}
	if a, b := of(sums(8), sums(300)), of(sums(300), sums(8)); a != large || b != large {
		t.Errorf("together %d and %d bytes, want %d", a, b, large)
	}
}
