package device

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"
)

// tmpFile is O_TMPFILE: a file that never has a name.
const tmpFile = 0o20000000 | syscall.O_DIRECTORY

// openNameless makes a file without a name in dir. If the file system cannot do that, it
// makes a file with a name and removes the name at once.
func openNameless(dir string) (*os.File, error) {
	for {
		fd, err := syscall.Open(dir, tmpFile|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), filepath.Join(dir, "(host memory)")), nil
		case err == syscall.EINTR:
			continue
		case err != syscall.EOPNOTSUPP && err != syscall.EISDIR && err != syscall.EINVAL && err != syscall.ENOSYS:
			return nil, err
		}
		f, err := os.CreateTemp(dir, ".saga-host-*")
		if err != nil {
			return nil, err
		}
		if err := os.Remove(f.Name()); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return f, nil
	}
}

// takeSpace makes f n bytes long and allocates the disk space. If the file system
// cannot allocate, it writes zeros.
func takeSpace(f *os.File, n int64) error {
	for {
		switch err := syscall.Fallocate(int(f.Fd()), 0, 0, n); err {
		case syscall.EINTR:
			continue
		case syscall.EOPNOTSUPP, syscall.ENOSYS:
		default:
			return err
		}
		break
	}
	return writeZeros(f, n)
}

func mapFile(f *os.File, n int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unmapFile(b []byte) error { return syscall.Munmap(b) }

// dropPages unmaps the whole pages of b from the process's memory.
func dropPages(b []byte) {
	page := uintptr(os.Getpagesize())
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	lo := (at + page - 1) &^ (page - 1)
	if hi := (at + uintptr(len(b))) &^ (page - 1); hi > lo {
		syscall.Madvise(b[lo-at:hi-at], syscall.MADV_DONTNEED) // advice: an error changes nothing
	}
}

// FreeSpace is how many bytes an ordinary user may still write in dir. Other systems than Linux do not say it.
func FreeSpace(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
