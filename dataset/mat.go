package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/compress/zlib"
)

// Data types of elements in a MATLAB level 5 file.
const (
	miInt8 = iota + 1
	miUint8
	miInt16
	miUint16
	miInt32
	miUint32
	miSingle
	_
	miDouble
	_
	_
	miInt64
	miUint64
	miMatrix
	miCompressed
)

var matTypeSize = map[uint32]int{
	miInt8: 1, miUint8: 1, miInt16: 2, miUint16: 2, miInt32: 4, miUint32: 4,
	miSingle: 4, miDouble: 8, miInt64: 8, miUint64: 8,
}

// Array classes and flags of a matrix element.
const (
	mxSparse  = 5
	mxDouble  = 6
	mxUint64  = 15
	mxComplex = 0x0800
)

// maxMatRatio is how many times its size a compressed matrix may expand to;
// graphs reach 10.
const maxMatRatio = 64

// matMatrix is a variable of a MATLAB file: sparse by columns, or full in
// column-major order (then row and start are nil).
type matMatrix struct {
	name       string
	rows, cols int
	row        []int64 // row of each entry
	start      []int64 // cols+1: where each column begins in row
	values     []float64
}

// matElement is a tag with its data.
type matElement struct {
	kind uint32
	data []byte
	at   int64 // byte of data in the file, or in the expanded element
}

// matReader reads the elements in buf one after the other.
type matReader struct {
	buf []byte
	pos int
}

func (r *matReader) errorf(format string, args ...any) error {
	return fmt.Errorf("byte %d: %w", r.pos, fmt.Errorf(format, args...))
}

// next reads one element; elements inside a matrix are padded to 8 bytes.
func (r *matReader) next(padded bool) (matElement, error) {
	rest := r.buf[r.pos:]
	if len(rest) < 8 {
		return matElement{}, r.errorf("the file ends inside a tag")
	}
	word := binary.LittleEndian.Uint32(rest)
	if n := word >> 16; n != 0 { // the small form: type and length in one word
		if n > 4 {
			return matElement{}, r.errorf("a small element of %d bytes", n)
		}
		e := matElement{word & 0xffff, rest[4 : 4+n], int64(r.pos + 4)}
		r.pos += 8
		return e, nil
	}
	n := uint64(binary.LittleEndian.Uint32(rest[4:]))
	if n > uint64(len(rest)-8) {
		return matElement{}, r.errorf("an element of %d bytes, %d are left", n, len(rest)-8)
	}
	e := matElement{word, rest[8 : 8+n], int64(r.pos + 8)}
	r.pos += 8 + int(n)
	if padded {
		r.pos = min((r.pos+7)&^7, len(r.buf))
	}
	return e, nil
}

// matVersion returns an error unless file begins as a MATLAB level 5 file.
func matVersion(file []byte) error {
	const newer = "a MATLAB 7.3 file, which is HDF5 and is not read. In MATLAB save(\"new.mat\", \"-v7\") writes it anew, or in Python:\n" +
		"    import mat73, scipy.io                                          # pip install mat73 scipy\n" +
		"    scipy.io.savemat(\"new.mat\", mat73.loadmat(\"old.mat\"))"
	switch {
	case bytes.HasPrefix(file, []byte("\x89HDF\r\n\x1a\n")):
		return fmt.Errorf("byte 0: %s", newer)
	case len(file) < 128:
		return fmt.Errorf("byte 0: too short for a MATLAB level 5 file")
	case string(file[126:128]) == "MI":
		return fmt.Errorf("byte 126: big-endian MATLAB files are not read")
	case string(file[126:128]) == "IM" && binary.LittleEndian.Uint16(file[124:]) == 0x0200:
		return fmt.Errorf("byte 124: %s", newer)
	case string(file[126:128]) != "IM" || binary.LittleEndian.Uint16(file[124:]) != 0x0100:
		return fmt.Errorf("byte 124: not a MATLAB level 5 file")
	}
	return nil
}

// readMat returns the numeric matrices of a MATLAB level 5 file (MAT-File Format, MathWorks) whose names, in small
// letters, are in want, and the names of all variables in their order.
func readMat(file []byte, want []string) (found map[string]*matMatrix, all []string, err error) {
	if err := matVersion(file); err != nil {
		return nil, nil, err
	}
	found = map[string]*matMatrix{}
	r := &matReader{buf: file, pos: 128}
	for r.pos < len(file) {
		start := r.pos
		e, err := r.next(false)
		if err != nil {
			return nil, nil, err
		}
		if e.kind == miCompressed {
			if e, err = expand(e); err != nil {
				return nil, nil, fmt.Errorf("byte %d: %w", start, err)
			}
		}
		if e.kind != miMatrix {
			return nil, nil, fmt.Errorf("byte %d: element type %d where a matrix should be", start, e.kind)
		}
		name, m, err := parseMatrix(e.data, want)
		if err != nil {
			return nil, nil, fmt.Errorf("byte %d: variable: %w", start, err)
		}
		if name == "" { // MATLAB's own, such as the workspace of functions
			continue
		}
		if slices.Contains(all, name) {
			return nil, nil, fmt.Errorf("byte %d: a second variable %q", start, name)
		}
		all = append(all, name)
		if m != nil {
			found[name] = m
		}
	}
	return found, all, nil
}

// expand inflates a compressed element and returns the element inside.
func expand(e matElement) (matElement, error) {
	z, err := zlib.NewReader(bytes.NewReader(e.data))
	if err != nil {
		return matElement{}, err
	}
	limit := int64(len(e.data))*maxMatRatio + 1<<20
	data, err := io.ReadAll(&limited{z, limit})
	if err != nil {
		return matElement{}, fmt.Errorf("compressed element: %w", err)
	}
	r := &matReader{buf: data}
	inner, err := r.next(false)
	if err != nil {
		return matElement{}, fmt.Errorf("compressed element: %w", err)
	}
	return inner, nil
}

// parseMatrix reads a matrix element. The matrix is nil if its name is not wanted.
func parseMatrix(data []byte, want []string) (name string, m *matMatrix, err error) {
	r := &matReader{buf: data}
	flags, err := r.next(true)
	if err != nil {
		return "", nil, err
	}
	if flags.kind != miUint32 || len(flags.data) != 8 {
		return "", nil, r.errorf("no array flags")
	}
	word := binary.LittleEndian.Uint32(flags.data)
	class := word & 0xff
	dims, err := r.ints()
	if err != nil {
		return "", nil, fmt.Errorf("dimensions: %w", err)
	}
	text, err := r.next(true)
	if err != nil {
		return "", nil, fmt.Errorf("name: %w", err)
	}
	m = &matMatrix{name: string(text.data)}
	if !slices.Contains(want, strings.ToLower(m.name)) {
		return m.name, nil, nil
	}
	if len(dims) != 2 || dims[0] < 0 || dims[1] < 0 || dims[0] > math.MaxInt32 || dims[1] > math.MaxInt32 {
		return "", nil, r.errorf("%.40q has dimensions %.5v, want two", m.name, dims)
	}
	m.rows, m.cols = int(dims[0]), int(dims[1])
	if word&mxComplex != 0 {
		return "", nil, r.errorf("%q is complex", m.name)
	}
	switch {
	case class == mxSparse:
		err = m.readSparse(r)
	case class >= mxDouble && class <= mxUint64:
		if m.values, err = r.floats(); err == nil && len(m.values) != m.rows*m.cols {
			err = r.errorf("%d values", len(m.values))
		}
	default:
		err = r.errorf("class %d is not numeric", class)
	}
	if err != nil {
		return "", nil, fmt.Errorf("%q, %d×%d: %w", m.name, m.rows, m.cols, err)
	}
	return m.name, m, nil
}

func (m *matMatrix) readSparse(r *matReader) error {
	var err error
	if m.row, err = r.ints(); err != nil {
		return err
	}
	if m.start, err = r.ints(); err != nil {
		return err
	}
	if m.values, err = r.floats(); err != nil {
		return err
	}
	if len(m.start) != m.cols+1 || m.start[0] != 0 {
		return r.errorf("%d column pointers", len(m.start))
	}
	n := m.start[m.cols]
	// The arrays may have unused space at the end (nzmax).
	if n < 0 || n > int64(len(m.row)) || n > int64(len(m.values)) {
		return r.errorf("column pointers end at %d of %d rows and %d values", n, len(m.row), len(m.values))
	}
	m.row, m.values = m.row[:n], m.values[:n]
	for c := range m.cols {
		if m.start[c] > m.start[c+1] {
			return r.errorf("column pointer %d is %d, the next is %d", c, m.start[c], m.start[c+1])
		}
	}
	for i, x := range m.row {
		if x < 0 || x >= int64(m.rows) {
			return r.errorf("entry %d has row %d", i, x)
		}
	}
	return nil
}
