package saga

import (
	"errors"

	"sagann/dataflow"
	"sagann/dataset"
	"sagann/ops"
	"sagann/saga/rows"
)

// Sparse features. The rows of dataset.Data.Late.Sparse become a vertex tensor with twice as many columns
// as the longest row has entries: column numbers, then values (ops/sparse.go). It is stored and streamed
// like a dense tensor. Models may read sparse features only in products with weights. These products move to
// the features (dataflow.ByProducts), and a sparse row then selects rows of the weight.

// describeSparse makes d's features a sparse input if they are sparse and the model reads them.
func (p *Program) describeSparse(d *dataset.Data) error {
	if d.Features != nil || d.Late.Sparse == nil || p.model.Embedding > 0 {
		return nil
	}
	if p.dims.featureGrad {
		return errors.New("saga: there is no gradient of sparse features; Data.HoldFeatures makes them dense")
	}
	p.dims.sparse = true
	p.in.MakeSparse()
	return nil
}

// sparseProduct is x·w, where x is the features or their dropout.
func (p *Program) sparseProduct(x, w Tensor) Tensor {
	rows := x.Graph().Leaf(dataflow.InputOp, rows.Sparse, dataflow.Shape{Set: x.Shape().Set, Cols: p.in.Width(rows.Sparse)})
	if x.Op() == dataflow.DropoutOp {
		rows = ops.SparseDropout(rows, x.Attr().F, int(x.Attr().I), x.In(2), x.In(1))
	}
	return ops.SparseMatMul(rows, w)
}
