package ops_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/internal/eval"
	"sagann/internal/testdata"
	"sagann/ops"
)

type node = dataflow.Node

// model is a two-layer network over the reference graph; p gives the parameter of
// the running layer.
type model struct {
	hidden int
	layer  func(x *node, p func(name string) *node, last bool) *node
}

// The models that between them use every gather, keyed movement and row op whose
// gradient is not plain arithmetic.
var models = map[string]model{
	"gat": {6, func(x *node, p func(string) *node, last bool) *node {
		h := ops.MatMul(x, p("W"))
		score := ops.LeakyReLU(ops.Add(dataflow.ScatterSrc(ops.MatMul(h, p("a_src"))),
			dataflow.ScatterDst(ops.MatMul(h, p("a_dst")))), 0.2)
		return unless(last, ops.ELU, ops.SoftmaxSum(score, dataflow.ScatterSrc(h)))
	}},
	"mpgcn": {6, func(x *node, p func(string) *node, last bool) *node {
		m := ops.ReLU(ops.Bias(ops.MatMul(dataflow.ScatterSrc(x), p("W_pool")), p("b")))
		return unless(last, ops.ReLU, ops.MatMul(ops.Concat(x, ops.Max(m)), p("W")))
	}},
	"minpool": {6, func(x *node, p func(string) *node, last bool) *node {
		m := ops.MatMul(dataflow.ScatterSrc(x), p("W_pool"))
		return unless(last, ops.ReLU, ops.MatMul(ops.Concat(x, ops.Min(m)), p("W")))
	}},
	"concat3": {6, func(x *node, p func(string) *node, last bool) *node {
		a := ops.ConcatFirst(dataflow.ScatterSrc(x), 3)
		return unless(last, ops.ReLU, ops.Add(ops.MatMul(a, p("W")), ops.MatMul(x, p("W_self"))))
	}},
	"ggnn": {7, func(x *node, p func(string) *node, last bool) *node {
		f := x.Cols()
		typ := x.Graph().Leaf(dataflow.InputOp, "edge:type", dataflow.Shape{Set: dataflow.E0, Cols: 1})
		a := ops.Sum(ops.MatMulByType(dataflow.ScatterSrc(x), p("A"), typ, 3))
		in, hid := ops.Bias(ops.MatMul(a, p("W_i")), p("b_i")), ops.Bias(ops.MatMul(x, p("W_h")), p("b_h"))
		gate := func(t *node, k int) *node { return ops.Slice(t, k*f, f) }
		r := ops.Sigmoid(ops.Add(gate(in, 0), gate(hid, 0)))
		z := ops.Sigmoid(ops.Add(gate(in, 1), gate(hid, 1)))
		n := ops.Tanh(ops.Add(gate(in, 2), ops.Mul(r, gate(hid, 2))))
		h := ops.Add(ops.Mul(ops.Shift(ops.Neg(z), 1), n), ops.Mul(z, x))
		if last {
			h = ops.MatMul(h, p("W_o"))
		}
		return h
	}},
	"edgemlp": {6, func(x *node, p func(string) *node, last bool) *node {
		data := x.Graph().Leaf(dataflow.InputOp, "edge:data", dataflow.Shape{Set: dataflow.E0, Cols: 2})
		e := ops.Concat(dataflow.ScatterSrc(x), dataflow.ScatterDst(x), data)
		m := ops.MatMul(ops.ReLU(ops.Bias(ops.MatMul(e, p("W1")), p("b1"))), p("W2"))
		return unless(last, ops.ReLU, ops.Add(ops.MatMul(ops.Sum(m), p("W3")), ops.MatMul(x, p("W4"))))
	}},
}

func unless(last bool, activation func(*node) *node, x *node) *node {
	if last {
		return x
	}
	return activation(x)
}

// Values and gradients equal those of the reference implementation in float64.
func TestGoldenModels(t *testing.T) {
	root := testdata.Dir(t, "golden")
	shared := func(name string) array { return readNPY(t, filepath.Join(root, name+".npy")) }
	graph := &chunk.Edges{V: 50, Src: shared("src").ids(), Dst: shared("dst").ids(),
		Type: shared("edge_type").ids(), Types: 3, Data: shared("edge_data").data, DataCols: 2}
	weight := make([]float32, graph.V)
	mask := shared("mask").ids()
	for _, v := range mask {
		weight[v] = 1 / float32(len(mask))
	}
	for name, m := range models {
		t.Run(name, func(t *testing.T) {
			at := func(file string) array { return readNPY(t, filepath.Join(root, name, file+".npy")) }
			g := dataflow.NewTrace()
			value := map[string][]float32{"features": shared("features").data, "labels": shared("labels").data, "weight": weight}
			column := func(name string, c int) *node {
				return g.Leaf(dataflow.InputOp, name, dataflow.Shape{Set: dataflow.V0, Cols: c})
			}
			x := column("features", 7)
			wrt := []*node{x}
			params := func(layer string) func(string) *node {
				return func(name string) *node {
					a := at(layer + "." + name)
					value[layer+"."+name] = a.data
					p := g.Leaf(dataflow.ParamOp, layer+"."+name, dataflow.Shape{Rows: a.rows, Cols: a.cols})
					wrt = append(wrt, p)
					return p
				}
			}
			hidden := m.layer(x, params("layer1"), false)
			logits := m.layer(hidden, params("layer2"), true)
			loss := ops.SumRows(ops.SoftmaxCrossEntropy(logits, column("labels", 1), column("weight", 1)))
			grads := dataflow.Grad(loss, g.Const(1), wrt)
			val := eval.Run(append(grads, loss), func(n *node) []float32 { return value[n.Attr().S] }, graph)
			compare(t, "hidden", val[hidden], at("hidden").data)
			compare(t, "logits", val[logits], at("logits").data)
			for i, p := range wrt {
				compare(t, "grad."+p.Attr().S, val[grads[i]], at("grad."+p.Attr().S).data)
			}
			meta, err := os.ReadFile(filepath.Join(root, name, "meta.json"))
			if err != nil {
				t.Fatal(err)
			}
			want, _ := strconv.ParseFloat(regexp.MustCompile(`"loss": ([0-9.]+)`).FindStringSubmatch(string(meta))[1], 64)
			compare(t, "loss", val[loss], []float32{float32(want)})
		})
	}
}

// compare allows an error of 1e-5 of the largest number.
func compare(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d numbers, want %d", what, len(got), len(want))
	}
	worst, largest := 0.0, 0.0
	for i, w := range want {
		worst = math.Max(worst, math.Abs(float64(got[i])-float64(w)))
		largest = math.Max(largest, math.Abs(float64(w)))
	}
	if !(worst <= 1e-5*largest) {
		t.Errorf("%s: off by %.3g where the largest is %.3g", what, worst, largest)
	}
}

// array is a matrix; a tensor of three axes has its first two merged, a vector is
// a row.
type array struct {
	rows, cols int
	data       []float32
}

func (a array) ids() []uint32 {
	out := make([]uint32, len(a.data))
	for i, v := range a.data {
		out[i] = uint32(v)
	}
	return out
}

// readNPY reads the reference files, int32 and float64 in C order.
func readNPY(t *testing.T, path string) array {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := int(binary.LittleEndian.Uint16(b[8:]))
	head, body := string(b[10:10+n]), b[10+n:]
	a := array{rows: 1, cols: 1}
	for _, d := range strings.Split(regexp.MustCompile(`\(([^)]*)\)`).FindStringSubmatch(head)[1], ",") {
		if d = strings.TrimSpace(d); d != "" {
			size, _ := strconv.Atoi(d)
			a.rows, a.cols = a.rows*a.cols, size
		}
	}
	for i := range a.rows * a.cols {
		if strings.Contains(head, "<i4") {
			a.data = append(a.data, float32(int32(binary.LittleEndian.Uint32(body[4*i:]))))
		} else {
			a.data = append(a.data, float32(math.Float64frombits(binary.LittleEndian.Uint64(body[8*i:]))))
		}
	}
	return a
}
