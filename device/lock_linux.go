package device

import (
	"errors"
	"os"
	"syscall"
)

// LockFolder takes dir for this process until unlock is called or the process ends, however
// it ends: meanwhile others get ErrLocked. Nothing is written. Where the file system has no
// locks every process gets one.
func LockFolder(dir string) (unlock func() error, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EWOULDBLOCK:
			return nil, errors.Join(ErrLocked, f.Close())
		}
		return f.Close, nil
	}
}
