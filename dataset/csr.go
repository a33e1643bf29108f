package dataset

import "fmt"

// csr is a sparse matrix in CSR format: row r has the columns
// indices[indptr[r]:indptr[r+1]], with the values of data at the same positions.
type csr struct {
	rows, cols int
	indptr     []int64
	indices    []int64
	data       []float32
}

// check returns an error unless m is valid: row pointers ascend and lie inside the entries, and
// columns are below cols. The other methods rely on it.
func (m *csr) check() error {
	if m.rows < 0 || m.cols < 0 || len(m.indptr) == 0 || len(m.indptr)-1 != m.rows {
		return fmt.Errorf("%d row pointers for %d rows", len(m.indptr), m.rows)
	}
	if len(m.data) != len(m.indices) {
		return fmt.Errorf("%d values but %d column indices", len(m.data), len(m.indices))
	}
	if m.indptr[0] != 0 || m.indptr[m.rows] != int64(len(m.data)) {
		return fmt.Errorf("row pointers run from %d to %d, want 0 to %d", m.indptr[0], m.indptr[m.rows], len(m.data))
	}
	for r := range m.rows {
		if m.indptr[r] > m.indptr[r+1] {
			return fmt.Errorf("row pointer %d is %d, the next is %d", r, m.indptr[r], m.indptr[r+1])
		}
	}
	for i, c := range m.indices {
		if c < 0 || c >= int64(m.cols) {
			return fmt.Errorf("entry %d has column %d of %d", i, c, m.cols)
		}
	}
	return nil
}

// A dense matrix may take so many times the bytes of its sparse form on
// disk, plus a little. Word counts are about 1 % dense.
const (
	maxDenseRatio = 1 << 10
	denseSlack    = 64 << 20
)

// checkDense returns an error if a dense rows×cols matrix is out of proportion to the fileBytes of its
// sparse form. A size in a damaged or hostile file could otherwise take all memory.
func checkDense(rows, cols int, fileBytes int64) error {
	limit := min(fileBytes, 1<<40)*maxDenseRatio + denseSlack
	if cols > 0 && int64(rows) > limit/4/int64(cols) {
		return fmt.Errorf("a %d×%d matrix from %d bytes: too sparse to be spread out", rows, cols, fileBytes)
	}
	return nil
}

// from completes m, which has its size and data. a and b are the other arrays of a matrix of that kind: for
// csr and csc pointers and indices, for coo rows and columns.
func (m *csr) from(kind string, a, b []int64) (*csr, error) {
	switch kind {
	case "csr":
		m.indptr, m.indices = a, b
	case "csc":
		t := &csr{rows: m.cols, cols: m.rows, indptr: a, indices: b, data: m.data}
		if err := t.check(); err != nil {
			return nil, err
		}
		col := make([]int64, len(b))
		for c := range t.rows {
			for i := a[c]; i < a[c+1]; i++ {
				col[i] = int64(c)
			}
		}
		if err := m.fromPairs(b, col); err != nil {
			return nil, err
		}
	case "coo":
		if err := m.fromPairs(a, b); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("a sparse matrix of the kind %s: only csr, csc and coo can be read", kind)
	}
	return m, m.check()
}

// fromPairs sorts entries by row, stably.
func (m *csr) fromPairs(row, col []int64) error {
	if len(row) != len(m.data) || len(col) != len(m.data) {
		return fmt.Errorf("%d rows and %d columns for %d values", len(row), len(col), len(m.data))
	}
	if m.rows > 1<<24+64*len(row) {
		return fmt.Errorf("%d rows with %d entries: too sparse", m.rows, len(row))
	}
	m.indptr = make([]int64, m.rows+1)
	for i, r := range row {
		if r < 0 || r >= int64(m.rows) {
			return fmt.Errorf("entry %d has row %d of %d", i, r, m.rows)
		}
		m.indptr[r+1]++
	}
	for r := range m.rows {
		m.indptr[r+1] += m.indptr[r]
	}
	at := append([]int64(nil), m.indptr...)
	data := make([]float32, len(row))
	m.indices = make([]int64, len(row))
	for i, r := range row {
		m.indices[at[r]], data[at[r]] = col[i], m.data[i]
		at[r]++
	}
	m.data = data
	return nil
}
