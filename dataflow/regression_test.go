package dataflow_test

import "testing"

// Programs that a random case once found to fail, each with what went wrong.
var found = map[string]string{
	"a row added to a product of both ends: factor gathered a matrix": `
		x = feature 2
		b = param 1 2
		s = src x
		d = dst x
		p = mul d s
		m = add p b
		y = sum m
		v = vertex 2
		r = rowdot y v
		l = sumrows r
		loss l`,
	"the same scaled by a row": `
		x = feature 2
		b = param 1 2
		c = param 1 2
		s = src x
		d = dst x
		p = mul d s
		q = add b p
		m = mul c q
		y = sumsrc m
		v = vertex 2
		r = rowdot y v
		l = sumrows r
		loss l`,
	"a loss linear in a row: its gradient was the row, not the row a vertex": `
		x = feature 1
		w = param 1 1
		m = mul x w
		l = sumrows m
		loss l`,
	"the square of a parameter: it was no matrix to the kernel": `
		x = feature 2
		w = param 2 2
		ww = matmul w w
		s = src x
		y = sum s
		z = matmul y ww
		v = vertex 2
		r = rowdot z v
		l = sumrows r
		loss l`,
}

// With five intervals of a graph of six vertices the last two are empty: what was resident
// was loaded from behind the end of host memory.
func TestFoundBefore(t *testing.T) {
	v := values{g: ring(6), seed: 1}
	for name, text := range found {
		p := parse(text)
		want, all := oracle(p, v)
		for _, o := range []options{
			{p: 1, planning: planning{slack: -1}}, {p: 2, planning: planning{slack: 0}}, {p: 5, planning: planning{slack: -1}},
			{p: 2, without: []string{"hoist"}, planning: planning{stream: true, slack: -1}},
			{p: 2, without: []string{"factor", "fuse"}, planning: planning{slack: 0}},
		} {
			got, err := run(p, v, o)
			if err != nil {
				t.Errorf("%s: %+v: %v", name, o, err)
				continue
			}
			compareAll(t, got, want, all, func() map[string]float64 { return noise(p, v, want, all) })
		}
	}
}
