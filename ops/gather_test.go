package ops

import (
	"math"
	"math/rand/v2"
	"testing"

	"sagann/dataflow"
	"sagann/kernel"
)

func TestGatherGradients(t *testing.T) {
	src, dst := dataflow.ScatterSrc, dataflow.ScatterDst
	inverse := vertex(1).positive()
	for _, tc := range []struct {
		name  string
		in    []leaf
		build func(x []*Node) *Node
		want  string
	}{
		{"sum", []leaf{vertex(4)}, func(x []*Node) *Node { return Sum(src(x[0])) }, "[V×4]"},
		{"sum at sources", []leaf{vertex(4)}, func(x []*Node) *Node { return dataflow.GatherSrc(dst(x[0])) }, "[V×4]"},
		{"mean", []leaf{edge(4), inverse}, func(x []*Node) *Node { return Mean(x[0], x[1]) }, "[V×4]"},
		{"max", []leaf{edge(4)}, func(x []*Node) *Node { return Max(x[0]) }, "[V×4]"},
		{"max of sources", []leaf{vertex(4), vertex(4)}, func(x []*Node) *Node { return Max(Add(src(x[0]), dst(x[1]))) }, "[V×4]"},
		{"min", []leaf{edge(4)}, func(x []*Node) *Node { return Min(x[0]) }, "[V×4]"},
		{"concat", []leaf{edge(2)}, func(x []*Node) *Node { return ConcatFirst(x[0], 3) }, "[V×6]"},
		{"lse", []leaf{edge(2)}, func(x []*Node) *Node { return LSE(x[0]) }, "[V×2]"},
		{"softmax-sum", []leaf{edge(1), edge(4)}, func(x []*Node) *Node { return SoftmaxSum(x[0], x[1]) }, "[V×4]"},
		{"softmax-sum, heads", []leaf{edge(2), edge(6)}, func(x []*Node) *Node { return SoftmaxSum(x[0], x[1]) }, "[V×6]"},
		{"scatter by type", []leaf{vertex(6)}, func(x []*Node) *Node {
			return Square(dataflow.Keyed(dataflow.ScatterSrcOp, "type", 3, x[0]))
		}, "[E×2]"},
		{"gather by type", []leaf{edge(2)}, func(x []*Node) *Node {
			return dataflow.Keyed(dataflow.GatherDstOp, "type", 3, x[0])
		}, "[V×6]"},
		{"gather by rank at sources", []leaf{edge(2)}, func(x []*Node) *Node {
			return dataflow.Keyed(dataflow.GatherSrcOp, "rank", 2, x[0])
		}, "[V×4]"},
		{"product by type", []leaf{vertex(2), global(6, 4)}, func(x []*Node) *Node {
			typ := x[0].Graph().Leaf(dataflow.InputOp, "edge:type", shape{Set: dataflow.E0, Cols: 1})
			return Sum(MatMulByType(src(x[0]), x[1], typ, 3))
		}, "[V×4]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for seed := range uint64(3) {
				graph := multigraph(rand.New(rand.NewPCG(seed, 5)), 7, 18)
				p := newProgram(seed, graph, tc.in, tc.build)
				if got := p.root.Shape().String(); got != tc.want {
					t.Errorf("shape %s, want %s", got, tc.want)
				}
				for i, d := range p.checkGrad(t) {
					if d == nil && tc.in[i].String() != inverse.String() {
						t.Errorf("operand %d has no gradient", i)
					}
				}
			}
		})
	}
}

// Where several edges hold the maximum, the whole gradient goes to the first.
func TestMaxTie(t *testing.T) {
	graph := multigraph(rand.New(rand.NewPCG(1, 5)), 5, 12)
	ones := leaf{shape{Set: dataflow.E0, Cols: 2}, func(_ *rand.Rand, n int) []float32 { return fill(n, 1) }}
	p := newProgram(1, graph, []leaf{ones}, func(x []*Node) *Node { return Max(x[0]) })
	seed := p.root.Graph().Leaf(dataflow.InputOp, "seed", p.root.Shape())
	p.value[seed] = fill(graph.V*2, 1)
	d := dataflow.Grad(p.root, seed, p.leaves)[0]
	seen := map[uint32]bool{}
	for e, got := range p.run(d)[d] {
		v := graph.Dst[e/2]
		want := when(seen[v], 0, 1)
		if float64(got) != want {
			t.Errorf("edge %d to %d: gradient %v, want %v", e/2, v, got, want)
		}
		seen[v] = seen[v] || e%2 == 1
	}
}

// The weights of a softmax-sum add up to one to the last digits, and its scores may be large.
func TestSoftmaxSumWeights(t *testing.T) {
	graph := multigraph(rand.New(rand.NewPCG(2, 5)), 6, 14)
	large := leaf{shape{Set: dataflow.E0, Cols: 2}, func(r *rand.Rand, n int) []float32 {
		v := lattice(r, n)
		for i := range v {
			v[i] *= 5e6
		}
		return v
	}}
	ones := leaf{shape{Set: dataflow.E0, Cols: 4}, func(_ *rand.Rand, n int) []float32 { return fill(n, 1) }}
	p := newProgram(1, graph, []leaf{large, ones}, func(x []*Node) *Node { return SoftmaxSum(x[0], x[1]) })
	in := map[int]bool{}
	for _, d := range graph.Dst {
		in[int(d)] = true
	}
	for i, got := range p.run(p.root)[p.root] {
		if want := when(in[i/4], 1, 0); math.Abs(float64(got)-want) > 1e-6 {
			t.Errorf("vertex %d: weights sum to %v, want %v", i/4, got, want)
		}
	}
}

func TestGathersDeclareTheirAccumulator(t *testing.T) {
	for op, acc := range map[Op]kernel.Acc{
		dataflow.GatherMaxOp: kernel.Max, dataflow.ArgMaxOp: kernel.Max, dataflow.GatherExpOp: kernel.SumExp, dataflow.TopOp: kernel.SumExp,
		sumRows: kernel.SumRows, matmulTN: kernel.SumTN,
	} {
		if got := dataflow.DefOf(op).Acc; got != acc {
			t.Errorf("%s accumulates by %v, want %v", op, got, acc)
		}
	}
}

func fill(n int, v float32) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = v
	}
	return out
}
