package eval

import (
	"fmt"
	"math"

	"sagann/dataflow"
)

// move computes a scatter or a gather.
func (e *run) move(n *node) []float32 {
	x, a := e.val[n.In(0)], n.Attr()
	switch n.Op() {
	case dataflow.ScatterSrcOp:
		return e.scatter(x, e.g.Src, n.Cols(), a)
	case dataflow.ScatterDstOp:
		return e.scatter(x, e.g.Dst, n.Cols(), a)
	case dataflow.GatherSrcOp:
		return e.gather(x, e.g.Src, e.rows(n.Shape()), n.In(0).Cols(), a)
	case dataflow.GatherDstOp:
		return e.gather(x, e.g.Dst, e.rows(n.Shape()), n.In(0).Cols(), a)
	case dataflow.GatherMaxOp:
		top, _ := e.max(x, n.Cols())
		return top
	case dataflow.ArgMaxOp:
		_, arg := e.max(x, n.Cols())
		return arg
	case dataflow.GatherExpOp:
		return e.sumExp(x, n.Cols())
	case dataflow.TopOp:
		top, _ := e.max(x, n.Cols())
		return top
	}
	panic(fmt.Sprintf("eval: unknown movement %q", n.Op()))
}

// block returns the number of blocks of a vertex row and the block that edge k uses; ok is false
// if it uses none.
func (e *run) block(a dataflow.Attr, k int) (blocks, b int, ok bool) {
	switch a.S {
	case "":
		return 1, 0, true
	case "rank":
		b = e.rank[k]
	case "type":
		b = int(e.g.Type[k])
	default:
		panic(fmt.Sprintf("eval: unknown key %q", a.S))
	}
	return int(a.I), b, b < int(a.I)
}

// scatter copies, for every edge, c columns of row end[edge] of x.
func (e *run) scatter(x []float32, end []uint32, c int, a dataflow.Attr) []float32 {
	out := make([]float32, len(end)*c)
	for k, v := range end {
		if blocks, b, ok := e.block(a, k); ok {
			copy(out[k*c:(k+1)*c], x[(int(v)*blocks+b)*c:])
		}
	}
	return out
}

// gather adds the c columns of every edge into row end[edge] of rows.
func (e *run) gather(x []float32, end []uint32, rows, c int, a dataflow.Attr) []float32 {
	blocks := 1
	if a.S != "" {
		blocks = int(a.I)
	}
	sum := make([]float64, rows*blocks*c)
	for k, v := range end {
		if _, b, ok := e.block(a, k); ok {
			for f := range c {
				sum[(int(v)*blocks+b)*c+f] += float64(x[k*c+f])
			}
		}
	}
	return narrow(sum)
}

// max is the maximum over the in-edges, NaN if an edge has NaN, and the lowest rank of the
// edges that have it. Edges of a block need not be in order of rank.
func (e *run) max(x []float32, c int) (top, arg []float32) {
	top, arg = make([]float32, e.g.V*c), make([]float32, e.g.V*c)
	first := make([]bool, e.g.V) // whether an edge was seen
	for k, v := range e.g.Dst {
		fresh := !first[v]
		first[v] = true
		for f := range c {
			at := int(v)*c + f
			if y := x[k*c+f]; fresh || y > top[at] || y == top[at] && float32(e.rank[k]) < arg[at] || y != y && top[at] == top[at] {
				top[at], arg[at] = y, float32(e.rank[k])
			}
		}
	}
	return top, arg
}

// sumExp is Σ exp(x - max) over the in-edges, 1 without any.
func (e *run) sumExp(x []float32, c int) []float32 {
	top, _ := e.max(x, c)
	sum := make([]float64, e.g.V*c)
	for k, v := range e.g.Dst {
		for f := range c {
			at := int(v)*c + f
			if x[k*c+f] == top[at] { // also if both are infinite
				sum[at]++
			} else {
				sum[at] += math.Exp(float64(x[k*c+f]) - float64(top[at]))
			}
		}
	}
	for i, s := range sum {
		if s == 0 {
			sum[i] = 1
		}
	}
	return narrow(sum)
}

func narrow(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}
