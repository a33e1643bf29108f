package device

import (
	"errors"
	"testing"
)

// Several queues may fail before Sync: the first error is reported, once.
func TestStatusFirstError(t *testing.T) {
	var s status
	first, second := errors.New("first"), errors.New("second")
	if s.report() != nil || !s.sound() {
		t.Fatal("not healthy at the start")
	}
	s.fail(first)
	s.fail(second)
	if s.sound() || s.usable() != nil {
		t.Error("a failing device does no work, yet takes some")
	}
	if err := s.report(); err != first {
		t.Errorf("report: %v", err)
	}
	s.fail(second)
	if err := s.report(); err != nil {
		t.Errorf("second report: %v", err)
	}
	if err := s.usable(); !errors.Is(err, ErrFailed) || !errors.Is(err, first) || errors.Is(err, second) {
		t.Errorf("usable: %v", err)
	}
}
