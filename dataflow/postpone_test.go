package dataflow_test

import (
	"testing"

	"sagann/dataflow"
	"sagann/dataflow/plan"
)

// A sum over rows of which Globals are computed moves to the phase that reads its rows anyway, as one does of which nothing is. The score x·V of a vertex, where V
// is made of W and A, has the gradient xᵀ·d, of which Globals make those of W and A.
func TestPostponedForGlobals(t *testing.T) {
	text := "x = vertex 32\nW = param 32 8\nA = param 1 8\nV = param 32 8\nh = matmul x W\nha = mul h A\nq = groupsum ha 2\nm = src q\nn = sum m\ng0 = matmul x V\ng = tanh g0\nm2 = src g\nn2 = sum m2\nm3 = src n2\nn3 = sum m3\n" +
		"R = param 8 2\no = matmul n3 R\nz = add n o\nlabels = vertex 1\nmask = vertex 1\ne = xent z labels mask\nl = sumrows e\nloss l\n"
	sweeps := map[bool]int{}
	for _, off := range []bool{true, false} {
		p := parse(text)
		main, _, err := dataflow.Compile(&dataflow.Program{Names: p.names, Outs: p.outs, Loss: p.loss, Wrt: p.wrt}, dataflow.Options{Without: map[string]bool{"invariant": true, "postpone": off}})
		if err != nil {
			t.Fatal(err)
		}
		in, _, _ := main.Input("x")
		id := main.Inputs[in]
		for q := range main.Spec.Phases {
			reads := false
			for _, st := range main.Spec.Phases[q].Steps {
				for _, c := range st.Calls {
					for _, o := range c.Operands {
						reads = reads || o.Kind == plan.OwnValue && o.ID == id
					}
				}
			}
			if reads {
				sweeps[off]++
			}
		}
	}
	if sweeps[false] >= sweeps[true] {
		t.Errorf("phases that read x: %d, %d without", sweeps[false], sweeps[true])
	}
}
