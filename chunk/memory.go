package chunk

import "unsafe"

// Memory is where Build takes large memory from. The zero value is the heap.
type Memory struct {
	// Scratch returns n bytes, n > 0, aligned to 8, and give, which frees them. If it is nil, or b
	// is nil, the heap is used.
	Scratch func(n int) (b []byte, give func())
	// Fresh, unless nil, is called with memory of the heap that is about to be written from end to end.
	Fresh func(b []byte)
}

// scratch is n values from m, and the function that frees them.
func scratch[T any](m Memory, n int) ([]T, func()) {
	var t T
	if m.Scratch != nil && n > 0 {
		if b, give := m.Scratch(n * int(unsafe.Sizeof(t))); b != nil {
			return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n), give
		}
	}
	return make([]T, n), func() {}
}
