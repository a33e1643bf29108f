package saga

import (
	"errors"
	"math"

	"sagann/dataflow"
	"sagann/dataset"
	"sagann/kernel"
	"sagann/ops"
)

// Sparse features. Rows of dataset.Data.Late.Sparse are a vertex tensor of twice as many columns as the
// longest row has entries: columns, then values (ops/sparse.go). They lie, stream and stay like
// dense ones. Models read them by products with weights only; those move to the features
// (dataflow.ByProducts), whose rows then pick rows of the weights.

// sparseInput is the vertex input of such rows.
const sparseInput = "features:sparse"

// describeSparse makes sparse features an input, where d's are and the model reads them.
func (p *Program) describeSparse(d *dataset.Data) error {
	if d.Features != nil || d.Late.Sparse == nil || p.model.Embedding > 0 {
		return nil
	}
	if p.dims.featureGrad {
		return errors.New("saga: there is no gradient of sparse features; Data.HoldFeatures makes them dense")
	}
	p.dims.sparse = true
	k := max(1, d.Late.Sparse.Longest())
	p.in.makes(sparseInput, 2*k, func() source {
		return source{row: func(v int, to []float32) { sparseRow(d.Late.Sparse, v, to) }}
	})
	return nil
}

// sparseRow writes the row of vertex v.
func sparseRow(s *dataset.SparseRows, v int, to []float32) {
	ids, x := s.Row(v)
	k := len(to) / 2
	clear(to[k:])
	for j := range k {
		to[j] = math.Float32frombits(kernel.NoColumn)
		if j < len(ids) {
			to[j], to[k+j] = math.Float32frombits(ids[j]), x[j]
		}
	}
}

// sparseProduct is x·w, x being the features or the features with entries dropped.
func (p *Program) sparseProduct(x, w Tensor) Tensor {
	rows := x.Graph().Leaf(dataflow.InputOp, sparseInput, dataflow.Shape{Set: x.Shape().Set, Cols: p.in.width(sparseInput)})
	if x.Op() == dataflow.DropoutOp {
		rows = ops.SparseDropout(rows, x.Attr().F, int(x.Attr().I), x.In(2), x.In(1))
	}
	return ops.SparseMatMul(rows, w)
}

// sparseParts are the bytes of sparse features; nil: they are dense, or there are none.
func (in *inputs) sparseParts() [][]byte {
	d := in.data
	if d.Features != nil || d.Late.Sparse == nil {
		return nil
	}
	ends := make([]uint32, 0, 2*len(d.Late.Sparse.Ptr))
	for _, n := range d.Late.Sparse.Ptr {
		ends = append(ends, uint32(n), uint32(n>>32))
	}
	return [][]byte{wordsOf(ends), wordsOf(d.Late.Sparse.Cols), bytesOf(d.Late.Sparse.Vals)}
}
