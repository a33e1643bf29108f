package cpu

import (
	"strings"
	"testing"

	"sagann/kernel"
)

// TestRefusesHalf: rows of bfloat16 are read on GPUs only.
func TestRefusesHalf(t *testing.T) {
	p := &kernel.Program{Name: "sum", Edges: true, Operands: 2, Widths: []int{128},
		Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: 128, LD: 64, Reg: 0, Half: true}},
		Outs:   []kernel.Out{{Acc: kernel.Sum, Reg: 0, Operand: 1, Aux: -1, LD: 128}}}
	if _, err := Compile(p); err == nil || !strings.Contains(err.Error(), "bfloat16") {
		t.Errorf("the compiler says %v", err)
	}
}
