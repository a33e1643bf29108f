package dataflow_test

import (
	"strings"
	"testing"

	"sagann/dataflow"
)

// Products by type of CPUs have no value with a block for each type beside the counts, in either order of writing a product and a number of the edge.
func TestByTypeHasNoBlocks(t *testing.T) {
	const types, out = 5, 3
	before := "h = feature 7\nA = param 35 3\ntype = type\nw = weight\nsrc = src h\n"
	after := "acc = sum s\ny = tanh acc\nlabels = vertex 1\nmask = vertex 1\ne = xent y labels mask\nl = sumrows e\nloss l\n"
	for _, order := range []string{"m = matmultype src A type 5\ns = rowscale m w\n", "m = rowscale src w\ns = matmultype m A type 5\n"} {
		p := parse(before + order + after)
		main, once, err := dataflow.Compile(&dataflow.Program{Names: p.names, Outs: p.outs, Loss: p.loss, Wrt: p.wrt},
			dataflow.Options{Without: map[string]bool{}, ByType: 1})
		if err != nil || once != nil {
			t.Fatal(once, err)
		}
		for _, v := range main.Spec.Values {
			if v.Cols >= types*out {
				t.Errorf("%q: value %s has %d columns", order, v.Name, v.Cols)
			}
		}
		found := map[string]bool{}
		for _, r := range main.Regions {
			for _, n := range r.Gathers {
				found[string(n.Op())] = true
			}
		}
		for _, op := range []dataflow.Op{dataflow.GatherDstByTypeOp, dataflow.GatherSrcByTypeOp, dataflow.SumByTypeOp} {
			if !found[string(op)] {
				t.Errorf("%q: no gather is %s", order, strings.ReplaceAll(string(op), "_", " "))
			}
		}
	}
}
