package safetensors

import (
	"fmt"
	"math"
)

// DType is the type of a tensor's values, as named in the format.
type DType string

// The value types this package knows. [Load] loads those of an [Element]; values of the others are read by [File.Values].
const (
	Bool DType = "BOOL"
	F16  DType = "F16"
	BF16 DType = "BF16"
	F32  DType = "F32"
	F64  DType = "F64"
	I8   DType = "I8"
	I16  DType = "I16"
	I32  DType = "I32"
	I64  DType = "I64"
	U8   DType = "U8"
	U16  DType = "U16"
	U32  DType = "U32"
	U64  DType = "U64"
)

// Size is the number of bytes of one value, 0 for a type this package does not know.
func (d DType) Size() int {
	switch d {
	case Bool, I8, U8:
		return 1
	case F16, BF16, I16, U16:
		return 2
	case F32, I32, U32:
		return 4
	case F64, I64, U64:
		return 8
	}
	return 0
}

// Element is the set of Go types that tensors hold.
type Element interface {
	float32 | float64 | int32 | int64 | uint8 | uint32 | uint64
}

// Tensor is one tensor to be written.
type Tensor struct {
	Name  string
	Shape []int // lengths, outermost first; empty for a scalar
	Data  any   // a slice of an [Element], row-major, as many values as the product of Shape; or Later
}

// Later returns the values of a float32 tensor. It is called when they are written, so that not all
// tensors of a file are in memory at the same time.
type Later func() ([]float32, error)

// dtypeOf returns the type and the number of values of Tensor.Data. The number is -1 for Later.
func dtypeOf(data any) (DType, int, bool) {
	switch d := data.(type) {
	case []float32:
		return F32, len(d), true
	case Later:
		return F32, -1, true
	case []float64:
		return F64, len(d), true
	case []int32:
		return I32, len(d), true
	case []int64:
		return I64, len(d), true
	case []uint8:
		return U8, len(d), true
	case []uint32:
		return U32, len(d), true
	case []uint64:
		return U64, len(d), true
	}
	return "", 0, false
}

// byteSize is the product of shape times size, or an error when a length is
// negative or the product does not fit an int.
func byteSize(shape []int, size int) (int, error) {
	n, zero := size, false
	for _, d := range shape {
		switch {
		case d < 0:
			return 0, fmt.Errorf("shape %v: negative length", shape)
		case d == 0:
			zero = true
		case n > math.MaxInt/d:
			return 0, fmt.Errorf("shape %v of %d-byte values is larger than the address space", shape, size)
		default:
			n *= d
		}
	}
	if zero {
		return 0, nil
	}
	return n, nil
}
