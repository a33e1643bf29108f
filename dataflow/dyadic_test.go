package dataflow_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow"
	"sagann/internal/draw"
)

// On dyadic numbers, few bits each, sums, maxima and products are exact in any order.
// Programs of nothing else therefore have no excuse: with every grid, order of vertices,
// schedule, number of devices, save policy and set of passes their results and gradients
// are those of the oracle to the last bit (but for the sign of a zero). There are five
// times -rapid.checks=N cases.
func TestDyadicPrograms(t *testing.T) {
	for i := range 5 {
		t.Run(fmt.Sprint(i), draw.Each(checkDyadic))
	}
}

func checkDyadic(t *rapid.T) { checkExact(t, "", 1, 2, 4) }

// Numbers of so few bits are bfloat16 themselves: wide enough to be packed, programs of
// them give the same results and gradients to the last bit.
func TestDyadicStorage(t *testing.T) {
	for i := range 2 {
		t.Run(fmt.Sprint(i), draw.Each(func(t *rapid.T) { checkExact(t, dataflow.StorageBF16, 16, 17, 24) }))
	}
}

func checkExact(t *rapid.T, storage string, widths ...int) {
	text := drawDyadic(t, widths)
	v := values{g: drawGraph(t).graph(), dyadic: true}
	r := newRandom(7, "edges")
	for i := range v.g.Weight {
		v.g.Weight[i] = r.dyadic()
	}
	for i := range v.g.Data {
		v.g.Data[i] = r.dyadic()
	}
	o := drawOptions(t)
	o.storage = storage
	t.Logf("program:\n%s%s\noptions: %+v", text, describe(v.g), o)
	p := parse(text)
	var want map[string][]float32
	var all map[*node][]float32
	for v.seed = 1; ; v.seed++ {
		if want, all = oracle(p, v); short(all) {
			break
		}
		if v.seed == 12 {
			t.Skip("numbers grow too long to be exact")
		}
	}
	got, err := run(p, v, o)
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		if len(got[name]) != len(w) {
			t.Errorf("%s has %d numbers, want %d", name, len(got[name]), len(w))
			continue
		}
		for i := range w {
			if got[name][i] != w[i] {
				t.Errorf("%s: number %d is %v, want %v exactly", name, i, got[name][i], w[i])
			}
		}
	}
}

// dyadic is -1, -½, 0, ½ or 1, most often 0.
func (r random) dyadic() float32 { return float32(max(0, r.IntN(6)-3)) / 2 * float32(1-2*r.IntN(2)) }

// short tells whether all values are multiples of ¼ of up to 6 bits: then sums of up to
// 1,000 products of two of them are exact in any order.
func short(all map[*node][]float32) bool {
	for _, x := range all {
		for _, y := range x {
			if y *= 4; math.Abs(float64(y)) > 64 || y != float32(int(y)) {
				return false
			}
		}
	}
	return true
}

// drawDyadic draws one or two layers of sums, maxima and products.
func drawDyadic(t *rapid.T, widths []int) string {
	w := &writer{t: t}
	x := w.line(w.pick("width", widths...), "feature")
	w.past = []operand{x}
	for range w.int("layers", 1, 2) {
		x = w.dyadicLayer(x, widths)
	}
	y := w.line(x.cols, "vertex")
	if w.int("loss on edges", 0, 2) == 0 {
		x, y = w.line(x.cols, "src", x), w.line(y.cols, "dst", y)
	}
	l := w.line(1, "sumrows", w.line(1, "rowdot", x, y))
	w.lines = append(w.lines, "out "+w.of("result", w.past).name, "loss "+l.name)
	text := ""
	for _, s := range w.lines {
		text += s + "\n"
	}
	return text
}

func (w *writer) dyadicLayer(x operand, widths []int) operand {
	w.edges = []operand{w.line(x.cols, "src", x), w.line(x.cols, "dst", x)}
	for range w.int("edge ops", 0, 3) {
		w.edges = append(w.edges, w.dyadicOp(w.of("edge operand", w.edges), w.edges, widths))
	}
	if w.int("weighted", 0, 2) == 0 {
		m := w.edges[len(w.edges)-1]
		w.edges = append(w.edges, w.line(m.cols, "rowscale", m, w.line(1, "weight")))
	}
	m := w.edges[len(w.edges)-1]
	y := w.gather(w.pick("gather", 0, 1, 2, 6, 7), m)
	w.past = append(w.past, y)
	for range w.int("vertex ops", 0, 2) {
		y = w.dyadicOp(y, w.past, widths)
		w.past = append(w.past, y)
	}
	return y
}

func (w *writer) dyadicOp(x operand, pool []operand, widths []int) operand {
	switch w.int("op", 0, 4) {
	case 0:
		return w.line(x.cols, "relu", x)
	case 1:
		return w.line(x.cols, "neg", x)
	case 2:
		c := w.pick("width", widths...)
		return w.line(c, "matmul", x, w.param(x.cols, c))
	}
	y := w.of("second operand", pool)
	if y.cols != x.cols {
		y = w.line(x.cols, "matmul", y, w.param(y.cols, x.cols))
	}
	op := rapid.SampledFrom([]string{"add", "sub", "maximum", "mul"}).Draw(w.t, "binary")
	return w.line(x.cols, op, x, y)
}
