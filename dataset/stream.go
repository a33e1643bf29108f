package dataset

import (
	"cmp"
	"fmt"

	"sagann/chunk"
)

// Stream is a graph whose edges and features are read in pieces, so that a graph larger
// than memory can be converted. It holds a few bytes for each vertex.
type Stream struct {
	// Data has everything but the edges and features. Of Edges only V, Types and DataCols are set, and
	// FeatureCols is set.
	Data     *Data
	E        int  // number of edges
	Weighted bool // edges have weights
	Timed    bool // edges have times

	// EachEdges calls fn for pieces of the edges, in order.
	EachEdges func(fn func(*chunk.Edges) error) error
	// EachRows calls fn for pieces of the rows of features, in order,
	// row-major; nil without features.
	EachRows func(fn func(rows []float32) error) error

	// allRows, unless nil, reads all features at once, without copying pieces.
	allRows func() ([]float32, error)

	kept *SparseRows // features that come as a sparse matrix, from which EachRows makes dense rows; nil: none
	from string      // the file of kept, for errors

	late func(row func(v int) []float32) // what makes features that are not in memory (LateFeatures.Make); nil: nothing

	// counted says that E and the number of rows of features were checked against the size of the
	// file, so that memory may be allocated for them.
	counted bool
}

// pieceValues is about how many numbers a piece of edges or features has; as float32 they are
// 1 MiB.
const pieceValues = 1 << 18

// streamOf is the Stream of d, which is in memory. It has one piece.
func streamOf(d *Data) *Stream {
	rest := *d
	rest.Edges = &chunk.Edges{V: d.Edges.V, Types: d.Edges.Types, DataCols: d.Edges.DataCols}
	rest.Features, rest.Late = nil, LateFeatures{}
	s := &Stream{kept: d.Late.Sparse, Data: &rest, E: d.Edges.E(), Weighted: d.Edges.Weight != nil, Timed: d.Edges.Time != nil, counted: true}
	s.EachEdges = func(fn func(*chunk.Edges) error) error { return fn(d.Edges) }
	switch {
	case d.FeatureCols > 0 && d.Features == nil && s.kept != nil:
		s.EachRows = func(fn func([]float32) error) error { return s.kept.eachRows(d.FeatureCols, fn) }
	case d.FeatureCols > 0:
		if d.Features == nil {
			s.late = d.Late.Make
		}
		s.EachRows = func(fn func([]float32) error) error {
			d.HoldFeatures()
			return fn(d.Features)
		}
	}
	return s
}

// record is the schema of the data.
func (s *Stream) record() *Schema {
	r := s.Data.Record()
	r.Edges.Weighted, r.Features.Sparse = s.Weighted, s.sparseRows() != nil
	return r
}

// sparseRows is the features as sparse rows, if they came as a sparse matrix that takes less memory than
// dense rows; otherwise nil.
func (s *Stream) sparseRows() *SparseRows {
	d, rows := s.Data, s.kept
	if rows == nil || 8*int64(len(rows.Cols))+4*int64(d.Edges.V) >= 4*int64(d.Edges.V)*int64(d.FeatureCols) {
		return nil
	}
	return rows
}

// keep takes m, which came from a file, as the features. m must not be used afterwards.
func (s *Stream) keep(m *csr, file string) {
	rows, cols := m.sparse(), m.cols
	s.kept, s.from, s.Data.FeatureCols = rows, file, cols
	s.EachRows = func(fn func([]float32) error) error {
		if err := s.checkKept(); err != nil {
			return err
		}
		return rows.eachRows(cols, fn)
	}
}

// spread is m, which came from a file, as a dense matrix. m must not be used afterwards.
func (m *csr) spread(file string) (x []float32, err error) {
	s := &Stream{Data: &Data{}}
	s.keep(m, file)
	err = s.EachRows(func(rows []float32) error {
		x = append(x, rows...)
		return nil
	})
	return x, err
}

// checkKept returns an error if dense rows are out of proportion to the sparse ones.
func (s *Stream) checkKept() error {
	v := len(s.kept.Ptr) - 1
	if err := checkDense(v, s.Data.FeatureCols, 8*int64(len(s.kept.Cols))+4*int64(v)); err != nil {
		return fmt.Errorf("%s: %w; it can stay sparse", cmp.Or(s.from, s.Data.Name), err)
	}
	return nil
}

// room is for how many of n values memory is allocated before they are read.
func (s *Stream) room(n int) int {
	if s.counted {
		return n
	}
	return min(n, 1<<22)
}

// collect reads the edges and features into memory.
func (s *Stream) collect(opt Options) (*Data, error) {
	d := s.Data
	s.watchWeights()
	if err := s.collectEdges(); err != nil || s.EachRows == nil {
		return d, err
	}
	if s.late != nil && opt.unread() {
		d.Late.Make = s.late
		return d, nil
	}
	if opt.keepsSparse(d) {
		if s.kept != nil {
			return d, d.SetSparse(s.kept, d.FeatureCols)
		}
	}
	if s.kept != nil {
		if err := s.checkKept(); err != nil {
			return d, err
		}
	}
	if s.allRows != nil {
		var err error
		d.Features, err = s.allRows()
		return d, err
	}
	d.Features = []float32{}
	return d, s.EachRows(func(rows []float32) error {
		if len(d.Features) == 0 { // sizes were checked before the first rows were read
			d.Features = make([]float32, 0, s.room(d.Edges.V*d.FeatureCols))
		}
		d.Features = append(d.Features, rows...)
		return nil
	})
}

func (s *Stream) collectEdges() error {
	e := s.Data.Edges
	e.Src, e.Dst = make([]uint32, 0, s.room(s.E)), make([]uint32, 0, s.room(s.E))
	if s.Weighted {
		e.Weight = make([]float32, 0, s.room(s.E))
	}
	if e.Types > 0 {
		e.Type = make([]uint32, 0, s.room(s.E))
	}
	if e.DataCols > 0 {
		e.Data = make([]float32, 0, s.room(s.E*e.DataCols))
	}
	if s.Timed {
		e.Time = make([]float64, 0, s.room(s.E))
	}
	return s.EachEdges(func(p *chunk.Edges) error {
		e.Time = append(e.Time, p.Time...)
		e.Src, e.Dst = append(e.Src, p.Src...), append(e.Dst, p.Dst...)
		e.Weight, e.Type, e.Data = append(e.Weight, p.Weight...), append(e.Type, p.Type...), append(e.Data, p.Data...)
		return nil
	})
}
