package eval

import (
	"fmt"
	"math"

	"sagann/kernel"
)

// matmul is x·w, or x·wᵀ when transposed.
func (e *run) matmul(n *node, transposed bool) []float32 {
	x, w := e.val[n.In(0)], e.val[n.In(1)]
	k, c := n.In(0).Cols(), n.Cols()
	out := make([]float64, e.rows(n.Shape())*c)
	for i := range out {
		r, j := i/c, i%c
		for l := range k {
			if transposed {
				out[i] += float64(x[r*k+l]) * float64(w[j*k+l])
			} else {
				out[i] += float64(x[r*k+l]) * float64(w[l*c+j])
			}
		}
	}
	return narrow(out)
}

// sparseTN is xᵀ·dy of sparse rows x, the second operand.
func (e *run) sparseTN(n *node) []float32 {
	dy, x, c, k := e.val[n.In(0)], e.val[n.In(1)], n.Cols(), n.In(1).Cols()
	out, ids := make([]float64, n.Shape().Rows*c), make([]uint32, k/2)
	for r := range e.rows(n.In(1).Shape()) {
		row := x[r*k : (r+1)*k]
		for j, id := range ids[:kernel.SparseRow(row, ids)] {
			for i := range c {
				out[int(id)*c+i] += float64(row[k/2+j]) * float64(dy[r*c+i])
			}
		}
	}
	return narrow(out)
}

// byKey sums rows by key, or takes their maxima, as ordered bit patterns.
func (e *run) byKey(n *node) []float32 {
	x, key, c := e.val[n.In(0)], e.val[n.In(1)], n.Cols()
	sum, top := make([]float64, n.Shape().Rows*c), make([]uint32, n.Shape().Rows*c)
	for i, v := range x {
		k := key[i/c]
		if k < 0 || k >= float32(n.Shape().Rows) || k != float32(int(k)) {
			continue
		}
		at := int(k)*c + i%c
		sum[at] += float64(v)
		top[at] = max(top[at], kernel.Ordered(v))
	}
	out := narrow(sum)
	if n.Def().Acc == kernel.MaxBy {
		for i, b := range top {
			out[i] = math.Float32frombits(b)
		}
	}
	return out
}

// reduce sums over rows: xᵀ·y, or the rows themselves.
func (e *run) reduce(n *node) []float32 {
	x, a := e.val[n.In(0)], n.In(0).Cols()
	switch n.Def().Acc {
	case kernel.SumTN:
		y, b := e.val[n.In(1)], n.In(1).Cols()
		out := make([]float64, a*b)
		for r := range e.rows(n.In(0).Shape()) {
			for i := range out {
				out[i] += float64(x[r*a+i/b]) * float64(y[r*b+i%b])
			}
		}
		return narrow(out)
	case kernel.SumRows:
		out := make([]float64, a)
		for i, v := range x {
			out[i%a] += float64(v)
		}
		return narrow(out)
	}
	if n.Def().Acc == kernel.SumSparse {
		return e.sparseTN(n)
	}
	if n.Def().Acc.KeyedRows() {
		return e.byKey(n)
	}
	panic(fmt.Sprintf("eval: unknown reduction %q", n.Op()))
}
