package saga

import (
	"sagann/dataflow"
	"sagann/ops"
	"sagann/saga/rows"
)

// Sparse features. The rows of dataset.Data.Late.Sparse become a vertex tensor with twice as many columns
// as the longest row has entries: column numbers, then values (ops/sparse.go). It is stored and streamed
// like a dense tensor. Models may read sparse features only in products with weights. These products move to
// the features (dataflow.ByProducts), and a sparse row then selects rows of the weight.

// sparseProduct is x·w, where x is the features or their dropout.
func (p *definition) sparseProduct(x, w Tensor) Tensor {
	rows := x.Graph().Leaf(dataflow.InputOp, rows.Sparse, dataflow.Shape{Set: x.Shape().Set, Cols: p.in.Width(rows.Sparse)})
	if x.Op() == dataflow.DropoutOp {
		rows = ops.SparseDropout(rows, x.Attr().F, int(x.Attr().I), x.In(2), x.In(1))
	}
	return ops.SparseMatMul(rows, w)
}
