package device

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

const canMap = true

// mapPages reserves n bytes of anonymous memory, and all that is mapped with them: a page before and one behind that nobody may
// touch, so that no kernel gets into other memory of the process. NORESERVE lets a budget exceed what is
// free now; huge pages make gathers of scattered rows miss the TLB less.
func mapPages(n int) (b, all []byte, err error) {
	page, spare := os.Getpagesize(), 0 // blocks that have huge pages begin where one does
	if n >= hugePage {
		spare = hugePage
	}
	bytes := (n + page - 1) / page * page
	all, err = syscall.Mmap(-1, 0, bytes+2*page+spare, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, nil, err
	}
	from := page
	if spare > 0 {
		at := int(uintptr(unsafe.Pointer(unsafe.SliceData(all))) % hugePage)
		from = (at+page+hugePage-1)/hugePage*hugePage - at
	}
	end := from + bytes
	if err := errors.Join(syscall.Mprotect(all[:from], syscall.PROT_NONE), syscall.Mprotect(all[end:], syscall.PROT_NONE)); err != nil {
		return nil, nil, errors.Join(err, syscall.Munmap(all))
	}
	b = all[from : from+n : from+n]
	advisePages(all[from:end])
	return b, all, nil
}

// advisePages asks for huge pages. Where the system has none, the error is ignored.
func advisePages(b []byte) { syscall.Madvise(b, syscall.MADV_HUGEPAGE) }

func unmapPages(b []byte) error { return syscall.Munmap(b) }
