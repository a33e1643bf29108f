package device

import (
	"errors"
	"os"
	"syscall"
)

const canMap = true

// mapPages reserves n bytes of anonymous memory, and all that is mapped with them: a page before and one behind that nobody may
// touch, so that no kernel gets into other memory of the process. NORESERVE lets a budget exceed what is
// free now; huge pages make gathers of scattered rows miss the TLB less.
func mapPages(n int) (b, all []byte, err error) {
	page := os.Getpagesize()
	end := page + (n+page-1)/page*page
	all, err = syscall.Mmap(-1, 0, end+page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(syscall.Mprotect(all[:page], syscall.PROT_NONE), syscall.Mprotect(all[end:], syscall.PROT_NONE)); err != nil {
		return nil, nil, errors.Join(err, syscall.Munmap(all))
	}
	b = all[page : page+n : page+n]
	advisePages(all[page:end])
	return b, all, nil
}

// advisePages asks for huge pages. Where the system has none, the error is ignored.
func advisePages(b []byte) { syscall.Madvise(b, syscall.MADV_HUGEPAGE) }

func unmapPages(b []byte) error { return syscall.Munmap(b) }
