package saga

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"sagann/device"
)

// Checkpoints and full disks. The room of a checkpoint is taken before the first epoch, given back to write it, and taken
// again for the next. If another process was faster, the checkpoint is tried again for some time and then written elsewhere.

// fullFor is how long a checkpoint is tried again, and fullPause the time between two tries. Variables, for tests.
var (
	fullFor   = 20 * time.Second
	fullPause = time.Second
)

// ElsewhereError says that a checkpoint could not be written to its place, and lies in another file.
type ElsewhereError struct {
	Path  string // where it is
	Wants string // where it was to be
	Epoch int    // completed epochs
	Err   error  // why it could not be written there
}

// Error says where the checkpoint is and what to do.
func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("%v; the checkpoint after epoch %d is in %s: when there is room, move it to %s to go on from it", e.Err, e.Epoch, e.Path, e.Wants)
}

// Unwrap is Err.
func (e *ElsewhereError) Unwrap() error { return e.Err }

// isFull tells whether err is of a disk, or a share of it, that is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// saving is how checkpoints are written.
type saving struct {
	path    string // "": none are
	scratch string // where they go if the disk is full; "": the folder for temporary files
	bytes   int64  // no less than the size of one
	writes  bool   // this rank writes them
	again   bool   // one can be tried again: save does not need other ranks
	before  func() error
	save    func(path string) error
	full    func(error)
	space   *device.Space // for the next one
}

// take takes the room of the next checkpoint.
func (s *saving) take() (err error) {
	if !s.writes {
		return nil
	}
	if s.space, err = device.TakeSpace(filepath.Dir(s.path), s.bytes); err != nil {
		return fmt.Errorf("%s: room for a checkpoint of up to %d bytes: %w", s.path, s.bytes, err)
	}
	return nil
}

// try writes a checkpoint to its place.
func (s *saving) try() error {
	if s.writes && s.before != nil {
		if err := s.before(); err != nil {
			return err
		}
	}
	return s.save(s.path)
}

// write writes the checkpoint after so many epochs.
func (s *saving) write(epoch int) error {
	err := errors.Join(s.space.Close(), s.try())
	if !isFull(err) || !s.again {
		if err == nil {
			_ = s.take() // if this fails, the next checkpoint is tried without
		}
		return err
	}
	if s.full != nil {
		s.full(err)
	}
	for end := time.Now().Add(fullFor); isFull(err) && time.Now().Before(end); {
		time.Sleep(fullPause)
		err = s.try()
	}
	if !isFull(err) {
		return err
	}
	for _, dir := range []string{s.scratch, os.TempDir()} {
		if dir == "" {
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("saga-checkpoint-%08x.safetensors", rand.Uint32()))
		if s.save(path) == nil {
			return &ElsewhereError{path, s.path, epoch, err}
		}
	}
	return err
}
