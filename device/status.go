package device

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// status is the health of a device. It goes from healthy to failing, when a task fails, and to
// failed, when Sync has reported that. Being closed is separate: a closed device still drains
// its queues.
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

// usable returns the error that refuses new work, if any. A failing device still accepts work,
// so that timing does not decide which call returns the error.
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

// fail records an asynchronous error; only the first one is kept.
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

// report returns the asynchronous error at its first call and nil at later ones.
func (s *status) report() error {
	if s.health.CompareAndSwap(failing, failed) {
		return s.first()
	}
	return nil
}
