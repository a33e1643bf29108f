package dataflow_test

import "testing"

// kept are cases in which two plannings once gave other bits or wrong results, or the test
// wrongly said so, each as the failing test printed it, with what went wrong.
var kept = map[string]bitsCase{
	"a call that reads and writes a learned input was taken for one that writes it only, so that nothing loaded it": {program: `
		f1 = feature 2
		v2 = vertex 2
		s3 = src f1
		d4 = dst f1
		w5 = weight
		r6 = relu d4
		s7 = softmaxsum w5 r6
		r8 = rowsum s7
		s9 = src r8
		d10 = dst r8
		m11 = mul s9 d10
		p12 = param 1 3
		m13 = matmul m11 p12
		t14 = type
		w15 = weight
		x16 = xent m13 t14 w15
		s17 = sumrows x16
		out v2
		loss s17`,
		graph: graphSpec{vertices: 1, edges: 1, live: 1, extra: "in"}, seed: 1,
		options: options{p: 5, balanced: true, without: []string{"factor"}, schedule: "dest-order", straight: true, devices: 4, group: 1, learn: true,
			planning: planning{late: true, beside: true, stream: true, serial: true, whole: true, windows: true, diagonal: true, files: 15, early: true, procs: 2, slack: 1000}},
		other: planning{serial: true, ring: true, more: true, windows: true, packed: true, evaluate: true, procs: 1, slots: 1, slices: 4}},
	"a weighted sum of rows was fused, multiply with add, only where nothing else needed the products; slices change who does": {program: `
		f1 = feature 1
		v2 = vertex 1
		s3 = src f1
		d4 = dst f1
		w5 = weight
		s6 = src f1
		e7 = edgedropout s3 1 0.4
		t8 = type
		p9 = param 3 8
		m10 = matmultype e7 p9 t8 3
		w11 = widen s3 8
		a12 = add m10 w11
		s13 = sigmoid s3
		s14 = softmaxsum s3 s13
		s15 = softmaxsum w5 a12
		r16 = rowscale s15 s15
		p17 = param 8 3
		m18 = matmul r16 p17
		labels = vertex 1
		mask = vertex 1
		x19 = xent m18 labels mask
		s20 = sumrows x19
		loss s20`,
		graph: graphSpec{vertices: 3, edges: 6, live: 1, extra: "none", seed: 0x1af}, seed: 1,
		options: options{p: 5, schedule: "sag", devices: 2, group: 1,
			planning: planning{late: true, beside: true, stream: true, whole: true, windows: true, packed: true, procs: 5, slices: 2}},
		other: planning{late: true, beside: true, stream: true, ring: true, more: true, windows: true, files: 10, evaluate: true, procs: 5, slots: 2, slack: 1000}},
	"sums over loops cancel, and tie with other rows for a maximum, in the oracle only: the test compared what rounding chooses": {program: `
		f1 = feature 4
		v2 = vertex 1
		s3 = src f1
		d4 = dst f1
		w5 = weight
		s6 = sigmoid s3
		s7 = shift s6 0.5
		d8 = div s3 s7
		l9 = leaky s3 0.5
		t10 = tanh s3
		s11 = sigmoid d4
		l12 = logsoftmax s3
		s13 = sum l12
		d14 = dropout s13 1 0.3
		p15 = param 1 4
		p16 = param 2 1
		p17 = param 2 4
		m18 = matmultn p16 p17
		m19 = mul m18 d14
		s20 = src m19
		d21 = dst m19
		d22 = data 2
		s23 = sub s20 d21
		p24 = param 1 4
		m25 = matmulnt s23 p24
		s26 = sumsrc m25
		s27 = sigmoid s26
		g28 = groupsum d14 1
		m29 = maximum s27 g28
		g30 = graph
		m31 = maxby m29 g30 4
		t32 = tanh m31
		g33 = graph
		p34 = pickrows t32 g33
		s35 = src p34
		d36 = dst p34
		r37 = rowdot s35 d36
		s38 = sumrows r37
		loss s38`,
		graph: graphSpec{vertices: 345, edges: 195, live: 1, extra: "repeat", seed: 0x63}, seed: 1,
		options: options{p: 5, schedule: "stage", devices: 1, group: 5, learn: true,
			planning: planning{save: "all", late: true, serial: true, ring: true, windows: true, files: 15, evaluate: true, early: true, procs: 5, slices: 3}},
		other: planning{plain: []string{"recompute-on-load"}, save: "all", late: true, whole: true, more: true, packed: true, files: 5, evaluate: true, early: true, procs: 1, slots: 4, slices: 2, slack: -1}},
}

// What random programs found stays found.
func TestKeptCases(t *testing.T) {
	for name, c := range kept {
		t.Run(name, func(t *testing.T) { c.check(t) })
	}
}
