package dataflow_test

import (
	"slices"
	"strings"
	"testing"

	"sagann/dataflow"
	"sagann/dataflow/plan"
)

// With Bases the gradient of a mean reads rows of dY as they are, which are stored for the own end anyway, and edges multiply; it is multiplied by the
// matrix behind the gather. Without, each has a value of its own.
func TestBases(t *testing.T) {
	p := parse("x = feature 8\nA = param 8 8\nB = param 8 8\nu = matmul x A\nh = relu u\nc = vertex 1\ns = src h\na = sum s\nm = rowscale a c\n" +
		"y = matmul m B\nR = param 8 8\no = matmul h R\nz = add y o\nlabels = vertex 1\nmask = vertex 1\ne = xent z labels mask\nl = sumrows e\nloss l\n")
	for _, on := range []bool{false, true} {
		main, _, err := dataflow.Compile(&dataflow.Program{Names: p.names, Outs: p.outs, Loss: p.loss, Wrt: p.wrt},
			dataflow.Options{Without: map[string]bool{"invariant": true}, Bases: on})
		if err != nil {
			t.Fatal(err)
		}
		var stored []string
		for _, v := range main.Spec.Values {
			if v.Kind == plan.Stored {
				stored = append(stored, v.Name[:strings.IndexByte(v.Name, '.')])
			}
		}
		want := []string{"relu", "mul"}
		if on {
			want = []string{"relu", "softmax_xent_grad"}
		}
		slices.Sort(stored)
		slices.Sort(want)
		if stored = slices.DeleteFunc(stored, func(s string) bool { return strings.HasPrefix(s, "matmul") }); !slices.Equal(stored, want) {
			t.Errorf("bases %v: stored are %v, want %v", on, stored, want)
		}
		if noted := slices.ContainsFunc(main.Notes, func(n dataflow.Note) bool { return n.Pass == "bases" }); noted != on {
			t.Errorf("bases %v: noted %v", on, noted)
		}
	}
}
