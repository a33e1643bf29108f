package npy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"unsafe"

	"sagann/internal/regular"
)

// blockSize is how much of a file is decoded at a time.
const blockSize = 1 << 20

// Read returns the array in the .npy file at path. An error names the file and
// the byte.
func Read(path string) (*Array, error) {
	f, size, err := regular.OpenSized(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Decode(f, size, path)
}

// Decode reads one array of exactly size bytes, header included, from r. Errors call it
// name. Missing or extra bytes are an error.
func Decode(r io.Reader, size int64, name string) (*Array, error) {
	br := bufio.NewReaderSize(r, 1<<12)
	h, err := readHeader(br)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return decode(br, h, size, name)
}

// FromBytes makes an array of the bytes of its elements, as in a file. descr is
// their type in NumPy's notation, such as "<f4". The number of bytes must match the shape
// exactly.
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
	k, err := h.fits(size, name)
	if err != nil {
		return nil, err
	}
	data, err := k.read(r, h.count, k.order, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: byte %d: %w", name, h.size, err)
	}
	fortran := h.fortran && len(h.shape) > 1
	if fortran {
		data = k.turn(data, h.shape)
	}
	return &Array{Shape: h.shape, Data: data, name: name, offset: h.size, elemSize: k.size, fortran: fortran}, nil
}

// fits checks the shape and element type against size, the bytes of the whole file.
func (h *header) fits(size int64, name string) (kind, error) {
	k, ok := kindOf(h.descr)
	if !ok {
		return k, fmt.Errorf("%s: element type %q is not read (float16, float32, float64, integers, bool and texts are)", name, h.descr)
	}
	// count may be near 2^63, so divide instead of multiplying.
	have := size - h.size
	if have < 0 || have%k.size != 0 || int64(h.count) != have/k.size {
		return k, fmt.Errorf("%s: byte %d: shape %v of %q does not match the %d bytes that follow", name, h.size, h.shape, h.descr, max(have, 0))
	}
	return k, nil
}

// kind is an element type.
type kind struct {
	size int64 // bytes of an element in the file
	// read reads n elements, into room if that is of the right type and large enough.
	read  func(r io.Reader, n int, order binary.ByteOrder, room any) (any, error)
	turn  func(data any, shape []int) any // from Fortran order to C order
	order binary.ByteOrder
}

// kinds are the element types by name, without the byte order. A 16-bit float is read as
// float32. bf2 is bfloat16, the upper half of a float32, which NumPy does not have.
var kinds = map[string]kind{
	"f2": half(fromFloat16), "bf2": half(fromBfloat16),
	"f4": kindFor[float32](4), "f8": kindFor[float64](8),
	"i1": kindFor[int8](1), "i2": kindFor[int16](2), "i4": kindFor[int32](4), "i8": kindFor[int64](8),
	"u1": kindFor[uint8](1), "u2": kindFor[uint16](2), "u4": kindFor[uint32](4), "u8": kindFor[uint64](8),
	"b1": kindFor[bool](1),
}

func kindFor[T Elem](size int64) kind {
	return kind{size: size, read: readAs[T], turn: turned[T]}
}

func half(widen func(uint16) float32) kind {
	return kind{size: 2, turn: turned[float32], read: func(r io.Reader, n int, order binary.ByteOrder, _ any) (any, error) {
		x, err := readAs[uint16](r, n, order, nil)
		if err != nil {
			return nil, err
		}
		out := make([]float32, n)
		for i, b := range x.([]uint16) {
			out[i] = widen(b)
		}
		return out, nil
	}}
}

func turned[T Elem](data any, shape []int) any { return rowMajor(data.([]T), shape) }

// kindOf reads a type such as "<f4", ">i8" or "|b1".
func kindOf(descr string) (kind, bool) {
	if descr == "" {
		return kind{}, false
	}
	k, ok := kinds[descr[1:]]
	if !ok {
		k, ok = textKind(descr[1:])
	}
	switch descr[0] {
	case '<':
		k.order = binary.LittleEndian
	case '>':
		k.order = binary.BigEndian
	case '|':
		k.order = binary.LittleEndian
		ok = ok && (k.size == 1 || descr[1] == 'S')
	default:
		ok = false
	}
	return k, ok
}

func readAs[T Elem](r io.Reader, n int, order binary.ByteOrder, room any) (any, error) {
	var zero T
	size := binary.Size(zero)
	out, _ := room.([]T)
	if out == nil || cap(out) < n {
		out = make([]T, n)
	}
	out = out[:n]
	if _, isBool := any(zero).(bool); !isBool && n > 0 && order.Uint16([]byte{1, 0}) == binary.NativeEndian.Uint16([]byte{1, 0}) {
		if k, err := io.ReadFull(r, unsafe.Slice((*byte)(unsafe.Pointer(&out[0])), n*size)); err != nil {
			return nil, fmt.Errorf("element %d: %w", k/size, err)
		}
		return out, nil
	}
	buf := make([]byte, min(blockSize, n*size))
	for done := 0; done < len(out); {
		n := min(len(buf)/size, len(out)-done)
		block := buf[:n*size]
		if _, err := io.ReadFull(r, block); err != nil {
			return nil, fmt.Errorf("element %d: %w", done, err)
		}
		if _, err := binary.Decode(block, order, out[done:done+n]); err != nil {
			return nil, err
		}
		done += n
	}
	return out, nil
}

// fromFloat16 converts an IEEE 754 16-bit float (1 bit of sign, 5 of exponent, 10 of
// fraction) to float32, which is exact.
func fromFloat16(b uint16) float32 {
	sign, exp, frac := uint32(b>>15)<<31, uint32(b>>10)&31, uint32(b)&1023
	switch exp {
	case 0: // zero, or frac/1024 · 2^-14
		f := float32(frac) / (1 << 24)
		if sign != 0 {
			f = -f
		}
		if frac == 0 {
			return math.Float32frombits(sign)
		}
		return f
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | frac<<13)
}

func fromBfloat16(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// rowMajor copies an array in Fortran order, whose first index runs fastest, to C order.
func rowMajor[T Elem | string](in []T, shape []int) []T {
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
