package dataflow_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// A writer draws a random program line by line.
type writer struct {
	t     *rapid.T
	lines []string
	n     int // names given
	sites int // dropouts
	typ   string
	edges []operand // edge tensors of the running layer
	past  []operand // vertex tensors
	rows  []operand // matrices of one row that are not parameters

	several, earlier bool // a layer gathers one message several times; one reads rows of before the layer before it
}

// operand is a name with the width of its tensor.
type operand struct {
	name string
	cols int
}

var widths = []int{1, 2, 3, 4, 6, 8}

// drawProgram draws one or two layers and a loss over them.
func drawProgram(t *rapid.T) string { return strings.Join(drawWriter(t).lines, "\n") + "\n" }

func drawWriter(t *rapid.T) *writer {
	w := &writer{t: t}
	first := w.line(w.pick("width", widths...), "feature")
	w.past = []operand{first, w.line(w.pick("width", widths...), "vertex")}
	x := w.layer(first)
	if w.int("more layers", 0, 4) > 1 {
		before := len(w.past)
		x = w.layer(x, w.past[:before-1]...)
		if w.int("jump", 0, 2) == 0 { // the last layer reads the rows of all
			w.earlier = true
			all := w.line(x.cols+first.cols, "concat", x, first)
			x = w.fit(all, w.pick("width", widths...))
		}
	}
	w.loss(x)
	return w
}

func (w *writer) int(what string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(w.t, what) }

func (w *writer) pick(what string, from ...int) int { return rapid.SampledFrom(from).Draw(w.t, what) }

func (w *writer) of(what string, from []operand) operand {
	return rapid.SampledFrom(from).Draw(w.t, what)
}

// line writes "name = op ..." for a result of cols columns. Leaves have their width
// as a number.
func (w *writer) line(cols int, op string, args ...any) operand {
	w.n++
	x := operand{fmt.Sprintf("%s%d", op[:1], w.n), cols}
	switch op {
	case "feature", "vertex":
		args = append(args, cols)
	}
	s := x.name + " = " + op
	for _, a := range args {
		if o, ok := a.(operand); ok {
			a = o.name
		}
		s += fmt.Sprint(" ", a)
	}
	w.lines = append(w.lines, s)
	return x
}

func (w *writer) param(rows, cols int) operand { return w.line(cols, "param", rows, cols) }

// layer draws messages, gathers of them and what the vertices make of these. Messages may read rows of earlier layers.
func (w *writer) layer(x operand, earlier ...operand) operand {
	w.edges = []operand{w.line(x.cols, "src", x), w.line(x.cols, "dst", x)}
	if len(earlier) > 0 && w.int("earlier rows", 0, 2) > 0 {
		y := w.of("earlier", earlier)
		y = w.line(y.cols, []string{"src", "dst"}[w.int("end", 0, 1)], y)
		w.edges, w.earlier = append(w.edges, w.line(x.cols, "mul", w.edges[0], w.fit(y, x.cols))), true
	}
	switch w.int("edge values", 0, 5) {
	case 0:
		w.edges = append(w.edges, w.line(graphDataCols, "data", graphDataCols))
	case 1:
		w.edges = append(w.edges, w.line(1, "weight"))
	case 2:
		w.edges = append(w.edges, w.line(1, "normalize"))
	case 3:
		y := w.of("another", w.past)
		w.edges = append(w.edges, w.line(y.cols, "src", y))
	}
	for range w.int("edge ops", 0, 5) {
		w.edges = append(w.edges, w.edgeOp())
	}
	m := w.edges[len(w.edges)-1]
	y := w.gather(w.int("gather", 0, 11), m)
	for range w.pick("more gathers", 0, 0, 1, 2, 3) {
		if w.int("another message", 0, 3) == 0 {
			m = w.of("message", w.edges)
		} else {
			w.several = true
		}
		z := w.gather(w.int("gather", 0, 11), m)
		w.past = append(w.past, y, z)
		y = w.fit(w.line(y.cols+z.cols, "concat", y, z), w.pick("width", widths...))
	}
	w.past = append(w.past, y)
	for range w.int("vertex ops", 0, 4) {
		y = w.vertexOp(y)
		w.past = append(w.past, y)
	}
	return y
}

// fit makes x as wide as cols by whatever fits.
func (w *writer) fit(x operand, cols int) operand {
	switch {
	case x.cols == cols:
		return x
	case cols%x.cols == 0 && w.int("widen", 0, 2) > 0:
		return w.line(cols, "widen", x, cols)
	case x.cols%cols == 0 && w.int("group", 0, 2) > 0:
		return w.line(cols, "groupsum", x, cols)
	case x.cols < cols && w.int("pad", 0, 2) == 0:
		return w.line(cols, "pad", x, w.int("at", 0, cols-x.cols), cols)
	case x.cols > cols && w.int("slice", 0, 1) == 0:
		return w.line(cols, "slice", x, w.int("at", 0, x.cols-cols), cols)
	}
	return w.line(cols, "matmul", x, w.matrix(x.cols, cols))
}

// matrix draws a parameter, or something computed from parameters.
func (w *writer) matrix(rows, cols int) operand {
	p := w.param(rows, cols)
	switch w.int("matrix", 0, 11) {
	case 1:
		return w.line(cols, rapid.SampledFrom([]string{"tanh", "sigmoid", "neg", "softmax"}).Draw(w.t, "of parameters"), p)
	case 2:
		return w.line(cols, "mul", p, w.param(rows, cols))
	case 3:
		return w.line(cols, "matmul", w.param(rows, 3), w.param(3, cols))
	case 4:
		return w.line(cols, "matmultn", w.param(2, rows), w.param(2, cols))
	case 5:
		if rows == cols {
			return w.line(cols, "matmul", p, p)
		}
		return w.line(cols, "matmulnt", p, w.line(cols, "matmultn", p, p))
	}
	return p
}

// row draws a matrix of one row: a parameter, or a sum over all vertices.
func (w *writer) row(cols int) operand {
	if len(w.rows) > 0 && w.int("readout", 0, 1) == 0 {
		return w.fit(w.of("row", w.rows), cols)
	}
	return w.matrix(1, cols)
}

func (w *writer) edgeOp() operand {
	x := w.of("edge operand", w.edges)
	switch w.int("edge op", 0, 9) {
	case 4: // typed
		if w.typ == "" {
			w.typ = w.line(1, "type").name
		}
		if x.cols <= 4 && w.int("typed", 0, 1) == 0 {
			c := w.pick("width", widths...)
			return w.line(c, "matmultype", x, w.param(graphTypes*x.cols, c), w.typ, graphTypes)
		}
		y := w.fit(x, w.pick("blocks", 3, 6))
		return w.line(y.cols/graphTypes, "pick", y, w.typ, graphTypes)
	case 1:
		w.sites++
		return w.line(x.cols, "edgedropout", x, w.sites, 0.4)
	case 2: // keyed scatter
		y := w.of("vertex operand", w.past)
		if y.cols%graphTypes != 0 {
			y = w.fit(y, 6)
		}
		return w.line(y.cols/graphTypes, "srctype", y, graphTypes)
	case 3:
		y := w.of("vertex operand", w.past)
		return w.line(y.cols, []string{"src", "dst"}[w.int("end", 0, 1)], y)
	}
	return w.anyOp(x, w.edges)
}

func (w *writer) vertexOp(x operand) operand {
	switch w.int("vertex op", 0, 9) {
	case 4: // what vertices of one graph say together
		return w.line(x.cols, "pickrows", w.byGraph(x), w.line(1, "graph"))
	case 3:
		w.sites++
		return w.line(x.cols, "dropout", x, w.sites, 0.3)
	case 1:
		return w.line(x.cols, "rowscale", x, w.line(1, "sigmoid", w.line(1, "indegree")))
	case 5:
		y := w.line(2*sparseEntries, "sparserows")
		if w.int("dropped", 0, 1) == 1 {
			w.sites++
			y = w.line(y.cols, "sparsedropout", y, w.sites, 0.3)
		}
		return w.line(x.cols, "add", x, w.line(x.cols, "sparsematmul", y, w.param(sparseCols, x.cols)))
	case 2:
		y := w.of("readout of", w.past)
		w.rows = append(w.rows, w.line(y.cols, "tanh", w.line(y.cols, "scale", w.line(y.cols, "sumrows", y), 0.1)))
		return x
	}
	return w.anyOp(x, w.past)
}

// byGraph reads x out, a row for each of four graphs, and works on that.
func (w *writer) byGraph(x operand) operand {
	g := w.line(x.cols, rapid.SampledFrom([]string{"sumby", "maxby"}).Draw(w.t, "by"), x, w.line(1, "graph"), 4)
	if w.int("head", 0, 1) == 1 {
		g = w.line(x.cols, "add", w.line(x.cols, "matmul", g, w.param(x.cols, x.cols)), w.param(1, x.cols))
	}
	return w.line(x.cols, "tanh", g)
}

// anyOp draws an op that works on rows of any kind; other operands come from pool.
func (w *writer) anyOp(x operand, pool []operand) operand {
	switch w.int("op", 0, 8) {
	case 0, 1:
		op := rapid.SampledFrom([]string{"sigmoid", "tanh", "relu", "elu", "gelu", "softplus", "neg",
			"scale", "shift", "leaky"}).Draw(w.t, "unary")
		switch op {
		case "scale", "shift", "leaky":
			return w.line(x.cols, op, x, 0.5)
		}
		return w.line(x.cols, op, x)
	case 2, 3:
		y := w.fit(w.of("second operand", pool), x.cols)
		op := rapid.SampledFrom([]string{"add", "sub", "mul", "mul", "maximum", "div"}).Draw(w.t, "binary")
		if op == "div" {
			y = w.line(y.cols, "shift", w.line(y.cols, "sigmoid", y), 0.5)
		}
		if w.int("swap", 0, 1) == 1 && op != "div" {
			x, y = y, x
		}
		return w.line(x.cols, op, x, y)
	case 4:
		c := w.pick("width", widths...)
		if w.int("transposed", 0, 2) == 0 {
			return w.line(c, "matmulnt", x, w.matrix(c, x.cols))
		}
		return w.line(c, "matmul", x, w.matrix(x.cols, c))
	case 5:
		op := rapid.SampledFrom([]string{"add", "mul", "sub"}).Draw(w.t, "with a row")
		r := w.row(x.cols)
		if w.int("swap", 0, 1) == 1 {
			return w.line(x.cols, op, r, x)
		}
		return w.line(x.cols, op, x, r)
	case 6:
		y := w.of("second operand", pool)
		switch {
		case x.cols%y.cols == 0:
			return w.line(x.cols, "rowscale", x, y)
		case y.cols%x.cols == 0:
			return w.line(y.cols, "rowscale", y, x)
		}
		return w.line(1, "rowdot", x, w.fit(y, x.cols))
	case 7:
		return w.rowOp(x, pool)
	}
	return w.fit(x, w.pick("width", widths...))
}

// rowOp draws an op that needs whole rows.
func (w *writer) rowOp(x operand, pool []operand) operand {
	switch w.int("row op", 0, 5) {
	case 0:
		y := w.of("second operand", pool)
		return w.fit(w.line(x.cols+y.cols, "concat", x, y), w.pick("width", widths...))
	case 1:
		return w.line(x.cols, "softmax", x)
	case 2:
		return w.line(x.cols, "logsoftmax", x)
	case 3:
		return w.line(x.cols, "l2norm", x)
	case 4:
		return w.line(x.cols, "layernorm", x, 0.1)
	}
	return w.line(1, "rowsum", x)
}

func (w *writer) gather(kind int, m operand) operand {
	switch kind {
	case 8:
		return w.line(m.cols, "mean", m, w.inverse())
	case 10, 11: // the variance, or a deviation
		s := w.line(m.cols, "mean", m, w.inverse())
		v := w.line(m.cols, "sub", w.line(m.cols, "mean", w.line(m.cols, "mul", m, m), w.inverse()), w.line(m.cols, "mul", s, s))
		if kind == 11 {
			v = w.line(m.cols, "sqrt", w.line(m.cols, "shift", v, 0.5))
		}
		return v
	case 1:
		return w.line(m.cols, "max", m)
	case 2:
		return w.line(m.cols, "min", m)
	case 3:
		return w.line(m.cols, "lse", m)
	case 4:
		score := w.of("score", w.edges)
		if m.cols%score.cols != 0 {
			score = w.fit(score, 1)
		}
		return w.line(m.cols, "softmaxsum", score, m)
	case 5:
		k := w.int("k", 1, 3)
		return w.line(k*m.cols, "first", m, k)
	case 6:
		return w.line(m.cols, "sumsrc", m)
	case 7:
		return w.line(graphTypes*m.cols, "sumtype", m, graphTypes)
	}
	return w.line(m.cols, "sum", m)
}

// inverse is the vertex input that a mean divides by.
func (w *writer) inverse() operand {
	for _, l := range w.lines {
		if l == "inv = vertex 1" {
			return operand{"inv", 1}
		}
	}
	w.lines = append(w.lines, "inv = vertex 1")
	return operand{"inv", 1}
}

// loss ends the program with a number that depends on x, and a few results.
func (w *writer) loss(x operand) {
	var l operand
	switch w.int("loss", 0, 6) {
	case 5: // labels of graphs
		z := w.line(3, "matmul", w.byGraph(x), w.param(x.cols, 3))
		w.lines = append(w.lines, "labels = param 4 1", "mask = param 4 1")
		l = w.line(1, "sumrows", w.line(1, "xent", z, operand{"labels", 1}, operand{"mask", 1}))
	case 6: // labels of edges: the types
		z := w.line(3, "matmul", w.line(x.cols, "mul", w.line(x.cols, "src", x), w.line(x.cols, "dst", x)), w.param(x.cols, 3))
		l = w.line(1, "sumrows", w.line(1, "xent", z, w.line(1, "type"), w.line(1, "weight")))
	case 0:
		z := w.line(3, "matmul", x, w.param(x.cols, 3))
		w.lines = append(w.lines, "labels = vertex 1", "mask = vertex 1")
		l = w.line(1, "sumrows", w.line(1, "xent", z, operand{"labels", 1}, operand{"mask", 1}))
	case 1:
		l = w.line(1, "sumrows", w.line(1, "rowdot", x, w.line(x.cols, "vertex")))
	case 2: // over edges
		e := w.line(x.cols, "src", x)
		l = w.line(1, "sumrows", w.line(1, "rowdot", e, w.line(x.cols, "dst", x)))
	case 3: // the gradient of a row is the row itself
		y := w.fit(x, 1)
		l = w.line(1, "sumrows", w.line(1, "mul", y, w.row(1)))
	case 4: // a program over matrices after the last vertex
		g := w.line(x.cols, "sigmoid", w.line(x.cols, "sumrows", x))
		l = w.line(1, "matmul", g, w.param(x.cols, 1))
	}
	if w.int("another result", 0, 1) == 1 {
		w.lines = append(w.lines, "out "+w.of("result", w.past).name)
	}
	if len(w.rows) > 0 {
		w.lines = append(w.lines, "out "+w.rows[0].name)
	}
	w.lines = append(w.lines, "loss "+l.name)
}
