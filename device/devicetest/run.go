package devicetest

import (
	"errors"
	"testing"

	"sagann/device"
)

// MinBudget is the least budget in bytes that a device under test may have.
const MinBudget = 8 << 20

// Kernels makes the kernels that the suite launches, of types that the device
// under test runs.
type Kernels struct {
	// Affine sets each uint32 x of m to a·x + b, wrapping around. Two of them do
	// not commute, so their results tell the order in which they ran.
	Affine func(m device.Mem, a, b uint32) device.Kernel
	// Fail returns an error that wraps cause, or, on a device whose kernels
	// cannot return one, any error.
	Fail func(cause error) device.Kernel
}

// Host returns the kernels for the CPU device.
func Host() Kernels {
	return Kernels{
		Affine: func(m device.Mem, a, b uint32) device.Kernel {
			return device.HostFunc("affine", func(arena []byte) error {
				affine(m.In(arena), a, b)
				return nil
			})
		},
		Fail: func(cause error) device.Kernel {
			return device.HostFunc("fail", func([]byte) error { return cause })
		},
	}
}

// suite is one run: how to open a device, and its kernels.
type suite struct {
	open    func(t *testing.T) device.Device
	kernels Kernels
}

// Run runs the whole suite with the kernels of Host. Each call of open returns
// a new device with a budget of at least MinBudget; the suite closes it.
func Run(t *testing.T, open func(t *testing.T) device.Device) {
	RunKernels(t, open, Host())
}

// RunKernels is Run for a device with kernels of its own.
func RunKernels(t *testing.T, open func(t *testing.T) device.Device, k Kernels) {
	s := &suite{open, k}
	s.counts(t)
	t.Run("RoundTrip", s.roundTrip)
	t.Run("Rows", s.rows)
	t.Run("Files", s.files)
	t.Run("FileBig", s.fileBig)
	t.Run("FileRows", s.fileRows)
	t.Run("CopyWithin", s.copyWithin)
	t.Run("CopyPeer", s.copyPeer)
	t.Run("QueueOrder", s.queueOrder)
	t.Run("EventOrder", s.eventOrder)
	t.Run("EventAwaited", s.eventAwaited)
	t.Run("EventAgain", s.eventAgain)
	t.Run("EventElsewhere", s.eventElsewhere)
	t.Run("EventPeer", s.eventPeer)
	t.Run("RandomPrograms", s.random)
	t.Run("AsyncError", s.asyncError)
	t.Run("AsyncErrorAtClose", s.asyncErrorAtClose)
	t.Run("Concurrent", s.concurrent)
}

// RunCounts runs the part of the suite that holds for a device that computes
// nothing.
func RunCounts(t *testing.T, open func(t *testing.T) device.Device) { (&suite{open: open}).counts(t) }

func (s *suite) counts(t *testing.T) {
	t.Run("Alloc", s.alloc)
	t.Run("Budget", s.budget)
	t.Run("Fragments", s.fragments)
	t.Run("Free", s.free)
	t.Run("Host", s.host)
	t.Run("Arguments", s.arguments)
	t.Run("WaitBeforeRecord", s.waitBeforeRecord)
	t.Run("Counters", s.counters)
	t.Run("Trace", s.trace)
	t.Run("Leak", s.leak)
	t.Run("Closed", s.closed)
}

// rig is a device with helpers that end the test on an unexpected error.
type rig struct {
	t *testing.T
	d device.Device
	k Kernels
}

// rig opens a device. The end of the test closes it and checks that nothing is left allocated.
func (s *suite) rig(t *testing.T) *rig {
	t.Helper()
	d := s.open(t)
	if b := d.Info().Budget; b < MinBudget {
		t.Fatalf("budget %d is below MinBudget", b)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil && !t.Failed() {
			t.Errorf("close: %v", err)
		}
	})
	return &rig{t, d, s.kernels}
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// refused expects an error; unless want is nil, the error must be want (errors.Is).
func (r *rig) refused(what string, err, want error) {
	r.t.Helper()
	switch {
	case err == nil:
		r.t.Errorf("%s: no error", what)
	case want != nil && !errors.Is(err, want):
		r.t.Errorf("%s: error %q, want %q", what, err, want)
	}
}

func (r *rig) mem(bytes int64) device.Mem {
	r.t.Helper()
	m, err := r.d.Alloc(bytes)
	r.ok(err)
	return m
}

// temp is a block that is freed at the end of the test.
func (r *rig) temp(bytes int64) device.Mem {
	r.t.Helper()
	m := r.mem(bytes)
	r.t.Cleanup(func() { r.d.Free(m) })
	return m
}

func (r *rig) queue(name string) device.Queue {
	r.t.Helper()
	q, err := r.d.NewQueue(name)
	r.ok(err)
	return q
}

func (r *rig) event() device.Event {
	r.t.Helper()
	e, err := r.d.NewEvent()
	r.ok(err)
	return e
}

// words returns n bytes that hold uint32 x, x+1, ...
func words(n int, x uint32) []byte {
	b := make([]byte, n)
	v := device.View[uint32](b)
	for i := range v {
		v[i] = x + uint32(i)
	}
	return b
}

// same compares bytes that hold uint32.
func (r *rig) same(what string, got, want []byte) {
	r.t.Helper()
	if len(got) != len(want) {
		r.t.Fatalf("%s: %d bytes, want %d", what, len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			i &^= 3
			r.t.Fatalf("%s: at byte %d %v, want %v", what, i, got[i:i+4], want[i:i+4])
		}
	}
}
