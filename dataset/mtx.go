package dataset

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"sagann/chunk"
)

// readMTX reads a Matrix Market file (NIST, 1996): a matrix whose entry (i, j) is an edge from vertex i to vertex j. The ids of
// vertices are the numbers of rows, from 1; those of a matrix that is not square are r1, r2, … for rows and c1, c2, … for columns.
// Fields are pattern (no weights), integer or real; symmetric and skew-symmetric matrices list one triangle, and the other is added,
// each reverse edge after its entry. In a matrix of all values (array) those that are 0 are no edges. Weights that are all 1 are
// dropped.
func readMTX(t *textFile) (*Data, error) {
	h, err := mtxHeader(t)
	if err != nil {
		return nil, err
	}
	// The count may be wrong: reserve no more than a file of this size can have.
	room := int(min(h.entries, uint64(t.size)))
	if h.symmetry != "general" {
		room *= 2
	}
	e := &chunk.Edges{V: int(h.vertices()), Src: make([]uint32, 0, room), Dst: make([]uint32, 0, room)}
	m := &mtxReader{mtxSize: h, e: e, ones: true}
	if err := t.eachLine(func(line []byte) error { return m.line(t, line) }); err != nil {
		return nil, err
	}
	if m.read != h.entries {
		return nil, t.errorf("the file ends after %d of %d entries", m.read, h.entries)
	}
	if err := checkVertexCount(h.vertices(), e.E()); err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	if !m.ones {
		e.Weight = m.weight
	}
	d := &Data{Edges: e}
	h.name(d)
	if m.upper > 0 && m.lower > 0 && h.symmetry != "general" {
		before := e.E()
		m.once()
		d.warn("%s: the matrix is said to be %s, and entries of both triangles are listed (%d below the diagonal, %d above): %d edges that both triangles have are taken once", t.name, h.symmetry, m.lower, m.upper, before-e.E())
	}
	return d, nil
}

// once drops the edges that were added for entries whose counterpart is listed, too.
func (m *mtxReader) once() {
	e := m.e
	added := make([]bool, e.E())
	var src, dst []uint32
	for k := 0; k < e.E(); k++ {
		src, dst = append(src, e.Src[k]), append(dst, e.Dst[k])
		if e.Src[k] != e.Dst[k] {
			k++
			added[k] = true
		}
	}
	listed := indexEdges(e.V, src, dst)
	*e = *selected(e, func(k int) bool { return !added[k] || listed.find(e.Src[k], e.Dst[k]) < 0 })
}

// mtxReader reads the entries.
type mtxReader struct {
	*mtxSize
	e            *chunk.Edges
	weight       []float32
	ones         bool   // all weights are 1
	read         uint64 // number of entries
	lower, upper uint64 // below and above the diagonal
	i, j         uint64 // the last value of a matrix of all values
}

func (m *mtxReader) add(i, j uint64, w float32) {
	m.e.Src, m.e.Dst = append(m.e.Src, uint32(i-1)), append(m.e.Dst, uint32(j-1))
	if !m.pattern {
		m.weight = append(m.weight, w)
		m.ones = m.ones && w == 1
	}
}

func (m *mtxReader) line(t *textFile, line []byte) error {
	if m.read++; m.read > m.entries {
		return t.errorf("more than the %d entries of the header", m.entries)
	}
	i, j, w, err := m.entry(line)
	if err != nil {
		return t.errorf("%w", err)
	}
	if m.array && w == 0 {
		return nil
	}
	from, to := i, j
	if m.rows != m.cols {
		to += m.rows
	}
	m.add(from, to, w)
	if i > j {
		m.lower++
	} else if i < j {
		m.upper++
	}
	switch {
	case m.symmetry == "symmetric" && i != j:
		m.add(j, i, w)
	case m.symmetry == "skew-symmetric":
		if i == j {
			return t.errorf("entry (%d, %d) on the diagonal of a skew-symmetric matrix", i, j)
		}
		m.add(j, i, -w)
	}
	return nil
}

// mtxSize is the header of a Matrix Market file.
type mtxSize struct {
	pattern, array      bool
	symmetry            string
	rows, cols, entries uint64
}

// vertices is their number.
func (h *mtxSize) vertices() uint64 {
	if h.rows != h.cols {
		return h.rows + h.cols
	}
	return h.rows
}

// name sets the ids of the vertices of d.
func (h *mtxSize) name(d *Data) {
	if h.rows == h.cols {
		d.Vertices.First = 1
		return
	}
	for i := range h.rows {
		d.Vertices.Names = append(d.Vertices.Names, "r"+strconv.FormatUint(i+1, 10))
	}
	for j := range h.cols {
		d.Vertices.Names = append(d.Vertices.Names, "c"+strconv.FormatUint(j+1, 10))
	}
	d.Report.Changes = append(d.Report.Changes, fmt.Sprintf("the matrix has %d rows and %d columns: vertices r1 to r%d are the rows, c1 to c%d the columns", h.rows, h.cols, h.rows, h.cols))
}

func mtxHeader(t *textFile) (*mtxSize, error) {
	banner, err := t.next()
	if err == io.EOF {
		return nil, t.errorf("empty file")
	}
	if err != nil {
		return nil, err
	}
	w := strings.Fields(strings.ToLower(string(banner[:min(len(banner), 200)])))
	if len(w) > 0 && w[0] == "%matrixmarket" {
		w[0] = "%" + w[0]
	}
	if len(w) != 5 || w[0] != "%%matrixmarket" || w[1] != "matrix" {
		return nil, t.errorf("not a Matrix Market file: its first line is %%%%MatrixMarket matrix coordinate, then pattern, integer or real, then general or symmetric")
	}
	h := &mtxSize{pattern: w[3] == "pattern", array: w[2] == "array", symmetry: w[4]}
	switch {
	case w[2] != "coordinate" && w[2] != "array":
		return nil, t.errorf("format %s: coordinate and array are read", w[2])
	case !h.pattern && w[3] != "real" && w[3] != "double" && w[3] != "integer":
		return nil, t.errorf("field %s: pattern, integer and real are read", w[3])
	case h.symmetry != "general" && h.symmetry != "symmetric" && h.symmetry != "skew-symmetric":
		return nil, t.errorf("symmetry %s: general, symmetric and skew-symmetric are read", h.symmetry)
	case h.pattern && (h.symmetry == "skew-symmetric" || h.array):
		return nil, t.errorf("a skew-symmetric matrix, and one of format array, needs values")
	}
	for {
		line, err := t.next()
		if err == io.EOF {
			return nil, t.errorf("the line of sizes is missing")
		}
		if err != nil {
			return nil, err
		}
		if len(strings.TrimSpace(string(line[:min(len(line), 100)]))) == 0 || line[0] == '%' {
			continue
		}
		return h, h.sizes(t, line)
	}
}

func (h *mtxSize) sizes(t *textFile, line []byte) error {
	f := fields([]byte(strings.TrimSpace(string(line))), nil)
	want, form := 3, "rows, columns and entries, such as 34 34 78"
	if h.array {
		want, form = 2, "rows and columns, such as 34 34"
	}
	if len(f) != want {
		return t.errorf("%d numbers; the first line behind the comments has %s", len(f), form)
	}
	var n [3]uint64
	for k := range f {
		var err error
		if n[k], err = parseUint(f[k]); err != nil {
			return t.errorf("%w", err)
		}
	}
	h.rows, h.cols, h.entries = n[0], n[1], n[2]
	if h.rows != h.cols && h.symmetry != "general" {
		return t.errorf("a %d×%d matrix is not square, and so not %s", h.rows, h.cols, h.symmetry)
	}
	if max(h.rows, h.cols, h.vertices()) > 1<<32-1 {
		return t.errorf("%d vertices; ids have 32 bits", h.vertices())
	}
	if !h.array {
		return checkSizes(t, h)
	}
	if h.entries = h.rows * h.cols; h.rows > 1<<16 || h.cols > 1<<16 {
		return t.errorf("a matrix of all values with more than 2^16 rows or columns; write it in format coordinate")
	}
	switch h.symmetry {
	case "symmetric":
		h.entries = h.rows * (h.rows + 1) / 2
	case "skew-symmetric":
		h.entries = h.rows * (h.rows - min(h.rows, 1)) / 2
	}
	return nil
}

// checkSizes checks the number of vertices before memory is allocated for them.
func checkSizes(t *textFile, h *mtxSize) error {
	if err := checkVertexCount(h.vertices(), int(min(h.entries, uint64(t.size)*maxTextRatio))); err != nil {
		return t.errorf("%w", err)
	}
	return nil
}

// entry reads row, column (from 1) and value. Those of a matrix of all values go down its columns.
func (m *mtxReader) entry(line []byte) (i, j uint64, w float32, err error) {
	rest := line
	if m.array {
		m.advance()
		i, j = m.i, m.j
	} else {
		a, more := field(line)
		b, last := field(more)
		if i, err = parseUint(a); err == nil {
			j, err = parseUint(b)
		}
		if err != nil {
			return 0, 0, 0, err
		}
		rest = last
	}
	if i < 1 || j < 1 || i > m.rows || j > m.cols {
		return 0, 0, 0, fmt.Errorf("entry (%d, %d) is outside 1..%d, 1..%d", i, j, m.rows, m.cols)
	}
	if m.pattern {
		if len(rest) > 0 {
			return 0, 0, 0, fmt.Errorf("a value in a pattern matrix: where values are weights, line 1 says real in place of pattern")
		}
		return i, j, 1, nil
	}
	v, rest := field(rest)
	if len(rest) > 0 {
		return 0, 0, 0, fmt.Errorf("more than one value")
	}
	f, err := parseFloat(v)
	if err == nil {
		w, err = toFloat32(f)
	}
	return i, j, w, err
}

// advance goes to the next value of a matrix of all values. Symmetric matrices list what is on and below the diagonal, skew-symmetric
// ones what is below.
func (m *mtxReader) advance() {
	for m.i++; m.j == 0 || m.i > m.rows; {
		m.j++
		switch m.symmetry {
		case "symmetric":
			m.i = m.j
		case "skew-symmetric":
			m.i = m.j + 1
		default:
			m.i = 1
		}
	}
}
