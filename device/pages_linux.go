package device

import "syscall"

const canMap = true

// mapPages reserves anonymous memory. NORESERVE lets a budget exceed what is
// free now; huge pages make gathers of scattered rows miss the TLB less.
func mapPages(n int) ([]byte, error) {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	advisePages(b)
	return b, nil
}

// advisePages asks for huge pages. Where the system has none, the error is ignored.
func advisePages(b []byte) { syscall.Madvise(b, syscall.MADV_HUGEPAGE) }

func unmapPages(b []byte) error { return syscall.Munmap(b) }
