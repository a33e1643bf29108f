package device

import (
	"errors"
	"os"
)

// Space is room on a disk that nobody else can take before it is given back.
type Space struct {
	f     *os.File
	named bool // the file must be removed
}

// TakeSpace takes so many bytes of the disk of folder dir. On Linux the room has no name, and a process that is killed
// gives it back. With 0 bytes it tells whether a file can be made in dir.
func TakeSpace(dir string, bytes int64) (*Space, error) {
	f, err := openNameless(dir)
	s := &Space{f: f}
	if errors.Is(err, errors.ErrUnsupported) {
		f, err = os.CreateTemp(dir, ".saga-space-*")
		s = &Space{f, true}
	}
	if err != nil {
		return nil, err
	}
	if bytes > 0 {
		if err = takeSpace(f, bytes); errors.Is(err, errors.ErrUnsupported) {
			err = writeZeros(f, bytes)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// writeZeros makes f so many bytes long.
func writeZeros(f *os.File, bytes int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < bytes; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), bytes-at)], at); err != nil {
			return err
		}
	}
	return f.Sync() // some file systems take the space only then
}

// Close gives the room back. A nil Space has none.
func (s *Space) Close() error {
	if s == nil || s.f == nil {
		return nil
	}
	err := s.f.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.f.Name()))
	}
	s.f = nil
	return err
}
