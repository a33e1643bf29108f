package saga

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"sagann/device"
	"sagann/net"
)

// Checkpoints and full disks. The room of a checkpoint is taken before the first epoch, given back to write it, and taken
// again for the next. If another process was faster, the checkpoint is tried again for some time and then written elsewhere.
// That ends the training only if it was the last one.

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

// isOfFiles tells whether err is of the file system, and not of what was to be written.
func isOfFiles(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	var call *os.SyscallError
	return isFull(err) || errors.As(err, &path) || errors.As(err, &link) || errors.As(err, &call)
}

// saving is how checkpoints are written.
type saving struct {
	path    string // "": none are
	scratch string // where they go if the disk is full; "": the folder for temporary files
	bytes   int64  // no less than the size of one
	writes  bool   // this rank writes them
	again   bool   // one can be tried again: save does not need other ranks
	before  func() error
	save    func(path string) error // path "": nothing is written
	full    func(error)
	net     *net.Group
	space   *device.Space // for the next one

	spare  string // the newest one, if it is not in its place
	newest string // the newest one, for errors; "": there is none
	epoch  int    // of newest
	told   bool   // that the disk is full, and it was waited for room, since one was last in its place
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
			if !s.again { // the other ranks read rows with this one
				err = errors.Join(err, s.save(""))
			}
			return err
		}
	}
	return s.save(s.path)
}

// write writes the checkpoint after so many epochs. If the disk is full and this is not the last one, err is nil and placed is
// false on all ranks that must write it together: the checkpoint is elsewhere or was left out, and the next one is tried in its place
// again.
func (s *saving) write(epoch int, last bool) (placed bool, err error) {
	placed, err = s.writeMine(epoch, last)
	if s.again {
		return placed, err
	}
	if err = s.net.Agree("a checkpoint", err); err != nil {
		return false, err
	}
	missing, err := s.net.Any("a checkpoint is not in its place", !placed)
	return !missing, err
}

// writeMine is write on this rank.
func (s *saving) writeMine(epoch int, last bool) (placed bool, err error) {
	err = errors.Join(s.space.Close(), s.try())
	wait := isFull(err) && s.again && (last || !s.told)
	if wait {
		s.tell(fmt.Errorf("%w; it is tried again for %v: make room", err, fullFor))
	}
	for end := time.Now().Add(fullFor); wait && isFull(err) && time.Now().Before(end); {
		time.Sleep(fullPause)
		err = s.try()
	}
	if err == nil {
		s.newest, s.epoch, s.told = s.path, epoch, false
		if s.spare != "" {
			_ = os.Remove(s.spare) // an older one
			s.spare = ""
		}
		_ = s.take() // if this fails, the next checkpoint is tried without
		return true, nil
	}
	if !isOfFiles(err) {
		return false, err
	}
	full := isFull(err)
	if s.again && s.elsewhere() {
		s.newest, s.epoch = s.spare, epoch
		err = &ElsewhereError{s.spare, s.path, epoch, err}
	} else if s.newest != "" {
		err = fmt.Errorf("%w; the last checkpoint is that after epoch %d, in %s", err, s.epoch, s.newest)
	}
	if last || !full {
		return false, err
	}
	if !s.told {
		s.tell(fmt.Errorf("%w; training goes on, and the next checkpoint is tried in its place again", err))
	}
	s.told = true
	return false, nil
}

// tell tells the user that the disk is full.
func (s *saving) tell(err error) {
	if s.full != nil {
		s.full(err)
	}
}

// elsewhere writes a checkpoint to a place that has room, in place of the one that is elsewhere.
func (s *saving) elsewhere() bool {
	paths := []string{s.spare}
	for _, dir := range []string{s.scratch, os.TempDir()} {
		if full, err := filepath.Abs(dir); dir != "" && err == nil {
			dir = full
			paths = append(paths, filepath.Join(dir, fmt.Sprintf("saga-checkpoint-%08x.safetensors", rand.Uint32())))
		}
	}
	for _, path := range paths {
		if path == "" || s.save(path) != nil {
			continue
		}
		if s.spare != "" && s.spare != path {
			_ = os.Remove(s.spare)
		}
		s.spare = path
		return true
	}
	return false
}
