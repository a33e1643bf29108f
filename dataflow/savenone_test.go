package dataflow_test

import (
	"testing"
)

// A slice that two programs of a later phase read, as the gradient of concat makes, is
// computed again in the one and found by the other. It was once neither stored nor made.
func TestSaveNoneSlices(t *testing.T) {
	p := parse(`
		x = feature 1
		d = dst x
		s = sumtype d 3
		a = sum d
		b = sigmoid a
		c = concat b x
		p = pad c 0 4
		q = pad s 0 4
		r = add p q
		u = sigmoid r
		v = sumrows u
		w = sigmoid v
		m = param 4 1
		l = matmul w m
		loss l
	`)
	v := values{g: ring(5), seed: 1}
	want, all := oracle(p, v)
	for _, save := range []string{"", "all", "none"} {
		got, err := run(p, v, options{p: 2, schedule: "sag", devices: 1, planning: planning{save: save, slack: -1, procs: 2}})
		if err != nil {
			t.Errorf("save %q: %v", save, err)
			continue
		}
		compareAll(t, got, want, all, func() map[string]float64 { return nil })
	}
}
