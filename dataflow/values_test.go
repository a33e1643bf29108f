package dataflow_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/internal/eval"
	"sagann/kernel"
)

type random struct{ *rand.Rand }

func newRandom(seed uint64, name string) random {
	h := fnv.New64a()
	h.Write([]byte(name))
	return random{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

func drawSeed(t *rapid.T, label string) uint64 { return rapid.Uint64Range(0, 1<<16).Draw(t, label) }

// number is a number of (-1, 1).
func (r random) number() float32 { return float32(2*r.Float64() - 1) }

// values gives every leaf of a program its numbers, in user order. They are a
// function of the seed and of the leaf's name.
type values struct {
	g    *chunk.Edges
	seed uint64
	off  uint64 // not 0: seed of relative errors of up to 1e-5 in every number

	alike  bool // equal numbers on edges have equal errors
	dyadic bool // all numbers have few bits
}

func (v values) of(name string, s dataflow.Shape) []float32 {
	in, out := degrees(v.g)
	each := func(f func(i int) float32) []float32 {
		x := make([]float32, v.g.V)
		for i := range x {
			x[i] = f(i)
		}
		return x
	}
	switch name {
	case dataflow.InDegree:
		return in
	case dataflow.OutDegree:
		return out
	case dataflow.IDInput:
		return each(func(i int) float32 { return math.Float32frombits(uint32(i)) })
	case dataflow.StepInput:
		return []float32{math.Float32frombits(uint32(v.seed)), 0, math.Float32frombits(3), 0}
	case "vertex:rsqrtdegree":
		return each(func(i int) float32 {
			if in[i] == 0 {
				return 0
			}
			return float32(1 / math.Sqrt(float64(in[i])))
		})
	case "rate":
		return []float32{0.1, 0, 0, 0}
	case "inv": // 1/max(in-degree, 1), what a mean divides by
		return each(func(i int) float32 { return 1 / max(in[i], 1) })
	}
	r, rows := newRandom(v.seed, name), s.Rows
	if s.Set.Kind == dataflow.Vertex {
		rows = v.g.V
	}
	x := make([]float32, rows*s.Cols)
	if strings.HasPrefix(name, "sparse:") {
		for row := range slices.Chunk(x, s.Cols) {
			r.sparse(row, v.dyadic)
		}
		return x
	}
	for i := range x {
		if x[i] = r.number(); v.dyadic {
			x[i] = r.dyadic()
		}
		if name == "labels" {
			x[i] = float32(r.IntN(3))
		} else if name == "graph" { // of four; some belong to none
			x[i] = float32(r.IntN(6) - 1)
		} else if v.off != 0 {
			x[i] *= 1 + 1e-5*newRandom(v.off+uint64(i), name).number()
		}
	}
	return x
}

// moved are the ops whose results noise changes beside the leaves: both ends of an edge that
// are one vertex, and sums that cancel each other, must not move alike.
var moved = []dataflow.Op{dataflow.ScatterSrcOp, dataflow.ScatterDstOp, dataflow.GatherSrcOp, dataflow.GatherDstOp}

// Sparse rows have at most sparseEntries entries in sparseCols columns.
const sparseEntries, sparseCols = 3, 5

func (r random) sparse(row []float32, dyadic bool) {
	list, n := r.Perm(sparseCols), r.IntN(sparseEntries+1)
	for j := range sparseEntries {
		row[j] = math.Float32frombits(kernel.NoColumn)
		if j >= n {
			continue
		}
		row[j] = math.Float32frombits(uint32(list[j]))
		if row[sparseEntries+j] = r.number(); dyadic {
			row[sparseEntries+j] = r.dyadic()
		}
	}
}

// blur changes the numbers x of n if its op is one of moved.
func (v values) blur(n *node, x []float32) {
	if v.off == 0 || !slices.Contains(moved, n.Op()) {
		return
	}
	name, edges := fmt.Sprint(n.Op(), len(x)), n.Shape().Set.Kind == dataflow.Edge
	for i, y := range x {
		k := uint64(i)
		if v.alike && edges {
			k = uint64(math.Float32bits(y))
		}
		x[i] *= 1 + 1e-5*newRandom(v.off+k, name).number()
	}
}

// noise is how far the results of p move when its leaves, what edges see of them and sums
// over edges are off by as much as a sum over a hub is. Where a sum cancels almost to nothing, that
// is far; where it chooses a branch of an op, it is notCompared.
func noise(p *program, v values, want map[string][]float32, all map[*node][]float32) map[string]float64 {
	return p.drift(want, all, func(*node) *chunk.Edges { return v.g }, func(off uint64, alike bool) (map[string][]float32, map[*node][]float32) {
		v.off, v.alike = off, alike
		return oracle(p, v)
	})
}

// oracle computes the results and gradients of p on whole tensors, in the plainest
// way there is. Beside them it returns every value on the way.
func oracle(p *program, v values) (results map[string][]float32, all map[*node][]float32) {
	nodes := append([]*node{}, p.outs...)
	names := append([]string{}, p.names...)
	if p.loss >= 0 {
		for i, d := range dataflow.Grad(p.outs[p.loss], p.g.Const(1), p.wrt) {
			switch w := p.wrt[i]; {
			case d == nil:
			case p.learn && w.Shape().Set.Kind == dataflow.Vertex:
				for _, x := range p.next(w, d) {
					nodes, names = append(nodes, x.Rows), append(names, "next:"+x.Of.Attr().S)
				}
			default:
				nodes, names = append(nodes, d), append(names, "grad:"+w.Attr().S)
			}
		}
	}
	all = eval.RunWith(nodes, func(n *node) []float32 { return v.of(n.Attr().S, n.Shape()) }, v.g, v.blur)
	results = map[string][]float32{}
	for i, n := range nodes {
		results[names[i]] = all[n]
	}
	return results, all
}

// largest is the largest magnitude of x; not a number is infinite.
func largest(x []float32) float64 {
	m := 0.0
	for _, y := range x {
		a := math.Abs(float64(y))
		if a != a {
			return math.Inf(1)
		}
		m = max(m, a)
	}
	return m
}

// kinkMargin keeps values away from where an op is not smooth: rounding, which
// differs between ways of computing the same thing, must not choose another branch.
const kinkMargin = 2e-4

// tame tells whether the values of a program allow a comparison to a few digits:
// nothing is huge, and nothing stands close to a kink without standing on it.
func tame(all map[*node][]float32, g *chunk.Edges) bool {
	for n, x := range all {
		if largest(x) > 1e4 {
			return false
		}
		ok := true
		switch n.Op() {
		case dataflow.GatherExpOp: // the rounding of a score is a relative error
			ok = largest(all[n.In(0)]) < 30
		case "l2_normalize":
			ok = normed(all[n.In(0)], n.Cols(), g)
		default:
			ok = clear0(choices(n, all, g))
		}
		if !ok {
			return false
		}
	}
	return true
}

// normed tells whether no row is so short that rounding gives it another direction. A
// row of zeros does only where there is nothing to add up, at a vertex without in-edges
// or out-edges: terms that cancel leave their rounding.
func normed(x []float32, cols int, g *chunk.Edges) bool {
	in, out := degrees(g)
	for at := 0; at < len(x); at += cols {
		v := at / cols
		nothing := len(x) == g.V*cols && (in[v] == 0 || out[v] == 0)
		if n := largest(x[at : at+cols]); n < 1e-2 && !(n == 0 && nothing) {
			return false
		}
	}
	return true
}
