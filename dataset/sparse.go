package dataset

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// SparseRows is a sparse matrix of features in CSR format. Row v has the columns
// Cols[Ptr[v]:Ptr[v+1]], ascending and without repeats, and the values Vals in the same range.
type SparseRows struct {
	Ptr  []int64
	Cols []uint32
	Vals []float32
}

// Longest is the largest number of entries of a row.
func (s *SparseRows) Longest() int {
	most := int64(0)
	for v := range len(s.Ptr) - 1 {
		most = max(most, s.Ptr[v+1]-s.Ptr[v])
	}
	return int(most)
}

// Row is the columns and the values of row v.
func (s *SparseRows) Row(v int) ([]uint32, []float32) {
	return s.Cols[s.Ptr[v]:s.Ptr[v+1]], s.Vals[s.Ptr[v]:s.Ptr[v+1]]
}

// check returns an error unless s is valid and has v rows and cols columns.
func (s *SparseRows) check(v, cols int) error {
	if len(s.Ptr) != v+1 || s.Ptr[0] != 0 || s.Ptr[v] != int64(len(s.Cols)) || len(s.Cols) != len(s.Vals) {
		return fmt.Errorf("sparse features: %d row pointers, %d columns and %d values do not make %d rows", len(s.Ptr), len(s.Cols), len(s.Vals), v)
	}
	for r := range v {
		if s.Ptr[r] > s.Ptr[r+1] || s.Ptr[r+1] > int64(len(s.Cols)) {
			return fmt.Errorf("sparse features: row pointer %d is %d, the next is %d", r, s.Ptr[r], s.Ptr[r+1])
		}
		ids, x := s.Row(r)
		for i, c := range ids {
			switch {
			case int64(c) >= int64(cols):
				return fmt.Errorf("feature row %d: column %d of %d", r, c, cols)
			case i > 0 && ids[i-1] >= c:
				return fmt.Errorf("feature row %d: column %d stands behind column %d; columns ascend, and none stands twice", r, c, ids[i-1])
			case x[i]-x[i] != 0:
				return fmt.Errorf("feature row %d, column %d is %v", r, c, x[i])
			}
		}
	}
	return nil
}

// SetSparse sets sparse features of cols columns. Dense rows are made from them only when they are
// needed.
func (d *Data) SetSparse(s *SparseRows, cols int) error {
	if err := s.check(d.Edges.V, cols); err != nil {
		return err
	}
	named := d.Schema.Features
	DropFeatures(d)
	d.Late.Sparse, d.FeatureCols, d.Schema.Features = s, cols, named
	d.Late.Make = func(row func(v int) []float32) {
		for v := range len(s.Ptr) - 1 {
			ids, x := s.Row(v)
			to := row(v)
			clear(to)
			for i, c := range ids {
				to[c] = x[i]
			}
		}
	}
	return nil
}

// then is s with the rows of x behind its own.
func (s *SparseRows) then(x *SparseRows) *SparseRows {
	all := &SparseRows{Ptr: slices.Clone(s.Ptr), Cols: slices.Concat(s.Cols, x.Cols), Vals: slices.Concat(s.Vals, x.Vals)}
	for _, end := range x.Ptr[1:] {
		all.Ptr = append(all.Ptr, int64(len(s.Cols))+end)
	}
	return all
}

// eachRows calls fn with pieces of the rows as dense rows, in order.
func (s *SparseRows) eachRows(cols int, fn func([]float32) error) error {
	v, n := len(s.Ptr)-1, max(1, pieceValues/cols)
	rows := make([]float32, min(n, v)*cols)
	for lo := 0; lo < v; lo += n {
		part := rows[:min(n, v-lo)*cols]
		clear(part)
		for r := range len(part) / cols {
			ids, x := s.Row(lo + r)
			for i, c := range ids {
				part[r*cols+int(c)] = x[i]
			}
		}
		if err := fn(part); err != nil {
			return err
		}
	}
	return nil
}

// normalize divides each row by the sum of its absolute values.
func (s *SparseRows) normalize() {
	for v := range len(s.Ptr) - 1 {
		_, x := s.Row(v)
		normalizeRow(x)
	}
}

func normalizeRow(row []float32) {
	sum := 0.0
	for _, x := range row {
		sum += math.Abs(float64(x))
	}
	if sum == 0 {
		return
	}
	for k, x := range row {
		row[k] = float32(float64(x) / sum)
	}
}

// sparse is m with the columns of each row ascending. Duplicate entries are added up in float64, as in SciPy,
// and zeros are dropped. m must not be used afterwards.
func (m *csr) sparse() *SparseRows {
	s := &SparseRows{Ptr: make([]int64, 1, m.rows+1), Cols: make([]uint32, 0, len(m.indices)), Vals: m.data[:0]}
	for r := range m.rows {
		ids, x := m.indices[m.indptr[r]:m.indptr[r+1]], m.data[m.indptr[r]:m.indptr[r+1]]
		if !slices.IsSorted(ids) {
			sort.Stable(&entries{ids, x})
		}
		for i := 0; i < len(ids); {
			c, sum := ids[i], 0.0
			for ; i < len(ids) && ids[i] == c; i++ {
				sum += float64(x[i])
			}
			if sum != 0 {
				s.Cols, s.Vals = append(s.Cols, uint32(c)), append(s.Vals, float32(sum))
			}
		}
		s.Ptr = append(s.Ptr, int64(len(s.Cols)))
	}
	return s
}

// entries are the entries of a row, for sorting by column.
type entries struct {
	cols []int64
	vals []float32
}

func (e *entries) Len() int           { return len(e.cols) }
func (e *entries) Less(i, j int) bool { return e.cols[i] < e.cols[j] }
func (e *entries) Swap(i, j int) {
	e.cols[i], e.cols[j] = e.cols[j], e.cols[i]
	e.vals[i], e.vals[j] = e.vals[j], e.vals[i]
}

// SparseOf is the sparse form of dense rows: their entries that are not 0.
func SparseOf(rows []float32, cols int) *SparseRows {
	s := &SparseRows{Ptr: []int64{0}}
	for row := range slices.Chunk(rows, cols) {
		for c, x := range row {
			if x != 0 {
				s.Cols, s.Vals = append(s.Cols, uint32(c)), append(s.Vals, x)
			}
		}
		s.Ptr = append(s.Ptr, int64(len(s.Cols)))
	}
	return s
}
