package layers

import (
	"fmt"
	"testing"

	"sagann/chunk"
	"sagann/ops"
	"sagann/saga"
)

// triples are the rows, or the messages of the in-edges, of these tables.
var triples = [][3]float32{{nan, 1, 2}, {1, nan, 2}, {inf, 1, 2}, {-inf, 1, 2}, {-inf, -inf, -inf}, {inf, inf, 1}, {0, 0, 0}, {-inf, inf, 0}, {1, nan, nan}}

type triple [3]float64

var bad = triple{none, none, none}

// rowCase is an op of rows: its results of triples, and what flows back where (1, 0, 0) and
// (+Inf, 0, 0) flow in.
type rowCase struct {
	name        string
	op          func(x saga.Tensor) saga.Tensor
	y, one, inf []triple
}

var rowCases = []rowCase{
	{"softmax", ops.Softmax,
		[]triple{bad, bad, bad, {0, 0.2689414, 0.7310586}, bad, bad, {third, third, third}, bad, bad},
		[]triple{bad, bad, bad, {0, 0, 0}, bad, bad, {0.2222222, -0.1111111, -0.1111111}, bad, bad},
		[]triple{bad, bad, bad, bad, bad, bad, {none, ninf, ninf}, bad, bad}},
	{"log_softmax", ops.LogSoftmax,
		[]triple{bad, bad, bad, {ninf, -1.3132617, -0.3132617}, bad, bad, {-1.0986123, -1.0986123, -1.0986123}, bad, bad},
		[]triple{bad, bad, bad, {1, -0.2689414, -0.7310586}, bad, bad, {0.6666667, -third, -third}, bad, bad},
		[]triple{bad, bad, bad, {none, ninf, ninf}, bad, bad, {none, ninf, ninf}, bad, bad}},
	{"l2_normalize", ops.L2Normalize, // nothing flows back to a row of zeros; PyTorch divides by 1e-12
		[]triple{bad, bad, {none, 0, 0}, {none, 0, 0}, bad, {none, none, 0}, {0, 0, 0}, {none, none, 0}, bad},
		[]triple{bad, bad, bad, bad, bad, bad, {0, 0, 0}, bad, bad},
		[]triple{bad, bad, bad, bad, bad, bad, {0, 0, 0}, bad, bad}},
	{"layer_norm", func(x saga.Tensor) saga.Tensor { return ops.LayerNorm(x, 1e-5) },
		[]triple{bad, bad, bad, bad, bad, bad, {0, 0, 0}, bad, bad},
		[]triple{bad, bad, bad, bad, bad, bad, {210.8185, -105.40926, -105.40926}, bad, bad},
		[]triple{bad, bad, bad, bad, bad, bad, bad, bad, bad}},
	{"row_sum", func(x saga.Tensor) saga.Tensor { return ops.Widen(ops.RowSum(x), 3) },
		[]triple{bad, bad, {whole, whole, whole}, {ninf, ninf, ninf}, {ninf, ninf, ninf}, {whole, whole, whole}, {0, 0, 0}, bad, bad},
		[]triple{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, nil},
}

// TestExtremesOfRows has every op of rows in one layer.
func TestExtremesOfRows(t *testing.T) {
	var rows []float32
	for _, x := range triples {
		rows = append(rows, x[:]...)
	}
	n := len(triples)
	for _, seed := range []float32{1, inf} {
		x := make([]float32, 0, 6*n)
		for i := range n {
			x = append(append(x, rows[3*i:3*i+3]...), seed, 0, 0)
		}
		layer := saga.Layer{Name: "rows", ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor {
			in, dy := ops.Slice(v.Self, 0, 3), ops.Slice(v.Self, 3, 3)
			var out []saga.Tensor
			for _, c := range rowCases {
				y := c.op(in)
				out = append(out, y, backward(y, dy, in))
			}
			return ops.Concat(out[0], out[1:]...)
		}}
		embed(t, &chunk.Edges{V: n, Src: []uint32{0}, Dst: []uint32{1}}, x, 6, layer, func(t *testing.T, got []float32, cols int) {
			for i, x := range triples {
				row := got[i*cols : (i+1)*cols]
				for _, c := range rowCases {
					back := c.one
					if seed == inf {
						back = c.inf
					}
					for k := range 3 {
						if !agrees(row[k], c.y[i][k]) {
							t.Errorf("%s of %v at %d: %v, want %v", c.name, x, k, row[k], real(c.y[i][k]))
						}
						if back != nil && !agrees(row[3+k], back[i][k]) {
							t.Errorf("the gradient of %s of %v at %d, %v flowing in: %v, want %v", c.name, x, k, seed, row[3+k], real(back[i][k]))
						}
					}
					row = row[6:]
				}
			}
		})
	}
}

// gatherCase is a gather of the triples: its results, and what flows back to the messages
// where 1 and +Inf flow in. A gradient of nil is not looked at.
type gatherCase struct {
	name     string
	gather   func(v saga.Vertex, m saga.Tensor) saga.Tensor
	y        []float64
	one, inf []triple
}

var (
	first, second, last = triple{1, 0, 0}, triple{0, 1, 0}, triple{0, 0, 1}
	every, endless      = triple{1, 1, 1}, triple{whole, whole, whole}
)

func repeat(x triple) []triple {
	out := make([]triple, len(triples))
	for i := range out {
		out[i] = x
	}
	return out
}

func endlessly(x []triple) []triple {
	out := make([]triple, len(x))
	for i := range x {
		copy(out[i][:], times(x[i][:], whole))
	}
	return out
}

var (
	tops    = []triple{first, second, first, last, first, first, first, second, second}
	bottoms = []triple{first, second, second, first, first, last, first, first, second}
)

var gatherCases = []gatherCase{
	{"sum", of(ops.Sum), []float64{none, none, whole, ninf, ninf, whole, 0, none, none}, repeat(every), repeat(endless)},
	{"mean", mean, []float64{none, none, whole, ninf, ninf, whole, 0, none, none}, repeat(triple{third, third, third}), repeat(endless)},
	{"max", of(ops.Max), []float64{none, none, whole, 2, ninf, whole, 0, whole, none}, tops, endlessly(tops)},
	{"min", of(ops.Min), []float64{none, none, 1, ninf, ninf, 1, 0, ninf, none}, bottoms, endlessly(bottoms)},
	{"log-sum-exp", of(ops.LSE), []float64{none, none, whole, 2.3132617, ninf, whole, 1.0986123, whole, none},
		[]triple{bad, bad, {none, 0, 0}, {0, 0.2689414, 0.7310586}, bad, {none, none, 0}, {third, third, third}, {0, none, 0}, bad},
		[]triple{bad, bad, bad, {none, whole, whole}, bad, bad, endless, bad, bad}},
	{"softmax-sum", of(func(m saga.Tensor) saga.Tensor { return ops.SoftmaxSum(m, m) }), []float64{none, none, none, none, none, none, 0, none, none}, nil, nil}, // 0·-Inf is NaN
}

func mean(v saga.Vertex, m saga.Tensor) saga.Tensor {
	one := ops.Shift(ops.Scale(v.InDegree, 0), 1)
	return ops.Mean(m, ops.Div(one, ops.Maximum(v.InDegree, one)))
}

// of is a gather of messages alone.
func of(gather func(m saga.Tensor) saga.Tensor) func(saga.Vertex, saga.Tensor) saga.Tensor {
	return func(_ saga.Vertex, m saga.Tensor) saga.Tensor { return gather(m) }
}

// hubEdges is how many in-edges the large rows have: more than a warp or a strip takes.
const hubEdges = 2000

// TestExtremesOfGathers: the messages of an edge are the rows of its source. Vertex i gathers
// triple i, in that order; then come a vertex whose many messages are 1 but two of NaN, one
// whose many are all -Inf, and the sources, which have no in-edges and gather 0.
func TestExtremesOfGathers(t *testing.T) {
	n := len(triples)
	hub, low, source := n, n+1, n+2
	x := make([]float32, source)
	edges := &chunk.Edges{}
	edge := func(value float32, to int) {
		edges.Src, edges.Dst = append(edges.Src, uint32(len(x))), append(edges.Dst, uint32(to))
		x = append(x, value)
	}
	for i, row := range triples {
		for _, value := range row {
			edge(value, i)
		}
	}
	one := len(x)
	x = append(x, 1)
	for i := range hubEdges {
		if i == 777 || i == 1500 {
			edge(nan, hub)
			continue
		}
		edges.Src, edges.Dst = append(edges.Src, uint32(one)), append(edges.Dst, uint32(hub))
	}
	fewest := len(x)
	x = append(x, -inf)
	for range hubEdges {
		edges.Src, edges.Dst = append(edges.Src, uint32(fewest)), append(edges.Dst, uint32(low))
	}
	edges.V = len(x)
	rows := make([]float32, 0, 2*len(x))
	for _, seed := range []float32{1, inf} {
		rows = rows[:0]
		for _, value := range x {
			rows = append(rows, value, seed)
		}
		for _, width := range []int{1, 40} {
			for _, c := range gatherCases {
				for _, learn := range []bool{true, false} {
					if learn && c.one == nil {
						continue
					}
					t.Run(fmt.Sprintf("%s/%d columns/gradient=%v of %v", c.name, width, learn, seed), func(t *testing.T) {
						var m saga.Tensor
						layer := saga.Layer{Name: c.name, ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor {
							m = ops.Widen(ops.Slice(e.Src, 0, 1), width)
							return m
						}, ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor {
							y := c.gather(v, m)
							if !learn {
								return ops.Concat(y, y)
							}
							return ops.Concat(y, ops.Slice(backward(y, ops.Widen(ops.Slice(v.Self, 1, 1), width), v.Self), 0, 1))
						}}
						embed(t, edges, rows, 2, layer, func(t *testing.T, got []float32, cols int) {
							c.check(t, got, cols, width, learn, seed == inf, source)
						})
					})
				}
			}
		}
	}
}

// check compares the results of every vertex and what flows back to its messages.
func (c gatherCase) check(t *testing.T, got []float32, cols, width int, learn, endless bool, source int) {
	t.Helper()
	n := len(triples)
	want := append(append([]float64{}, c.y...), none, ninf)
	if c.name == "softmax-sum" {
		want[n+1] = none
	}
	for v := range len(got) / cols {
		for k, y := range got[v*cols : v*cols+width] {
			what := 0. // without in-edges
			if v < source {
				what = want[v]
			}
			if !agrees(y, what) {
				t.Errorf("vertex %d, column %d: %v, want %v", v, k, y, real(what))
			}
		}
	}
	if !learn {
		return
	}
	back := c.one
	if endless {
		back = c.inf
	}
	for i, x := range triples {
		for k := range 3 {
			d := got[(source+3*i+k+1)*cols-1] / float32(width)
			if !agrees(d, back[i][k]) {
				t.Errorf("what flows back to message %d of %v: %v, want %v", k, x, d, real(back[i][k]))
			}
		}
	}
	if c.name == "max" || c.name == "min" { // of many: all to the first NaN
		one, nan1, nan2 := source+3*n, source+3*n+1, source+3*n+2
		for at, want := range map[int]float64{one: 0, nan1: float64(back[0][0]), nan2: 0} {
			if d := got[(at+1)*cols-1] / float32(width); !agrees(d, want) {
				t.Errorf("what flows back to vertex %d of many: %v, want %v", at, d, real(want))
			}
		}
	}
}
