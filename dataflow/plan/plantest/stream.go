package plantest

import (
	"sagann/dataflow/plan"
)

// StreamSpec gathers x into y: 64 bytes a row.
func StreamSpec() *plan.Spec {
	return &plan.Spec{Values: []plan.Value{{Name: "x", Cols: 16, RowBytes: 64}, {Name: "a", Kind: plan.Temp, Cols: 16, RowBytes: 64},
		{Name: "y", Kind: plan.Stored, Output: true, Cols: 16, RowBytes: 64}},
		Phases: []plan.Phase{{Steps: []plan.Step{
			{Kind: plan.Stream, Calls: []plan.Call{{Kernel: 0, Operands: []plan.Operand{{Kind: plan.OtherValue, ID: 0}, {ID: 1, Write: true}}}}},
			{Kind: plan.Rows, Calls: []plan.Call{{Kernel: 1, Operands: []plan.Operand{{ID: 1}, {ID: 2, Write: true}}}}}}}}}
}
