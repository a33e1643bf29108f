package planner_test

import (
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/plantest"
)

// twoInputs is a program that begins and ends with rows of two wide inputs, as products of features and their gradients do.
func twoInputs() *plan.Spec {
	s := &plan.Spec{}
	value := func(name string, k plan.ValueKind, cols int) int {
		s.Values = append(s.Values, plan.Value{Name: name, Kind: k, Cols: cols, RowBytes: int64(cols) * 4})
		return len(s.Values) - 1
	}
	kernel := 0
	call := func(ops ...plan.Operand) []plan.Call {
		kernel++
		return []plan.Call{{Kernel: kernel - 1, Operands: ops}}
	}
	own := func(id int, write bool) plan.Operand { return plan.Operand{Kind: plan.OwnValue, ID: id, Write: write} }
	rows := func(ops ...plan.Operand) {
		s.Phases = append(s.Phases, plan.Phase{Steps: []plan.Step{{Kind: plan.Rows, Calls: call(ops...)}}})
	}
	gather := func(d plan.Dir, from int, ops ...plan.Operand) {
		acc := value("acc", plan.Temp, 32)
		s.Phases = append(s.Phases, plan.Phase{Steps: []plan.Step{
			{Kind: plan.Stream, Dir: d, Calls: call(plan.Operand{Kind: plan.OtherValue, ID: from}, own(acc, true))},
			{Kind: plan.Rows, Calls: call(append(ops, own(acc, false))...)}}})
	}
	x, y := value("x", plan.Input, 64), value("y", plan.Input, 96)
	a, b, c, d, e := value("a", plan.Stored, 32), value("b", plan.Stored, 32), value("c", plan.Stored, 48), value("d", plan.Stored, 32), value("e", plan.Stored, 48)
	rows(own(x, false), own(a, true))
	rows(own(y, false), own(b, true))
	gather(plan.CSC, a, own(b, false), own(c, true))
	gather(plan.CSC, c, own(d, true))
	gather(plan.CSR, d, own(x, false), own(c, false), own(e, true))
	gather(plan.CSR, e, own(y, false), own(d, false))
	return s
}

// Where windows last from one step to the next, the end of a step copies chunks that lie elsewhere when the next one begins; every task finds what it reads,
// and the step ends as it began.
func TestMove(t *testing.T) {
	moved := 0
	for _, p := range []int{13, 16} {
		s, cells := twoInputs(), plantest.SyntheticCells(700, 5e3)
		c, err := cells(p)
		if err != nil {
			t.Fatal(err)
		}
		decode := planner.NewDecoder(nil)
		for budget := int64(180 << 10); budget < 340<<10; budget += 6 << 10 {
			for _, rule := range []plan.Rule{{Over: true, Move: true}, {Over: true, Move: true, First: plan.WindowsFirst, Brief: true}} {
				pl, err := decode.New(s, plantest.Always(c), plan.Options{P: p, Windows: true, Devices: 1, Budget: budget}, rule)
				if err != nil {
					continue
				}
				if err := pl.Verify(); err != nil {
					t.Fatal(err)
				}
				if err := plantest.Check(pl, nil); err != nil {
					t.Fatalf("%d intervals in %d bytes: %v", p, budget, err)
				}
				if pl.Peak > budget {
					t.Errorf("%d intervals in %d bytes: the plan takes %d", p, budget, pl.Peak)
				}
				if pl.D2D > 0 {
					moved++
				}
			}
		}
	}
	if t.Logf("%d plans copy", moved); moved == 0 {
		t.Error("no plan copies at the end of a step")
	}
}
