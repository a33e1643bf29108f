package npy

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"

	"sagann/chunk"
)

// Write stores data, in C order with the given shape, as the .npy file path
// (version 1.0). The file appears under its name only when it is complete.
func Write[T Elem](path string, shape []int, data []T) error {
	return writeFile(path, func(w io.Writer) error { return Encode(w, shape, data) })
}

// Encode writes data, in C order with the given shape, to w in .npy format 1.0.
func Encode[T Elem](w io.Writer, shape []int, data []T) error {
	n := 1
	for _, d := range shape {
		if d < 0 {
			return fmt.Errorf("npy: negative length in shape %v", shape)
		}
		n *= d
	}
	if n != len(data) || len(shape) > maxDims {
		return fmt.Errorf("npy: shape %v does not hold %d elements", shape, len(data))
	}
	if _, err := io.WriteString(w, newHeader(descrOf[T](), shape)); err != nil {
		return err
	}
	var zero T
	size := binary.Size(zero)
	buf := make([]byte, min(blockSize, n*size))
	for len(data) > 0 {
		k := min(len(buf)/size, len(data))
		if _, err := binary.Encode(buf, binary.LittleEndian, data[:k]); err != nil {
			return err
		}
		if _, err := w.Write(buf[:k*size]); err != nil {
			return err
		}
		data = data[k:]
	}
	return nil
}

// newHeader is the magic, version, length and dictionary, padded so that the
// elements start at a multiple of 64 bytes.
func newHeader(descr string, shape []int) string {
	var dims strings.Builder
	for _, d := range shape {
		fmt.Fprintf(&dims, "%d, ", d)
	}
	tuple := strings.TrimSuffix(dims.String(), " ")
	if len(shape) > 1 {
		tuple = strings.TrimSuffix(tuple, ",")
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, tuple)
	pad := 63 - (10+len(dict))%64
	dict += strings.Repeat(" ", pad) + "\n"
	length := binary.LittleEndian.AppendUint16(nil, uint16(len(dict)))
	return magic + "\x01\x00" + string(length) + dict
}

func descrOf[T Elem]() string {
	var zero T
	switch any(zero).(type) {
	case float32:
		return "<f4"
	case float64:
		return "<f8"
	case int8:
		return "|i1"
	case int16:
		return "<i2"
	case int32:
		return "<i4"
	case int64:
		return "<i8"
	case uint8:
		return "|u1"
	case uint16:
		return "<u2"
	case uint32:
		return "<u4"
	case uint64:
		return "<u8"
	}
	return "|b1"
}

// encodeAny is Encode for an array whose element type is known at run time only.
func encodeAny(w io.Writer, shape []int, data any) error {
	switch d := data.(type) {
	case []float32:
		return Encode(w, shape, d)
	case []float64:
		return Encode(w, shape, d)
	case []int8:
		return Encode(w, shape, d)
	case []int16:
		return Encode(w, shape, d)
	case []int32:
		return Encode(w, shape, d)
	case []int64:
		return Encode(w, shape, d)
	case []uint8:
		return Encode(w, shape, d)
	case []uint16:
		return Encode(w, shape, d)
	case []uint32:
		return Encode(w, shape, d)
	case []uint64:
		return Encode(w, shape, d)
	case []bool:
		return Encode(w, shape, d)
	}
	return fmt.Errorf("npy: elements of %T cannot be written", data)
}

// WriteRows stores a matrix whose number of rows is not known in advance. It calls fill with
// a function that appends a row of cols elements. The file appears under its name only
// when fill has returned nil.
func WriteRows[T Elem](path string, cols int, fill func(add func(row []T) error) error) error {
	rows := 0
	// The header of a matrix is padded to 128 bytes, however many rows there are.
	head := func() string { return newHeader(descrOf[T](), []int{rows, cols}) }
	return writeHeaded(path, func(w io.Writer) error {
		if _, err := io.WriteString(w, head()); err != nil {
			return err
		}
		var buf []byte
		return fill(func(row []T) (err error) {
			if len(row) != cols {
				return fmt.Errorf("npy: a row of %d elements in a matrix of %d columns", len(row), cols)
			}
			if buf, err = binary.Append(buf[:0], binary.LittleEndian, row); err != nil {
				return err
			}
			rows++
			_, err = w.Write(buf)
			return err
		})
	}, head)
}

// writeFile fills a temporary file beside path and renames it to path when all
// went well.
func writeFile(path string, fill func(io.Writer) error) error { return writeHeaded(path, fill, nil) }

// writeHeaded is writeFile with a header that is known in the end: unless head is nil, its result
// replaces as many bytes at the beginning of the file.
func writeHeaded(path string, fill func(io.Writer) error, head func() string) (err error) {
	f, err := chunk.TempFile(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if head != nil {
		if _, err := f.WriteAt([]byte(head()), 0); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
