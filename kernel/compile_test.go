package kernel

import (
	"strings"
	"testing"
)

// TestRefusesHalf: rows of bfloat16 are read on GPUs only.
func TestRefusesHalf(t *testing.T) {
	p := &Program{Name: "sum", Edges: true, Operands: 2, Widths: []int{128},
		Leaves: []Leaf{{From: Other, Operand: 0, Cols: 128, LD: 64, Reg: 0, Half: true}},
		Outs:   []Out{{Acc: Sum, Reg: 0, Operand: 1, Aux: -1, LD: 128}}}
	if _, err := Compile(p); err == nil || !strings.Contains(err.Error(), "bfloat16") {
		t.Errorf("the compiler says %v", err)
	}
}
