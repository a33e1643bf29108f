package npy

import (
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// Elem is the set of element types that an array can have.
type Elem interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool
}

// Array is an n-dimensional array in C (row-major) order.
type Array struct {
	Shape []int // empty for a scalar
	Data  any   // []T for a T of Elem, or []string; its length is the product of Shape

	name     string // file the array came from, for errors
	offset   int64  // byte of the first element in that file, or negative
	elemSize int64
	fortran  bool // the file has the elements in another order
	first    int  // for a part of an array: the index of its first element there
}

// Len is the number of elements.
func (a *Array) Len() int {
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	return n
}

// Derived is an array that was computed from a. Errors name a's file and the element.
func (a *Array) Derived(shape []int, data any) *Array {
	return &Array{Shape: shape, Data: data, name: a.name, offset: -1}
}

// New is an array of data, in C order, that comes from no file. Errors call it name.
func New(name string, shape []int, data any) *Array {
	return &Array{Shape: shape, Data: data, name: name, offset: -1}
}

// With is a with other elements, as many as before. Errors name the same bytes of the file.
func (a *Array) With(data any) *Array {
	b := *a
	b.Data = data
	return &b
}

// Name is the file, or the member of an archive, that the array came from.
func (a *Array) Name() string { return a.name }

// Where is the place of element i (in C order) as "file: byte n", for errors.
// For an array that was stored in Fortran order it is the first byte of the array; for one
// of FromBytes it names the element.
func (a *Array) Where(i int) string {
	i += a.first
	if a.offset < 0 {
		return fmt.Sprintf("%s: element %d", a.name, i)
	}
	if a.fortran {
		return fmt.Sprintf("%s: element %d of the array at byte %d", a.name, i, a.offset)
	}
	return fmt.Sprintf("%s: byte %d", a.name, a.offset+int64(i)*a.elemSize)
}

// part is n elements from the first on, as a vector.
func (a *Array) part(first, n int) *Array {
	out := &Array{Shape: []int{n}, name: a.name, offset: a.offset, elemSize: a.elemSize, fortran: a.fortran, first: a.first + first}
	switch d := a.Data.(type) {
	case []float32:
		out.Data = d[first : first+n]
	case []float64:
		out.Data = d[first : first+n]
	case []int8:
		out.Data = d[first : first+n]
	case []int16:
		out.Data = d[first : first+n]
	case []int32:
		out.Data = d[first : first+n]
	case []int64:
		out.Data = d[first : first+n]
	case []uint8:
		out.Data = d[first : first+n]
	case []uint16:
		out.Data = d[first : first+n]
	case []uint32:
		out.Data = d[first : first+n]
	case []uint64:
		out.Data = d[first : first+n]
	case []bool:
		out.Data = d[first : first+n]
	case []string:
		out.Data = d[first : first+n]
	}
	return out
}

// number is Elem without bool.
type number interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// Float32s returns the elements as float32. Integers and float64 are rounded to
// nearest, bool becomes 0 or 1. A float32 array is returned without a copy.
func (a *Array) Float32s() ([]float32, error) {
	switch d := a.Data.(type) {
	case []float32:
		return d, nil
	case []float64:
		return toFloat(d), nil
	case []int8:
		return toFloat(d), nil
	case []int16:
		return toFloat(d), nil
	case []int32:
		return toFloat(d), nil
	case []int64:
		return toFloat(d), nil
	case []uint8:
		return toFloat(d), nil
	case []uint16:
		return toFloat(d), nil
	case []uint32:
		return toFloat(d), nil
	case []uint64:
		return toFloat(d), nil
	case []bool:
		return toFloat(fromBool(d)), nil
	}
	return nil, a.noNumbers()
}

// Int64s returns the elements as int64. It is an error when an element is not a
// whole number that int64 holds; the error names the byte.
func (a *Array) Int64s() ([]int64, error) {
	switch d := a.Data.(type) {
	case []int64:
		return d, nil
	case []float32:
		return wholeFloats(a, d)
	case []float64:
		return wholeFloats(a, d)
	case []int8:
		return toInt(d), nil
	case []int16:
		return toInt(d), nil
	case []int32:
		return toInt(d), nil
	case []uint8:
		return toInt(d), nil
	case []uint16:
		return toInt(d), nil
	case []uint32:
		return toInt(d), nil
	case []uint64:
		for i, x := range d {
			if x > math.MaxInt64 {
				return nil, fmt.Errorf("%s: %d is larger than the largest int64", a.Where(i), x)
			}
		}
		return toInt(d), nil
	case []bool:
		return toInt(fromBool(d)), nil
	}
	return nil, a.noNumbers()
}

// noNumbers says that the elements, which are texts, are no numbers.
func (a *Array) noNumbers() error {
	return fmt.Errorf("%s: the array has texts, and numbers are wanted", a.name)
}

// Int32s returns the elements as int32, with an error that names the byte of an
// element which int32 does not hold. An int32 array is returned without a copy.
func (a *Array) Int32s() ([]int32, error) {
	if d, ok := a.Data.([]int32); ok {
		return d, nil
	}
	return narrow[int32](a, math.MinInt32, math.MaxInt32)
}

// Uint32s returns the elements as uint32, with an error that names the byte of
// an element which is negative or too large. A uint32 or int32 array is returned
// without a copy.
func (a *Array) Uint32s() ([]uint32, error) {
	switch d := a.Data.(type) {
	case []uint32:
		return d, nil
	case []int32: // the usual case; numbers that are not negative have the same bits
		for i, x := range d {
			if x < 0 {
				return nil, fmt.Errorf("%s: %d is negative", a.Where(i), x)
			}
		}
		return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(d))), len(d)), nil
	}
	return narrow[uint32](a, 0, math.MaxUint32)
}

func narrow[T int32 | uint32](a *Array, lo, hi int64) ([]T, error) {
	wide, err := a.Int64s()
	if err != nil {
		return nil, err
	}
	out := make([]T, len(wide))
	for i, x := range wide {
		if x < lo || x > hi {
			return nil, fmt.Errorf("%s: %d is outside %d..%d", a.Where(i), x, lo, hi)
		}
		out[i] = T(x)
	}
	return out, nil
}

func toFloat[T number](in []T) []float32 {
	out := make([]float32, len(in))
	for i, x := range in {
		out[i] = float32(x)
	}
	return out
}

func toInt[T number](in []T) []int64 {
	out := make([]int64, len(in))
	for i, x := range in {
		out[i] = int64(x)
	}
	return out
}

func wholeFloats[T float32 | float64](a *Array, in []T) ([]int64, error) {
	out := make([]int64, len(in))
	for i, x := range in {
		f := float64(x)
		// The largest int64 is not a float64, but 2^63 is.
		if f != math.Trunc(f) || f < math.MinInt64 || !(f < 1<<63) {
			return nil, fmt.Errorf("%s: %v is not a whole number", a.Where(i), x)
		}
		out[i] = int64(f)
	}
	return out, nil
}

func fromBool(in []bool) []uint8 {
	out := make([]uint8, len(in))
	for i, b := range in {
		if b {
			out[i] = 1
		}
	}
	return out
}

// View is an array of the elements of vector a that a shape and strides, in elements, select from element
// first on. All of them must lie in a.
func (a *Array) View(first int, shape, stride []int) *Array {
	at := make([]int, 1, 1<<10)
	if at[0] = first; slices.Contains(shape, 0) { // nothing, however long the other sides are
		at = nil
	}
	for k, d := range shape {
		next := make([]int, 0, len(at)*d)
		for _, base := range at {
			for i := range d {
				next = append(next, base+i*stride[k])
			}
		}
		at = next
	}
	out := a.Derived(shape, nil)
	switch d := a.Data.(type) {
	case []float32:
		out.Data = pick(d, at)
	case []float64:
		out.Data = pick(d, at)
	case []int8:
		out.Data = pick(d, at)
	case []int16:
		out.Data = pick(d, at)
	case []int32:
		out.Data = pick(d, at)
	case []int64:
		out.Data = pick(d, at)
	case []uint8:
		out.Data = pick(d, at)
	case []bool:
		out.Data = pick(d, at)
	}
	return out
}

func pick[T Elem](from []T, at []int) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = from[k]
	}
	return out
}
