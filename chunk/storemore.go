package chunk

import (
	"fmt"
	"math"
)

// This file reads and writes targets of vertices, edges and graphs, and sparse feature rows. Each is one
// block, which is written at once.

// SetTargets sets the numbers to predict, row-major with cols columns. KindTargets has V rows,
// KindEdgeTargets a row for each edge that was appended, KindGraphTargets a row for each graph. A row is
// finite or, for no target, NaN in all columns.
func (w *Writer) SetTargets(k Kind, rows []float32, cols int) error {
	if err := w.h.checkTargetRows(k, rows, cols); err != nil {
		return w.fail(err)
	}
	if err := w.edgesInOrder(k); err != nil {
		return err
	}
	if k == KindGraphTargets {
		w.graphs = int64(len(rows) / cols)
	}
	return w.once(k, bytesOf(append([]float32{math.Float32frombits(uint32(cols))}, rows...)))
}

// Targets reads the targets of the kind and their number of columns; nil if the store has none.
func (s *Store) Targets(k Kind) (rows []float32, cols int, err error) {
	x, err := s.numbers(k)
	if x == nil || err != nil {
		return nil, 0, err
	}
	rows, cols = x[1:], int(math.Float32bits(x[0]))
	if err := s.h.checkTargetRows(k, rows, cols); err != nil {
		return nil, 0, fmt.Errorf("%s: %v: %w", s.path, s.blocks[s.single[k]], err)
	}
	return rows, cols, nil
}

// numbers reads a block that begins with a number of columns.
func (s *Store) numbers(k Kind) ([]float32, error) {
	i := s.single[k]
	if i < 0 {
		return nil, nil
	}
	if n := s.blocks[i].Len; n < 4 || n%4 != 0 {
		return nil, fmt.Errorf("%s: %v has %d bytes, which do not make a number of columns and whole rows", s.path, s.blocks[i], n)
	}
	return readSingle[float32](s, k)
}

func (h *header) checkTargetRows(k Kind, rows []float32, cols int) error {
	want := int64(-1) // any number
	switch k {
	case KindTargets:
		want = h.V
	case KindEdgeTargets:
		want = h.E
	case KindGraphTargets:
	default:
		return fmt.Errorf("%v is not a kind of targets", k)
	}
	if cols < 1 || len(rows)%cols != 0 || want >= 0 && int64(len(rows)/cols) != want {
		return fmt.Errorf("%d targets in rows of %d do not fit a graph of %d vertices and %d edges", len(rows), cols, h.V, h.E)
	}
	for i, x := range rows {
		if first := rows[i/cols*cols]; math.IsInf(float64(x), 0) || (x == x) != (first == first) {
			return fmt.Errorf("row %d has target %d = %v: they are finite, or all of a row are NaN", i/cols, i%cols, x)
		}
	}
	return nil
}

// Sparse is a sparse matrix of features, in CSR format. Row v has values in the columns
// Ids[Ptr[v]:Ptr[v+1]], which ascend and are below Cols. The values are Vals in the same range.
type Sparse struct {
	Cols int
	Ptr  []int64 // V+1
	Ids  []uint32
	Vals []float32
}

// check returns an error unless s is valid and has v rows.
func (s *Sparse) check(v int) error {
	if s.Cols < 1 || int64(s.Cols) > math.MaxUint32 || len(s.Ptr) != v+1 || s.Ptr[0] != 0 || s.Ptr[v] != int64(len(s.Ids)) || len(s.Ids) != len(s.Vals) {
		return fmt.Errorf("%d pointers, %d columns and %d values do not make the rows of %d vertices with %d columns", len(s.Ptr), len(s.Ids), len(s.Vals), v, s.Cols)
	}
	for r := range v {
		lo, hi := s.Ptr[r], s.Ptr[r+1]
		if lo > hi || hi > int64(len(s.Ids)) {
			return fmt.Errorf("pointer %d is %d, the next is %d", r, lo, hi)
		}
		for i := lo; i < hi; i++ {
			if int64(s.Ids[i]) >= int64(s.Cols) || i > lo && s.Ids[i-1] >= s.Ids[i] || s.Vals[i]-s.Vals[i] != 0 {
				return fmt.Errorf("vertex %d has %v in column %d of %d: columns ascend, and values are finite", r, s.Vals[i], s.Ids[i], s.Cols)
			}
		}
	}
	return nil
}

// SetSparse sets sparse features. Meta.FeatureCols must be 0.
func (w *Writer) SetSparse(s *Sparse) error {
	if w.meta.FeatureCols > 0 {
		return w.fail(fmt.Errorf("features are dense and sparse"))
	}
	if err := s.check(w.meta.V); err != nil {
		return w.fail(err)
	}
	rows := make([]uint32, 1, w.meta.V+1)
	rows[0] = uint32(s.Cols)
	for v := range w.meta.V {
		rows = append(rows, uint32(s.Ptr[v+1]-s.Ptr[v]))
	}
	if err := w.once(KindSparseRows, bytesOf(rows)); err != nil {
		return err
	}
	if err := w.once(KindSparseColumns, bytesOf(s.Ids)); err != nil {
		return err
	}
	return w.once(KindSparseValues, bytesOf(s.Vals))
}

// SparseCols is the number of columns of the sparse features, 0 if there are none.
func (s *Store) SparseCols() (int, error) {
	x, err := readSingle[uint32](s, KindSparseRows)
	if len(x) == 0 {
		return 0, err
	}
	return int(x[0]), err
}

// Sparse reads the sparse features; nil if there are none.
func (s *Store) Sparse() (*Sparse, error) {
	i := s.single[KindSparseRows]
	if i < 0 {
		return nil, nil
	}
	fail := func(err error) (*Sparse, error) {
		return nil, fmt.Errorf("%s: %v: %w", s.path, s.blocks[i], err)
	}
	if n := s.blocks[i].Len; n != 4*(s.h.V+1) {
		return fail(fmt.Errorf("%d bytes, want %d", n, 4*(s.h.V+1)))
	}
	rows, err := readSingle[uint32](s, KindSparseRows)
	if err != nil {
		return nil, err
	}
	out := &Sparse{Cols: int(rows[0]), Ptr: make([]int64, 1, len(rows))}
	for _, n := range rows[1:] {
		out.Ptr = append(out.Ptr, out.Ptr[len(out.Ptr)-1]+int64(n))
	}
	if out.Ids, err = readSingle[uint32](s, KindSparseColumns); err != nil {
		return nil, err
	}
	if out.Vals, err = readSingle[float32](s, KindSparseValues); err != nil {
		return nil, err
	}
	if err := out.check(s.V()); err != nil {
		return fail(err)
	}
	return out, nil
}
