package device

import "unsafe"

// hugePage is the least bytes for which asking for huge pages is worth a call.
const hugePage = 2 << 20

// Scratch returns n zero bytes off the heap, in huge pages where the system has them, and give,
// which frees them. Both are nil if n is small or the system cannot map them. With huge pages there
// are five hundred times fewer page faults, and scattered writes miss the TLB less.
func Scratch(n int) (b []byte, give func()) {
	if n < hugePage || !canMap {
		return nil, nil
	}
	p, err := newPages(int64(n), false)
	if err != nil {
		return nil, nil // the caller takes the memory from the heap, which reports if there is none
	}
	return p.b, func() { p.free() }
}

// Fresh asks for huge pages for b, memory of the heap that is about to be written from end
// to end. Parts that were written before keep the pages they have.
func Fresh(b []byte) {
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1))
	if n := (len(b) - skip) &^ (hugePage - 1); n > 0 {
		advisePages(b[skip : skip+n])
	}
}
