package device

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that callers tell apart with errors.Is.
var (
	// ErrClosed is returned by all calls after Close.
	ErrClosed = errors.New("device is closed")
	// ErrFailed is returned by all calls that ask for work after Sync has
	// reported an asynchronous error.
	ErrFailed = errors.New("device has failed")
	// ErrNotRecorded is returned by Wait for an event without a Record.
	ErrNotRecorded = errors.New("event was never recorded")
	// ErrInjected is the default error of a Fault.
	ErrInjected = errors.New("injected fault")
	// ErrLocked is returned by LockFolder for a folder that another process has.
	ErrLocked = errors.New("another process has the folder")
)

// A BudgetError says that a block does not fit a device's arena or its share
// of host memory. All numbers are bytes.
type BudgetError struct {
	Device  string
	Host    bool  // host memory, not the arena
	Asked   int64 // as asked, not yet rounded up to Align
	Used    int64
	Budget  int64
	Largest int64 // largest free block; below Budget-Used when the arena is fragmented
}

// Error names asked, used and budget.
func (e *BudgetError) Error() string {
	var b strings.Builder
	what := "device"
	if e.Host {
		what = "host"
	}
	fmt.Fprintf(&b, "%s: out of %s memory: asked for %d bytes, %d used of a budget of %d",
		e.Device, what, e.Asked, e.Used, e.Budget)
	if !e.Host && e.Asked <= e.Budget-e.Used {
		fmt.Fprintf(&b, " (largest free block %d)", e.Largest)
	}
	return b.String()
}

// An OpError says which call of which device failed. Queue, Kernel and Tag
// are set for tasks.
type OpError struct {
	Device string
	Op     Op
	Queue  string
	Kernel string
	Tag    int64
	Err    error
}

// Error names device, op, kernel, queue, tag and cause, as far as they are set.
func (e *OpError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", e.Device, e.Op)
	if e.Kernel != "" {
		fmt.Fprintf(&b, " %s", e.Kernel)
	}
	if e.Queue != "" {
		fmt.Fprintf(&b, " on queue %s, tag %d", e.Queue, e.Tag)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

// Unwrap returns the cause.
func (e *OpError) Unwrap() error { return e.Err }

// A LeakError says what a device still held when it was closed.
type LeakError struct {
	Device     string
	Blocks     int   // of the arena
	Bytes      int64 // in them
	HostBlocks int
	HostBytes  int64
}

// Error names both kinds of memory.
func (e *LeakError) Error() string {
	return fmt.Sprintf("%s: closed while holding %d device blocks (%d bytes) and %d host blocks (%d bytes)",
		e.Device, e.Blocks, e.Bytes, e.HostBlocks, e.HostBytes)
}
