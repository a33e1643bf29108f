package device

import "unsafe"

// hugePage is what memory must hold for huge pages to be worth a call.
const hugePage = 2 << 20

// Scratch is n zero bytes off the heap, in huge pages where the system has them, and how
// they are given back; nil where they are few or the system maps none. Huge pages are a
// five-hundredth of the page faults, and scattered writes miss the TLB less.
func Scratch(n int) (b []byte, give func()) {
	if n < hugePage || !canMap {
		return nil, nil
	}
	p, err := newPages(int64(n), false)
	if err != nil {
		return nil, nil // the heap has its own way to say that memory is out
	}
	return p.b, func() { p.free() }
}

// Fresh asks for huge pages for memory of the heap that is about to be written from end
// to end. Memory that has been written before keeps the pages it has.
func Fresh(b []byte) {
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1))
	if n := (len(b) - skip) &^ (hugePage - 1); n > 0 {
		advisePages(b[skip : skip+n])
	}
}
