package dataflow_test

import (
	"testing"

	"sagann/dataflow"
)

// TestFinishKeepsBases: a gather that computes what follows it leaves its sums in memory where values at the far end are made of them on arrival. The two means read
// multiples of h, a function of the sum, and so does the product at the own end.
func TestFinishKeepsBases(t *testing.T) {
	p := parse(`
		x = feature 4
		w = weight
		ww = widen w 4
		inv = vertex 1
		half = vertex 1
		src = src x
		m = mul src ww
		acc = sum m
		h = tanh acc
		hi = rowscale h inv
		hh = rowscale h half
		s1 = src hi
		s2 = src hh
		a1 = sum s1
		a2 = sum s2
		W = param 4 2
		V = param 4 2
		S = param 4 2
		p = matmul a1 W
		q = matmul a2 V
		r = matmul h S
		d = add p q
		y = add d r
		out y`)
	for _, finish := range []bool{false, true} {
		l, _, err := dataflow.Compile(&dataflow.Program{Names: p.names, Outs: p.outs, Loss: p.loss},
			dataflow.Options{Without: map[string]bool{}, Lowering: dataflow.Lowering{Store: []string{"arrive:gather_dst.5"}, Finish: finish}})
		if err != nil {
			t.Fatal(err)
		}
		base, finished := map[int]bool{}, 0
		for _, v := range l.Spec.Values {
			if v.Derive == nil {
				continue
			}
			for i := range l.Spec.Values {
				for _, o := range v.Derive.Operands {
					if o.Reads(i) {
						base[i] = true
					}
				}
			}
		}
		if len(base) == 0 {
			t.Fatal("nothing is made on arrival")
		}
		for _, ph := range l.Spec.Phases {
			for _, st := range ph.Steps {
				for _, c := range st.Calls {
					k := l.Kernels[c.Kernel]
					if k.Then == nil {
						continue
					}
					finished++
					for _, o := range k.Outs {
						if id := c.Operands[o.Operand].ID; o.Quiet && base[id] {
							t.Errorf("%s does not write %s, of which values are made on arrival", k.Name, l.Spec.Values[id].Name)
						}
					}
				}
			}
		}
		if finish != (finished > 0) {
			t.Errorf("finish %v: %d gathers compute what follows them", finish, finished)
		}
	}
}
