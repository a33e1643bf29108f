package device

import (
	"errors"
	"os"
	"syscall"
)

// LockFolder locks folder dir for this process until unlock is called or the process ends for any
// reason. Meanwhile other processes get ErrLocked. It writes no file. On a file system without
// locks it returns unlock and an error: nothing is locked, but nobody else could lock the folder either.
func LockFolder(dir string) (unlock func() error, err error) {
	f, err := os.OpenFile(dir, syscall.O_DIRECTORY, 0) // opening a pipe would wait
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
		case err != nil:
			return f.Close, err
		}
		return f.Close, nil
	}
}
