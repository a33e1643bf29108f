package dataflow_test

import (
	"fmt"
	"strconv"
	"strings"

	"sagann/dataflow"
	"sagann/ops"
)

type node = dataflow.Node

// Test programs are text, one node a line:
//
//	x = feature 4          a vertex input that a gradient is wanted for
//	w = param 4 3          a parameter
//	s = src x              operands are names of lines above, then come numbers
//	m = matmul s w
//	out y                  y is a result of the program
//	loss l                 l, a 1×1 matrix, is what the gradients are of
//
// so that a failing random program can be read, and pasted into a script.
type program struct {
	text  string
	g     *dataflow.Graph
	nodes map[string]*node
	names []string // results
	outs  []*node
	loss  int
	wrt   []*node
	learn bool // vertex inputs with gradients are learned: their next rows are results in place of those
}

// next are the next rows of a learned input and of what is remembered of its gradients.
func (p *program) next(w, g *node) []dataflow.Next {
	if !p.learn {
		return nil
	}
	m := w.Graph().Variable("old:"+w.Attr().S, w.Shape())
	sum := ops.Add(g, ops.Scale(m, 0.5))
	rate := w.Graph().Variable("rate", dataflow.Shape{Rows: 1, Cols: 4})
	return []dataflow.Next{{Of: w, Rows: ops.SGDStep(w, sum, rate)}, {Of: m, Rows: sum}}
}

// call is one line: operands by name, then numbers.
type call struct {
	p    *program
	name string
	in   []*node
	num  []float64
}

func (c *call) i(k int) int     { return int(c.num[k]) }
func (c *call) f(k int) float32 { return float32(c.num[k]) }

func (c *call) leaf(op dataflow.Op, name string, s dataflow.Shape) *node {
	return c.p.g.Leaf(op, name, s)
}

func (c *call) vertex(name string, cols int) *node {
	return c.leaf(dataflow.InputOp, name, dataflow.Shape{Set: dataflow.V0, Cols: cols})
}

func (c *call) edge(name string, cols int) *node {
	return c.leaf(dataflow.InputOp, name, dataflow.Shape{Set: dataflow.E0, Cols: cols})
}

func (c *call) step() *node {
	return c.leaf(dataflow.InputOp, dataflow.StepInput, dataflow.Shape{Rows: 1, Cols: 4})
}

// parse builds the program. It panics with the line on what is no program: a wrong
// shape, an unknown op or name.
func parse(text string) *program {
	p := &program{text: text, g: dataflow.NewTrace(), nodes: map[string]*node{}, loss: -1}
	for n, line := range strings.Split(text, "\n") {
		f := strings.Fields(strings.SplitN(line, "#", 2)[0])
		if len(f) == 0 {
			continue
		}
		func() {
			defer func() {
				if r := recover(); r != nil {
					panic(fmt.Sprintf("line %d, %q: %v", n+1, line, r))
				}
			}()
			p.line(f)
		}()
	}
	return p
}

func (p *program) line(f []string) {
	if f[0] == "out" || f[0] == "loss" {
		if f[0] == "loss" {
			p.loss = len(p.outs)
		}
		p.names, p.outs = append(p.names, f[1]), append(p.outs, p.nodes[f[1]])
		return
	}
	make, ok := language[f[2]]
	if !ok || f[1] != "=" {
		panic("unknown op")
	}
	c := &call{p: p, name: f[0]}
	for _, a := range f[3:] {
		if x, err := strconv.ParseFloat(a, 64); err == nil {
			c.num = append(c.num, x)
		} else if p.nodes[a] == nil {
			panic("unknown operand " + a)
		} else {
			c.in = append(c.in, p.nodes[a])
		}
	}
	n := make(c)
	p.nodes[f[0]] = n
	if f[2] == "param" || f[2] == "feature" {
		p.wrt = append(p.wrt, n)
	}
}

// compile runs the compiler over the program; dumps go to print.
func (p *program) compile(without []string, storage, dump string, print func(string), store ...string) (main, once *dataflow.Lowered, err error) {
	o := dataflow.Options{Lowering: dataflow.Lowering{Store: store}, Without: map[string]bool{}, Storage: storage, Dump: dump, Print: print}
	for _, w := range without {
		o.Without[w] = true
	}
	return dataflow.Compile(&dataflow.Program{Names: p.names, Outs: p.outs, Loss: p.loss, Wrt: p.wrt}, o)
}

func un(f func(x *node) *node) func(*call) *node {
	return func(c *call) *node { return f(c.in[0]) }
}

func bin(f func(x, y *node) *node) func(*call) *node {
	return func(c *call) *node { return f(c.in[0], c.in[1]) }
}

// language is the vocabulary of test programs.
var language = map[string]func(c *call) *node{
	"feature": func(c *call) *node {
		return c.p.g.Variable(c.name, dataflow.Shape{Set: dataflow.V0, Cols: c.i(0)})
	},
	"vertex": func(c *call) *node { return c.vertex(c.name, c.i(0)) },
	"param": func(c *call) *node {
		return c.leaf(dataflow.ParamOp, c.name, dataflow.Shape{Rows: c.i(0), Cols: c.i(1)})
	},
	"const":    func(c *call) *node { return c.p.g.Const(c.f(0)) },
	"indegree": func(c *call) *node { return c.vertex(dataflow.InDegree, 1) },
	"type":     func(c *call) *node { return c.edge(dataflow.TypeInput, 1) },
	"graph":    func(c *call) *node { return c.vertex("graph", 1) },
	"weight":   func(c *call) *node { return c.edge(dataflow.WeightInput, 1) },
	"data":     func(c *call) *node { return c.edge(dataflow.DataInput, c.i(0)) },

	"src":        un(dataflow.ScatterSrc),
	"dst":        un(dataflow.ScatterDst),
	"sum":        un(ops.Sum),
	"sumsrc":     un(dataflow.GatherSrc),
	"mean":       bin(ops.Mean), // m, 1/max(in-degree, 1)
	"max":        un(ops.Max),
	"min":        un(ops.Min),
	"lse":        un(ops.LSE),
	"first":      func(c *call) *node { return ops.ConcatFirst(c.in[0], c.i(0)) },
	"softmaxsum": bin(ops.SoftmaxSum), // score, m
	"sumtype": func(c *call) *node {
		return dataflow.Keyed(dataflow.GatherDstOp, "type", c.i(0), c.in[0])
	},
	"srctype": func(c *call) *node {
		return dataflow.Keyed(dataflow.ScatterSrcOp, "type", c.i(0), c.in[0])
	},
	"matmultype": func(c *call) *node { // x, matrices, type, number of types
		return ops.MatMulByType(c.in[0], c.in[1], c.in[2], c.i(0))
	},
	"place": func(c *call) *node { return ops.Place("type", c.in[0], c.in[1], c.i(0)) },
	"pick":  func(c *call) *node { return ops.Pick("type", c.in[0], c.in[1], c.i(0)) },

	"add": bin(ops.Add), "sub": bin(ops.Sub), "mul": bin(ops.Mul), "div": bin(ops.Div),
	"maximum": bin(ops.Maximum), "matmul": bin(ops.MatMul), "matmulnt": bin(ops.MatMulNT),
	"matmultn": bin(ops.MatMulTN), "rowscale": bin(ops.RowScale), "rowdot": bin(ops.RowDot),
	"spread": bin(ops.Spread),
	"concat": bin(func(x, y *node) *node { return ops.Concat(x, y) }),
	"neg":    un(ops.Neg), "sigmoid": un(ops.Sigmoid), "tanh": un(ops.Tanh), "relu": un(ops.ReLU),
	"elu": un(ops.ELU), "gelu": un(ops.GELU), "softplus": un(ops.Softplus), "exp": un(ops.Exp), "sqrt": un(ops.Sqrt),
	"rowsum": un(ops.RowSum), "softmax": un(ops.Softmax), "logsoftmax": un(ops.LogSoftmax),
	"l2norm": un(ops.L2Normalize), "sumrows": un(ops.SumRows),
	"sumby":     func(c *call) *node { return ops.SumRowsBy(c.in[0], c.in[1], c.i(0)) },
	"maxby":     func(c *call) *node { return ops.MaxRowsBy(c.in[0], c.in[1], c.i(0)) },
	"pickrows":  bin(ops.PickRows),
	"scale":     func(c *call) *node { return ops.Scale(c.in[0], c.f(0)) },
	"shift":     func(c *call) *node { return ops.Shift(c.in[0], c.f(0)) },
	"leaky":     func(c *call) *node { return ops.LeakyReLU(c.in[0], c.f(0)) },
	"layernorm": func(c *call) *node { return ops.LayerNorm(c.in[0], c.f(0)) },
	"widen":     func(c *call) *node { return ops.Widen(c.in[0], c.i(0)) },
	"groupsum":  func(c *call) *node { return ops.GroupSum(c.in[0], c.i(0)) },
	"slice":     func(c *call) *node { return ops.Slice(c.in[0], c.i(0), c.i(1)) },
	"pad":       func(c *call) *node { return ops.Pad(c.in[0], c.i(0), c.i(1)) },
	"xent":      func(c *call) *node { return ops.SoftmaxCrossEntropy(c.in[0], c.in[1], c.in[2]) },
	"sparserows": func(c *call) *node {
		return c.vertex("sparse:"+c.name, 2*sparseEntries)
	},
	"sparsematmul": bin(ops.SparseMatMul),
	"sparsedropout": func(c *call) *node { // site, probability
		return ops.SparseDropout(c.in[0], c.f(1), c.i(0), c.vertex(dataflow.IDInput, 1), c.step())
	},
	"dropout": func(c *call) *node { // site, probability
		return ops.Dropout(c.in[0], c.f(1), c.i(0), c.vertex(dataflow.IDInput, 1), nil, c.step())
	},
	"edgedropout": func(c *call) *node {
		id := dataflow.ScatterDst(c.vertex(dataflow.IDInput, 1))
		return ops.Dropout(c.in[0], c.f(1), c.i(0), id, c.edge(dataflow.RankInput, 1), c.step())
	},
	"normalize": func(c *call) *node { // what a GCN multiplies an edge with
		n := c.vertex("vertex:rsqrtdegree", 1)
		return ops.Mul(dataflow.ScatterSrc(n), dataflow.ScatterDst(n))
	},
}
