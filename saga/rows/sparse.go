package rows

import (
	"math"

	"sagann/dataset"
	"sagann/device"
	"sagann/kernel"
)

// MakeSparse defines the input Sparse, if the features of the data are sparse: a row has twice as many columns as the
// longest row of dataset.SparseRows has entries, column numbers and then values (ops/sparse.go).
func (in *Inputs) MakeSparse() {
	s := in.Data.Late.Sparse
	in.Make(Sparse, 2*max(1, s.Longest()), func() Source {
		return Source{Row: func(v int, to []float32) { sparseRow(s, v, to) }}
	})
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

// sparseParts are the bytes of sparse features, for the checksum; nil: the features are dense, or there are none.
func (in *Inputs) sparseParts() [][]byte {
	d := in.Data
	if d.Features != nil || d.Late.Sparse == nil {
		return nil
	}
	ends := make([]uint32, 0, 2*len(d.Late.Sparse.Ptr))
	for _, n := range d.Late.Sparse.Ptr {
		ends = append(ends, uint32(n), uint32(n>>32))
	}
	return [][]byte{device.Bytes(ends), device.Bytes(d.Late.Sparse.Cols), device.Bytes(d.Late.Sparse.Vals)}
}
