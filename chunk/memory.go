package chunk

import "unsafe"

// Memory is where building takes what is large. The zero value is the heap.
type Memory struct {
	// Scratch gives n bytes, n > 0, at a multiple of 8, and how they are given back; nil
	// for the heap.
	Scratch func(n int) (b []byte, give func())
	// Fresh is told of memory of the heap that is about to be written from end to end.
	Fresh func(b []byte)
}

// scratch is n values of m, and how they are given back.
func scratch[T any](m Memory, n int) ([]T, func()) {
	var t T
	if m.Scratch != nil && n > 0 {
		if b, give := m.Scratch(n * int(unsafe.Sizeof(t))); b != nil {
			return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n), give
		}
	}
	return make([]T, n), func() {}
}
