package ops

import (
	"math"
	"math/rand/v2"
	"testing"

	"sagann/dataflow"
	"sagann/kernel"
)

// An example of an op: operands, attributes, the shape of the result, how many of
// the operands have a gradient and, for element-wise ops, the formula.
type example struct {
	in    []leaf
	attr  attr
	want  string
	grads int
	ref   func(x ...float64) float64
	build func(x []*Node) *Node // nil: the op by itself; else a program that has it
}

// examplesOf gives an element-wise op of two operands in every way that row sets
// can meet.
func examplesOf(grads int, ref func(x ...float64) float64) []example {
	return []example{
		{in: []leaf{vertex(5), vertex(5)}, want: "[V×5]", grads: grads, ref: ref},
		{in: []leaf{edge(3), global(1, 3)}, want: "[E×3]", grads: grads, ref: ref},
		{in: []leaf{global(1, 4), vertex(4)}, want: "[V×4]", grads: grads, ref: ref},
		{in: []leaf{global(3, 4), global(3, 4)}, want: "[3×4]", grads: grads, ref: ref},
		{in: []leaf{global(3, 4), global(1, 4)}, want: "[3×4]", grads: grads, ref: ref},
		{in: []leaf{global(1, 4), global(3, 4)}, want: "[3×4]", grads: grads, ref: ref},
	}
}

func unary(x leaf, grads int, ref func(x ...float64) float64) []example {
	return []example{{in: []leaf{x}, want: x.String(), grads: grads, ref: ref}}
}

func one(e example) []example { return []example{e} }

func TestEveryOp(t *testing.T) {
	graph := multigraph(rand.New(rand.NewPCG(3, 3)), 4, 7)
	for _, op := range dataflow.Ops() {
		d := dataflow.DefOf(op)
		if d.Class == dataflow.Leaf || d.Class == dataflow.Move || d.Class == dataflow.View {
			continue // movements: gather_test.go; views: TestGoldenSampled (layers)
		}
		if d.Acc.ByType() {
			continue // sums by type: TestRandomPrograms (dataflow)
		}
		t.Run(string(op), func(t *testing.T) {
			if examples[op] == nil {
				t.Fatalf("op %q has no example in the table of this test", op)
			}
			for i, ex := range examples[op] {
				build := ex.build
				if build == nil {
					build = func(x []*Node) *Node { return dataflow.Apply(op, ex.attr, x...) }
				}
				p := newProgram(uint64(i)+11, graph, ex.in, build)
				if got := p.root.Shape().String(); got != ex.want {
					t.Errorf("example %d: shape %s, want %s", i, got, ex.want)
				}
				ex.checkValues(t, p)
				grads := 0
				for _, g := range p.checkGrad(t) {
					if g != nil {
						grads++
					}
				}
				if grads != ex.grads {
					t.Errorf("example %d: %d operands have gradients, want %d", i, grads, ex.grads)
				}
				if d.CPU != nil {
					checkRows(t, p)
				}
			}
			if d.Class == dataflow.Elem && d.CUDA == "" {
				t.Errorf("class %v, CUDA expression %q", d.Class, d.CUDA)
			}
		})
	}
}

// checkValues compares an element-wise result with the formula in float64.
func (ex *example) checkValues(t *testing.T, p *program) {
	t.Helper()
	if ex.ref == nil {
		return
	}
	for i, got := range p.run(p.root)[p.root] {
		var x []float64
		for _, l := range p.leaves {
			x = append(x, float64(p.value[l][i%len(p.value[l])])) // a spread row repeats
		}
		want := ex.ref(x...)
		if math.Abs(float64(got)-want) > 1e-6*math.Max(1, math.Abs(want)) {
			t.Errorf("value at %d of %v: %v, want %v", i, x, got, want)
		}
	}
}

// checkRows computes the result row by row, and expects the bits of all rows at once.
func checkRows(t *testing.T, p *program) {
	t.Helper()
	n, val := p.root, p.run(p.root)
	rows, w := p.rows(n.Shape()), n.Cols()
	row := make([]float32, w)
	for r := range rows {
		a := &kernel.Args{Rows: 1, Out: row, OutCols: w, I: n.Attr().I, J: n.Attr().J, F: n.Attr().F}
		for i := range n.NumIn() {
			x, c := n.In(i), n.In(i).Cols()
			if whole(n, x) {
				a.In, a.InCols, a.InRows = append(a.In, val[x]), append(a.InCols, c), append(a.InRows, x.Shape().Rows)
				continue
			}
			at := r
			if p.rows(x.Shape()) == 1 {
				at = 0
			}
			a.In = append(a.In, val[x][at*c:(at+1)*c])
			a.InCols, a.InRows = append(a.InCols, c), append(a.InRows, 0)
		}
		for i := range row {
			row[i] = float32(math.NaN()) // what the op leaves unwritten shows
		}
		n.Def().CPU(a)
		for c, got := range row {
			if want := val[n][r*w+c]; math.Float32bits(got) != math.Float32bits(want) {
				t.Errorf("row %d, column %d by itself: %v, among all rows: %v", r, c, got, want)
			}
		}
	}
}

// whole tells whether n, a row-wise op, sees all rows of its operand x at once.
func whole(n, x *Node) bool {
	return n.Def().Class == dataflow.Row && x.Shape().Set.Kind == dataflow.Global && n.Shape().Set.Kind != dataflow.Global
}
