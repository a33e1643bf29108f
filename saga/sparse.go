package saga

import (
	"errors"
	"math"

	"sagann/dataflow"
	"sagann/dataset"
	"sagann/kernel"
	"sagann/ops"
)

// Sparse features. The rows of dataset.Data.Late.Sparse become a vertex tensor with twice as many columns
// as the longest row has entries: column numbers, then values (ops/sparse.go). It is stored and streamed
// like a dense tensor. Models may read sparse features only in products with weights. These products move to
// the features (dataflow.ByProducts), and a sparse row then selects rows of the weight.

// sparseInput is the name of this vertex input.
const sparseInput = "features:sparse"

// describeSparse makes d's features a sparse input if they are sparse and the model reads them.
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

// sparseRow writes the sparse row of vertex v to to.
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

// sparseProduct is x·w, where x is the features or their dropout.
func (p *Program) sparseProduct(x, w Tensor) Tensor {
	rows := x.Graph().Leaf(dataflow.InputOp, sparseInput, dataflow.Shape{Set: x.Shape().Set, Cols: p.in.width(sparseInput)})
	if x.Op() == dataflow.DropoutOp {
		rows = ops.SparseDropout(rows, x.Attr().F, int(x.Attr().I), x.In(2), x.In(1))
	}
	return ops.SparseMatMul(rows, w)
}

// sparseParts are the bytes of sparse features, for the checksum; nil: the features are dense, or there are none.
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
