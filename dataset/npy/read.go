package npy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// blockSize is how much of a file is decoded at a time.
const blockSize = 1 << 20

// Read returns the array in the .npy file at path. An error names the file and
// the byte.
func Read(path string) (*Array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	return Decode(f, info.Size(), path)
}

// Decode reads one array of exactly size bytes, header included, from r; name
// stands in errors. Bytes that are missing or left over are an error.
func Decode(r io.Reader, size int64, name string) (*Array, error) {
	br := bufio.NewReaderSize(r, 1<<12)
	h, err := readHeader(br)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return decode(br, h, size, name)
}

// FromBytes makes an array of raw elements as they stand in a file: descr is
// their type in NumPy's spelling, such as "<f4". The bytes must be exactly those
// of the shape.
func FromBytes(descr string, shape []int, fortran bool, raw []byte, name string) (*Array, error) {
	h := &header{descr: descr, fortran: fortran, shape: shape}
	if err := h.setCount(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	a, err := decode(bytes.NewReader(raw), h, int64(len(raw)), name)
	if err != nil {
		return nil, err
	}
	a.offset = -1
	return a, nil
}

func decode(r io.Reader, h *header, size int64, name string) (*Array, error) {
	k, ok := kinds[h.descr]
	if !ok {
		return nil, fmt.Errorf("%s: element type %q is not read (little-endian float32/64, integers and bool are)", name, h.descr)
	}
	// count may be near 2^63, so divide instead of multiplying.
	have := size - h.size
	if have < 0 || have%k.size != 0 || int64(h.count) != have/k.size {
		return nil, fmt.Errorf("%s: byte %d: shape %v of %q does not match the %d bytes that follow", name, h.size, h.shape, h.descr, max(have, 0))
	}
	data, err := k.read(r, h)
	if err != nil {
		return nil, fmt.Errorf("%s: byte %d: %w", name, h.size, err)
	}
	return &Array{
		Shape: h.shape, Data: data,
		name: name, offset: h.size, elemSize: k.size, fortran: h.fortran && len(h.shape) > 1,
	}, nil
}

// kind is an element type as a header spells it.
type kind struct {
	size int64
	read func(io.Reader, *header) (any, error)
}

var kinds = map[string]kind{
	"<f4": {4, readAs[float32]}, "<f8": {8, readAs[float64]},
	"|i1": {1, readAs[int8]}, "<i2": {2, readAs[int16]}, "<i4": {4, readAs[int32]}, "<i8": {8, readAs[int64]},
	"|u1": {1, readAs[uint8]}, "<u2": {2, readAs[uint16]}, "<u4": {4, readAs[uint32]}, "<u8": {8, readAs[uint64]},
	"|b1": {1, readAs[bool]},
}

func readAs[T Elem](r io.Reader, h *header) (any, error) {
	var zero T
	size := binary.Size(zero)
	out := make([]T, h.count)
	buf := make([]byte, min(blockSize, h.count*size))
	for done := 0; done < len(out); {
		n := min(len(buf)/size, len(out)-done)
		block := buf[:n*size]
		if _, err := io.ReadFull(r, block); err != nil {
			return nil, fmt.Errorf("element %d: %w", done, err)
		}
		if _, err := binary.Decode(block, binary.LittleEndian, out[done:done+n]); err != nil {
			return nil, err
		}
		done += n
	}
	if h.fortran {
		out = rowMajor(out, h.shape)
	}
	return out, nil
}

// rowMajor copies in, whose first index runs fastest, so that the last does.
func rowMajor[T Elem](in []T, shape []int) []T {
	if len(shape) < 2 || len(in) == 0 {
		return in
	}
	stride := make([]int, len(shape)) // of each index in the Fortran order
	s := 1
	for k, d := range shape {
		stride[k] = s
		s *= d
	}
	out := make([]T, len(in))
	index := make([]int, len(shape))
	from := 0
	for to := range out {
		out[to] = in[from]
		for k := len(shape) - 1; k >= 0; k-- {
			index[k]++
			from += stride[k]
			if index[k] < shape[k] {
				break
			}
			from -= index[k] * stride[k]
			index[k] = 0
		}
	}
	return out
}
