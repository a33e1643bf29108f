package device

import (
	"fmt"
	"unsafe"
)

// Align is the alignment in bytes of every block: a cache line, and a vector
// register of AVX-512.
const Align = 64

// A Mem is a range of a device's arena: a block that Alloc returned or a slice
// of one. It is a small value to copy freely. The zero Mem belongs to no
// device.
type Mem struct {
	off, len int64
	owner    uint32 // device id, never 0
	slot     uint32 // of the block, in space.slots
	gen      uint32 // generation of the slot; it differs once the block is freed
}

// Off is where the range starts in the arena, in bytes.
func (m Mem) Off() int64 { return m.off }

// Len is the length in bytes.
func (m Mem) Len() int64 { return m.len }

// Slice returns the n bytes of m from off on. It panics when they are not
// inside m.
func (m Mem) Slice(off, n int64) Mem {
	if !inside(off, n, m.len) {
		panic(fmt.Sprintf("device: slice of %d bytes at %d of a block of %d", n, off, m.len))
	}
	m.off += off
	m.len = n
	return m
}

// In returns m's bytes in the arena that a HostKernel is given.
func (m Mem) In(arena []byte) []byte {
	return arena[m.off : m.off+m.len : m.off+m.len]
}

// inside reports whether n bytes at off lie within size bytes. It does not
// overflow.
func inside(off, n, size int64) bool {
	return off >= 0 && n >= 0 && off <= size && n <= size-off
}

// HostMem is host memory that HostAlloc returned.
type HostMem struct {
	b     []byte
	owner uint32
}

// Bytes is the memory itself. It must not be touched after HostFree or Close:
// it is off the heap, so that would crash the program.
func (h HostMem) Bytes() []byte { return h.b }

// Value is a type of fixed size without pointers.
type Value interface {
	~uint8 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// Bytes is the memory of x, without a copy; View undoes it for a Value. T has no pointers.
func Bytes[T any](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}

// View returns b as values of type T in the machine's byte order, without a
// copy. It panics when b is not aligned for T or holds a broken number of them.
func View[T Value](b []byte) []T {
	var v T
	size := unsafe.Sizeof(v)
	p := unsafe.Pointer(unsafe.SliceData(b))
	if len(b) == 0 {
		return nil
	}
	if uintptr(len(b))%size != 0 || uintptr(p)%unsafe.Alignof(v) != 0 {
		panic(fmt.Sprintf("device: view of %d bytes at %p as %T", len(b), p, v))
	}
	return unsafe.Slice((*T)(p), uintptr(len(b))/size)
}
