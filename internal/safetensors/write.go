package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

const (
	metadataKey = "__metadata__"
	maxHeader   = 100_000_000 // bytes of JSON; other readers have the same limit
	maxRank     = 32          // dimensions of a tensor
)

// entry is one tensor of the header.
type entry struct {
	DType   DType    `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// Write writes the tensors and meta, which may be nil, to w. Equal arguments give
// equal bytes: the header is sorted by name, the values by descending size of a
// value and then by name, which keeps every tensor aligned to its own type.
// It is an error, before anything is written, when a name is used twice, is
// reserved or is not UTF-8, when Data is not a slice of an [Element], or when its
// length is not the product of Shape.
func Write(w io.Writer, tensors []Tensor, meta map[string]string) error {
	header, order, err := layout(tensors, meta)
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(header)))
	if _, err := w.Write(n[:]); err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	buf := make([]byte, 0, 1<<16)
	for _, t := range order {
		if later, ok := t.Data.(Later); ok {
			x, err := later()
			if err != nil {
				return fmt.Errorf("safetensors: tensor %q: %w", t.Name, err)
			}
			if t.Data = x; len(x) != shapeSize(t.Shape) {
				return fmt.Errorf("safetensors: tensor %q: %d values for shape %v", t.Name, len(x), t.Shape)
			}
		}
		if err := writeValues(w, t.Data, buf); err != nil {
			return err
		}
	}
	return nil
}

// layout returns the header, padded so that the values start at a multiple of
// eight bytes, and the tensors in the order of their values.
func layout(tensors []Tensor, meta map[string]string) ([]byte, []Tensor, error) {
	order := slices.Clone(tensors)
	slices.SortFunc(order, func(a, b Tensor) int {
		da, _, _ := dtypeOf(a.Data)
		db, _, _ := dtypeOf(b.Data)
		return cmp.Or(-cmp.Compare(da.Size(), db.Size()), cmp.Compare(a.Name, b.Name))
	})
	head := make(map[string]any, len(order)+1)
	var at int64
	for _, t := range order {
		e, size, err := describe(t)
		if err != nil {
			return nil, nil, fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		if _, twice := head[t.Name]; twice {
			return nil, nil, fmt.Errorf("tensor %q: name used twice", t.Name)
		}
		if at+int64(size) < at {
			return nil, nil, fmt.Errorf("tensor %q: the file would pass 2^63 bytes", t.Name)
		}
		e.Offsets = [2]int64{at, at + int64(size)}
		at += int64(size)
		head[t.Name] = e
	}
	for k, v := range meta {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return nil, nil, fmt.Errorf("metadata %q: not UTF-8", k)
		}
	}
	if len(meta) > 0 {
		head[metadataKey] = meta
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(head); err != nil {
		return nil, nil, err
	}
	header := bytes.TrimRight(b.Bytes(), "\n")
	for len(header)%8 != 0 {
		header = append(header, ' ')
	}
	if len(header) > maxHeader {
		return nil, nil, fmt.Errorf("header of %d bytes, at most %d are allowed", len(header), maxHeader)
	}
	return header, order, nil
}

// describe checks t and returns its header entry, without offsets, and its size in bytes.
func describe(t Tensor) (entry, int, error) {
	switch {
	case t.Name == metadataKey:
		return entry{}, 0, fmt.Errorf("the name is reserved")
	case !utf8.ValidString(t.Name):
		return entry{}, 0, fmt.Errorf("the name is not UTF-8")
	case len(t.Shape) > maxRank:
		return entry{}, 0, fmt.Errorf("%d dimensions, at most %d are allowed", len(t.Shape), maxRank)
	}
	dtype, n, ok := dtypeOf(t.Data)
	if !ok {
		return entry{}, 0, fmt.Errorf("cannot store values of type %T", t.Data)
	}
	size, err := byteSize(t.Shape, dtype.Size())
	if err != nil {
		return entry{}, 0, err
	}
	if n >= 0 && size != n*dtype.Size() {
		return entry{}, 0, fmt.Errorf("%d values for shape %v", n, t.Shape)
	}
	shape := t.Shape
	if shape == nil {
		shape = []int{} // JSON [], not null
	}
	return entry{DType: dtype, Shape: shape}, size, nil
}

// shapeSize is the number of values of a shape that describe has passed.
func shapeSize(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// writeValues writes a slice of an Element through buf, which bounds the extra
// memory that a large tensor takes.
func writeValues(w io.Writer, data any, buf []byte) error {
	switch d := data.(type) {
	case []float32:
		return writeSlice(w, d, 4, buf)
	case []float64:
		return writeSlice(w, d, 8, buf)
	case []int32:
		return writeSlice(w, d, 4, buf)
	case []int64:
		return writeSlice(w, d, 8, buf)
	case []uint8:
		_, err := w.Write(d)
		return err
	case []uint32:
		return writeSlice(w, d, 4, buf)
	case []uint64:
		return writeSlice(w, d, 8, buf)
	}
	return fmt.Errorf("safetensors: cannot store values of type %T", data)
}

func writeSlice[T Element](w io.Writer, data []T, size int, buf []byte) error {
	step := cap(buf) / size
	for len(data) > 0 {
		k := min(step, len(data))
		b, err := binary.Append(buf[:0], binary.LittleEndian, data[:k])
		if err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		data = data[k:]
	}
	return nil
}
