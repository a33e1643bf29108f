package device

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// status is the health of a device. It goes from healthy over failing (a task
// failed, no Sync has said so) to failed (Sync has). Being closed is apart from
// that: a closed device still drains its queues.
type status struct {
	closed atomic.Bool
	health atomic.Int32
	mu     sync.Mutex
	err    error // the first asynchronous error
}

const (
	healthy = iota
	failing
	failed
)

// open returns ErrClosed after close.
func (s *status) open() error {
	if s.closed.Load() {
		return ErrClosed
	}
	return nil
}

// usable returns the error that refuses new work, if any. Failing is not one,
// so that timing does not decide which call of many returns it.
func (s *status) usable() error {
	if s.closed.Load() {
		return ErrClosed
	}
	if s.health.Load() == failed {
		return fmt.Errorf("%w: %w", ErrFailed, s.first())
	}
	return nil
}

// sound reports whether tasks still do their work.
func (s *status) sound() bool { return s.health.Load() == healthy }

// fail notes an asynchronous error; only the first counts.
func (s *status) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
		s.health.Store(failing)
	}
}

func (s *status) first() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// report returns the asynchronous error to the first who asks and nil to the
// others.
func (s *status) report() error {
	if s.health.CompareAndSwap(failing, failed) {
		return s.first()
	}
	return nil
}
