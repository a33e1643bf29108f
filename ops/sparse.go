package ops

import (
	"fmt"
	"math"

	"sagann/dataflow"
	"sagann/internal/simd"
	"sagann/kernel"
)

// Sparse rows are rows of 2k numbers, for at most k entries. First come the columns of the entries, as bit
// patterns, ascending and padded with kernel.NoColumn; then come their values. So sparse rows are ordinary
// vertex tensors.

// SparseMatMul returns x·w for sparse rows x [S×2k] and the Global w [c×o]: [S×o], a sum of rows of
// w, each times a value. All columns in x must be below c; that is not checked.
func SparseMatMul(x, w *Node) *Node { return apply(sparseMatmul, x, w) }

const sparseMatmul Op = "sparse_matmul"

var _ = define(sparseMatmul, Def{Class: dataflow.Row, Role: kernel.SparseMatMul,
	Shape: func(_ attr, in []shape) (shape, error) {
		x, w := in[0], in[1]
		if err := matrix(w); err != nil {
			return x, err
		}
		return shape{Set: x.Set, Rows: x.Rows, Cols: w.Cols}, sparse(x)
	},
	VJP: func(n, dy *Node) []*Node {
		x, w := n.In(0), n.In(1)
		return []*Node{nil, applyI(sparseMatmulTN, w.Shape().Rows, dy, x)}
	},
	CPU: sparseProduct})

// sparseProduct ends its chains of float32 sums at the same terms as kernel/cpu/long_sums.go.
func sparseProduct(a *Args) {
	const chainTerms = 128
	k := a.InCols[0] / 2
	ids, part := make([]uint32, k), make([]float32, a.OutCols)
	var wide []float64
	clear(a.Out)
	for r := range a.Rows {
		row, out := inRow(a, 0, r), outRow(a, r)
		n := kernel.SparseRow(row, ids)
		values := row[k : k+n]
		if n <= chainTerms {
			simd.GatherWSum(out, a.In[1], a.OutCols, ids[:n:n], values)
			continue
		}
		wide = append(wide[:0], make([]float64, a.OutCols)...)
		for lo := 0; lo < n; lo += chainTerms {
			hi := min(n, lo+chainTerms)
			clear(part)
			simd.GatherWSum(part, a.In[1], a.OutCols, ids[lo:hi:hi], values[lo:hi])
			for c, v := range part {
				wide[c] += float64(v)
			}
		}
		for c, v := range wide {
			out[c] = float32(v)
		}
	}
}

// xᵀ·dy of sparse rows x: a Global of Attr.I rows. Operands dy, x.
const sparseMatmulTN Op = "sparse_matmul_tn"

var _ = define(sparseMatmulTN, Def{Class: dataflow.Reduce, Acc: kernel.SumSparse,
	Shape: func(a attr, in []shape) (shape, error) {
		if a.I < 1 {
			return in[0], fmt.Errorf("%d rows", a.I)
		}
		if err := sparse(in[1]); err != nil {
			return in[0], err
		}
		return shape{Rows: int(a.I), Cols: in[0].Cols}, alike(in)
	}})

// SparseDropout is Dropout of sparse rows x. It keeps the same entries as Dropout of the dense rows.
func SparseDropout(x *Node, p float32, site int, id, step *Node) *Node {
	return dataflow.Apply(sparseDropout, attr{F: p, I: int32(site)}, x, step, id)
}

const sparseDropout Op = "sparse_dropout" // x, step, id

var _ = define(sparseDropout, Def{Class: dataflow.Group, Role: kernel.SparseDrop, Effect: true, Exact: true,
	Shape: func(a attr, in []shape) (shape, error) {
		if err := sparse(in[0]); err != nil {
			return in[0], err
		}
		return dropoutShape(a, in)
	},
	CPU: func(a *Args) {
		if a.Rows == 0 {
			return
		}
		strip, drop, keep := dropping(a, a.In[1])
		k := a.OutCols / 2
		for r := range a.Rows {
			row, out := inRow(a, 0, r), outRow(a, r)
			state := strip.absorbBits(a.In[2][r]).absorb(0)
			copy(out, row)
			for j, c := range row[:k] {
				if math.Float32bits(c) == kernel.NoColumn {
					break
				}
				dropRow(out[k+j:k+j+1], row[k+j:], state, math.Float32bits(c), drop, keep)
			}
		}
	}})

// sparse returns an error unless x can be sparse rows.
func sparse(x shape) error {
	if x.Set.Kind == dataflow.Global || x.Cols < 2 || x.Cols%2 != 0 {
		return fmt.Errorf("%v is no tensor of sparse rows", x)
	}
	return nil
}
