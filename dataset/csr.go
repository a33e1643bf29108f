package dataset

import "fmt"

// csr is a sparse matrix by compressed rows: row r has the columns
// indices[indptr[r]:indptr[r+1]] with the values of data there.
type csr struct {
	rows, cols int
	indptr     []int64
	indices    []int64
	data       []float32
}

// check makes the rest safe to use: pointers ascend inside the entries and
// columns are below cols.
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

// A dense matrix may take this many times the bytes that its sparse form has on
// disk (word counts are some 1 % dense), and a little more.
const (
	maxDenseRatio = 1 << 10
	denseSlack    = 64 << 20
)

// checkDense refuses to spread fileBytes over a rows×cols matrix that is out of
// proportion: its size is then a claim that nothing supports.
func checkDense(rows, cols int, fileBytes int64) error {
	limit := min(fileBytes, 1<<40)*maxDenseRatio + denseSlack
	if cols > 0 && int64(rows) > limit/4/int64(cols) {
		return fmt.Errorf("a %d×%d matrix from %d bytes: too sparse to be spread out", rows, cols, fileBytes)
	}
	return nil
}

// addTo adds row r to the dense row out, of width cols. Entries that stand twice
// add up, as in SciPy.
func (m *csr) addTo(out []float32, r int) {
	for i := m.indptr[r]; i < m.indptr[r+1]; i++ {
		out[m.indices[i]] += m.data[i]
	}
}

// dense returns the rows×cols matrix, row-major.
func (m *csr) dense() []float32 {
	out := make([]float32, m.rows*m.cols)
	for r := range m.rows {
		m.addTo(out[r*m.cols:(r+1)*m.cols], r)
	}
	return out
}
