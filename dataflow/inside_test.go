package dataflow_test

import (
	"strings"
	"testing"

	"sagann/dataflow"
	"sagann/dataflow/plan"
)

// twice is a program of two layers of attention, with two heads of four columns.
const twice = "x = feature 3\nW = param 3 8\nA = param 8 2\nB = param 8 2\nh = matmul x W\np = matmul h A\nq = matmul h B\nps = src p\nqd = dst q\nz = add ps qd\n" +
	"s = leaky z 0.2\nm = src h\ny = softmaxsum s m\nt = tanh y\nW2 = param 8 8\nA2 = param 8 2\nB2 = param 8 2\nh2 = matmul t W2\np2 = matmul h2 A2\nq2 = matmul h2 B2\n" +
	"ps2 = src p2\nqd2 = dst q2\nz2 = add ps2 qd2\ns2 = leaky z2 0.2\nm2 = src h2\ny2 = softmaxsum s2 m2\nlabels = vertex 1\nmask = vertex 1\ne = xent y2 labels mask\nl = sumrows e\nloss l\n"

// With Inside the first layer keeps no sums of rows for the gradient of its scores: the backward pass reads its edges once more, and sums two numbers a head.
// The last layer, whose gradients are there in the phase of its sums, stays as it is.
func TestInside(t *testing.T) {
	p := parse(twice)
	o := dataflow.Optimize(&dataflow.Program{Names: p.names, Outs: p.outs, Loss: p.loss, Wrt: p.wrt}, dataflow.Options{Without: map[string]bool{"invariant": true}})
	if !o.Inside() {
		t.Fatal("nothing to move")
	}
	kept, gathers := map[bool]int{}, map[bool]int{}
	for _, on := range []bool{false, true} {
		main, _, err := o.Lower(dataflow.Lowering{Inside: on, Save: dataflow.SaveNone})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range main.Spec.Values {
			if v.Kind == plan.Stored && v.Cols == 8 && strings.HasPrefix(v.Name, "gather_dst") {
				kept[on]++
			}
		}
		gathers[on] = len(main.Regions)
	}
	if kept[false] != 2 || kept[true] != 0 || gathers[true] != gathers[false]+1 {
		t.Errorf("sums of 8 columns that are stored: %v, passes over edges: %v", kept, gathers)
	}
	for _, name := range []string{"factor", ""} { // without factor nothing leaves the sums; of one layer nothing is kept
		text, without := twice, map[string]bool{name: true}
		if name == "" {
			text = scripted(t, "gat")
		}
		p := parse(text)
		if dataflow.Optimize(&dataflow.Program{Names: p.names, Outs: p.outs, Loss: p.loss, Wrt: p.wrt}, dataflow.Options{Without: without}).Inside() {
			t.Errorf("without %q: something moves", name)
		}
	}
}
