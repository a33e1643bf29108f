package saga

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/ops"
)

// Init fills a new parameter [rows×cols].
type Init func(w []float32, rows, cols int, r *rand.Rand)

// Glorot draws uniformly from ±√(6/(rows+cols)). It is the default of Weight.
func Glorot(w []float32, rows, cols int, r *rand.Rand) {
	uniform(w, math.Sqrt(6/float64(rows+cols)), r)
}

// He draws uniformly from ±√(6/rows).
func He(w []float32, rows, _ int, r *rand.Rand) { uniform(w, math.Sqrt(6/float64(rows)), r) }

// FanIn draws uniformly from ±1/√n, as torch.nn.Linear does for weights and bias with n inputs.
func FanIn(n int) Init {
	return func(w []float32, _, _ int, r *rand.Rand) { uniform(w, 1/math.Sqrt(float64(n)), r) }
}

// Zero sets all numbers to 0. It is the default of Bias.
func Zero(w []float32, _, _ int, _ *rand.Rand) { clear(w) }

// One sets all numbers to 1.
func One(w []float32, _, _ int, _ *rand.Rand) {
	for i := range w {
		w[i] = 1
	}
}

func uniform(w []float32, bound float64, r *rand.Rand) {
	for i := range w {
		w[i] = float32((2*r.Float64() - 1) * bound)
	}
}

// Param is a trainable matrix, as a model declares it.
type Param struct {
	Name       string // SCOPE.NAME
	Rows, Cols int
	Layer      int // the first layer that uses it, from 0
	// Average is 0 for a parameter that is trained. Running statistics, as of Vertex.BatchNorm, are not:
	// every step moves them by this share (0 to 1) towards the statistics of the step.
	Average   float32
	PerVertex bool   // row v belongs to vertex v, and lies where the vertex's rows lie
	typ       uint16 // PerVertex: the type of the vertices
	drawn     string // the first value is drawn by it
	pos       string
	init      Init
	blocks    int  // number of blocks of rows that are initialised one by one: edge types
	rowwise   bool // init may be called row by row
}

// initial draws the parameter's first value, which depends only on the seed and on what drawn says: the name, in which a relation or
// type stands also where there is one.
func (p *Param) initial(seed uint64) []float32 {
	r := p.random(seed)
	w := make([]float32, p.Rows*p.Cols)
	n := len(w) / p.blocks
	for b := range p.blocks {
		p.init(w[b*n:(b+1)*n], p.Rows/p.blocks, p.Cols, r)
	}
	return w
}

// eachRow is initial row by row: it calls row for every v and writes the drawn numbers there.
func (p *Param) eachRow(seed uint64) func(row func(v int) []float32) {
	return func(row func(v int) []float32) {
		r := p.random(seed)
		for v := range p.Rows {
			p.init(row(v), p.Rows, p.Cols, r)
		}
	}
}

func (p *Param) random(seed uint64) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(cmp.Or(p.drawn, p.Name)))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// Params declares the parameters of a layer where the layer's functions use them.
type Params struct {
	t      *tracer
	scope  string
	drawn  string // the scope by which first values are drawn
	shared string // the scope without relation and type
	layer  int
}

// In declares parameters of a part of the layer: their names begin with part and a dot behind the layer's scope.
func (p Params) In(part string) Params {
	p.scope, p.drawn = p.scope+"."+part, p.drawn+"."+part
	return p
}

// Shared declares parameters that all relations and vertex types of the layer share.
func (p Params) Shared() Params { return p.Of("") }

// Of declares parameters that all relations and vertex types of the layer share which ask for the same name, such as that of a vertex
// type (Edge.Relation.Src). Of("") is Shared.
func (p Params) Of(name string) Params {
	if k := p.t.d.kinds; k != nil && p.t.place == "" && name == k.types[0].name { // the only type that labels depend on
		return p.as(name, "")
	}
	return p.as(name, name)
}

// as declares parameters of a relation or type: their names have scope in them, unless it is "", and they are drawn by its full name.
func (p Params) as(scope, full string) Params {
	p.scope, p.drawn = p.shared, p.shared
	if scope != "" {
		p.scope += "." + scope
	}
	if full != "" {
		p.drawn += "." + full
	}
	return p
}

// Weight is the trainable matrix name [in×out] of this layer's scope. The same name gives the same
// matrix; with another shape it is an error. Default init: Glorot.
func (p Params) Weight(name string, in, out int, init ...Init) Tensor {
	return p.averaged(p.declare(name, in, out, 1, Glorot, init))
}

// Bias is the trainable row name [1×n] of this layer's scope. Default init: Zero.
func (p Params) Bias(name string, n int, init ...Init) Tensor {
	return p.averaged(p.declare(name, 1, n, 1, Zero, init))
}

// TypedWeight is one trainable matrix [in×out] per edge type, stacked: [types·in × out]. Default
// init: Glorot, for each matrix.
func (p Params) TypedWeight(name string, types, in, out int, init ...Init) Tensor {
	return p.averaged(p.declare(name, types*in, out, types, Glorot, init))
}

// initOr is the first of init, or def if there is none.
func initOr(init []Init, def Init) Init {
	if len(init) > 0 && init[0] != nil {
		return init[0]
	}
	return def
}

// maxNumbers bounds the numbers of a parameter, so that its bytes fit into an int64. No memory holds as many.
const maxNumbers = 1 << 40

func (p Params) declare(name string, rows, cols, blocks int, def Init, init []Init) Tensor {
	full := p.scope + "." + name
	if (rows == 0 || cols == 0) && p.t.lacks { // a product with it is absent, too
		return p.t.g.Absent()
	}
	if rows < 1 || cols < 1 || cols > maxNumbers/rows {
		panic(&dataflow.ShapeError{Op: dataflow.Op("parameter " + full), Pos: dataflow.Caller(),
			Err: fmt.Errorf("a %d×%d matrix", rows, cols)})
	}
	t := p.t
	if n := t.params[full]; n != nil {
		if s := n.Shape(); s.Rows != rows || s.Cols != cols {
			panic(&dataflow.ShapeError{Op: dataflow.Op("parameter " + full), Pos: dataflow.Caller(), In: []dataflow.Shape{s},
				Err: fmt.Errorf("declared %d×%d here and %d×%d at %s", rows, cols, s.Rows, s.Cols, n.Pos())})
		}
		return n
	}
	n := t.g.Leaf(dataflow.ParamOp, full, dataflow.Shape{Rows: rows, Cols: cols})
	t.params[full] = n
	t.list = append(t.list, Param{Name: full, Rows: rows, Cols: cols, Layer: p.layer, drawn: p.drawn + "." + name, pos: n.Pos(), init: initOr(init, def), blocks: blocks,
		rowwise: blocks == 1 && len(init) == 0})
	return n
}

// AverageOf begins the names of averages of parameters (Model.Average).
const AverageOf = "average:"

// averaged is what the model reads for the parameter w: with Model.Average, in evaluation and prediction, its average behind the
// last update. What is kept is the average before it, as an update sees the parameter from before it.
func (p Params) averaged(w Tensor) Tensor {
	if w.IsAbsent() {
		return w
	}
	t, part := p.t, 1-p.t.average
	if t.average == 0 {
		return w
	}
	x := t.means[w]
	if x == nil {
		q := t.list[len(t.list)-1]
		q.Name, q.Average, q.rowwise = AverageOf+q.Name, part, false
		mean := t.g.Leaf(dataflow.ParamOp, q.Name, w.Shape())
		t.params[q.Name], t.list = mean, append(t.list, q)
		if x = w; t.train {
			t.averages[mean] = ops.Scale(w, 1)
		} else {
			x = ops.Add(mean, ops.Scale(ops.Sub(w, mean), part))
		}
		t.means[w] = x
	}
	return x
}

// momentName names the k-th moment of a parameter, from 0.
func momentName(k int, param string) string { return fmt.Sprintf("moment%d:%s", k+1, param) }

// isMoment tells whether a tensor of a checkpoint is a moment. Parameters may have colons in their names, too, as relations have.
func isMoment(name string) bool {
	before, _, ok := strings.Cut(name, ":")
	number, is := strings.CutPrefix(before, "moment")
	_, err := strconv.ParseUint(number, 10, 64)
	return ok && is && err == nil
}

// gradName is the name of the gradient of a parameter or an input.
func gradName(name string) string { return "grad:" + name }

// readsParam tells whether a step of p reads q. One over blocks may have less to compute than the model: rows of one end of links.
func readsParam(p *Program, q *Param) bool {
	return q.PerVertex || slices.ContainsFunc(p.train.low.Spec.Globals, func(g plan.Global) bool { return g.Kind == plan.Param && g.Name == q.Name })
}
