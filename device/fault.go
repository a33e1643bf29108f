package device

import (
	"errors"
	"sync"
)

// A Fault says which call of a device fails.
type Fault struct {
	Op    Op    // OpAny for calls of every kind
	N     int64 // the N-th such call fails, from 1; 0 for none (to count calls)
	Async bool  // a task (copy, launch, record, wait) is accepted and fails at the next Sync
	Err   error // the cause; nil is ErrInjected
}

// Faulty is a device that fails one call and passes the others on to the
// device it wraps. A call that fails at once has no effect; a task that fails
// asynchronously makes the device fail as the package comment describes. The
// queues, events and memory of both are the same.
type Faulty struct {
	inner Device
	fault Fault

	mu     sync.Mutex
	calls  int64
	status status
}

// NewFault wraps inner, which must be used through the result alone. The result is no
// GPU even when inner is: see NewFaultGPU.
func NewFault(inner Device, f Fault) *Faulty {
	if f.Err == nil {
		f.Err = ErrInjected
	}
	return &Faulty{inner: inner, fault: f}
}

// Unwrap returns the wrapped device.
func (d *Faulty) Unwrap() Device { return d.inner }

// unwrap returns the device below all wrappers.
func unwrap(d Device) Device {
	for {
		w, ok := d.(interface{ Unwrap() Device })
		if !ok {
			return d
		}
		d = w.Unwrap()
	}
}

// Calls returns how many calls of the chosen kind there were. A test runs once
// with N = 0 and then with each N up to that number.
func (d *Faulty) Calls() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls
}

// call counts a call. An error says to fail; skip says to accept the call
// and do nothing.
func (d *Faulty) call(op Op, q Queue, k Kernel) (skip bool, err error) {
	if frees := op == OpFree || op == OpHostFree; !frees {
		if err := d.status.usable(); err != nil {
			return false, d.err(op, q, k, err)
		}
	}
	d.mu.Lock()
	hit := false
	if d.fault.Op == OpAny || d.fault.Op == op {
		d.calls++
		hit = d.calls == d.fault.N
	}
	d.mu.Unlock()
	if hit {
		err := d.err(op, q, k, d.fault.Err)
		if !d.fault.Async || !op.task() {
			return false, err
		}
		d.status.fail(err)
	}
	return op.work() && !d.status.sound(), nil
}

func (d *Faulty) err(op Op, q Queue, k Kernel, err error) error {
	e := &OpError{Device: d.inner.Info().String(), Op: op, Err: err}
	if q != nil {
		e.Queue, e.Tag = q.Name(), q.Tag()
	}
	if k != nil {
		e.Kernel = k.Name()
	}
	return e
}

// Info describes the wrapped device.
func (d *Faulty) Info() Info { return d.inner.Info() }

// Alloc fails or passes on.
func (d *Faulty) Alloc(bytes int64) (Mem, error) {
	if _, err := d.call(OpAlloc, nil, nil); err != nil {
		return Mem{}, err
	}
	return d.inner.Alloc(bytes)
}

// Free fails or passes on.
func (d *Faulty) Free(m Mem) error {
	if _, err := d.call(OpFree, nil, nil); err != nil {
		return err
	}
	return d.inner.Free(m)
}

// HostAlloc fails or passes on.
func (d *Faulty) HostAlloc(bytes int64) (HostMem, error) {
	if _, err := d.call(OpHostAlloc, nil, nil); err != nil {
		return HostMem{}, err
	}
	return d.inner.HostAlloc(bytes)
}

// HostFree fails or passes on.
func (d *Faulty) HostFree(h HostMem) error {
	if _, err := d.call(OpHostFree, nil, nil); err != nil {
		return err
	}
	return d.inner.HostFree(h)
}

// NewQueue fails or passes on.
func (d *Faulty) NewQueue(name string) (Queue, error) {
	if _, err := d.call(OpNewQueue, nil, nil); err != nil {
		return nil, err
	}
	return d.inner.NewQueue(name)
}

// NewUrgentQueue fails or passes on.
func (d *Faulty) NewUrgentQueue(name string) (Queue, error) {
	if _, err := d.call(OpNewQueue, nil, nil); err != nil {
		return nil, err
	}
	return NewUrgentQueue(d.inner, name)
}

// NewEvent fails or passes on.
func (d *Faulty) NewEvent() (Event, error) {
	if _, err := d.call(OpNewEvent, nil, nil); err != nil {
		return nil, err
	}
	return d.inner.NewEvent()
}

// CopyH2D fails or passes on.
func (d *Faulty) CopyH2D(q Queue, dst Mem, dstOff int64, src []byte) error {
	if skip, err := d.call(OpH2D, q, nil); skip || err != nil {
		return err
	}
	return d.inner.CopyH2D(q, dst, dstOff, src)
}

// CopyRows fails or passes on.
func (d *Faulty) CopyRows(q Queue, dst Mem, dstOff int64, src []byte, rowBytes int64, rows []uint32) error {
	if skip, err := d.call(OpH2D, q, nil); skip || err != nil {
		return err
	}
	return d.inner.CopyRows(q, dst, dstOff, src, rowBytes, rows)
}

// CopyD2H fails or passes on.
func (d *Faulty) CopyD2H(q Queue, dst []byte, src Mem, srcOff int64) error {
	if skip, err := d.call(OpD2H, q, nil); skip || err != nil {
		return err
	}
	return d.inner.CopyD2H(q, dst, src, srcOff)
}

// CopyD2D fails or passes on.
func (d *Faulty) CopyD2D(q Queue, dst Mem, dstOff int64, from Device, src Mem, srcOff, bytes int64) error {
	if skip, err := d.call(OpD2D, q, nil); skip || err != nil {
		return err
	}
	return d.inner.CopyD2D(q, dst, dstOff, from, src, srcOff, bytes)
}

// Launch fails or passes on.
func (d *Faulty) Launch(q Queue, k Kernel) error {
	if skip, err := d.call(OpLaunch, q, k); skip || err != nil {
		return err
	}
	return d.inner.Launch(q, k)
}

// Record fails or passes on.
func (d *Faulty) Record(q Queue, e Event) error {
	if _, err := d.call(OpRecord, q, nil); err != nil {
		return err
	}
	return d.inner.Record(q, e)
}

// Wait fails or passes on.
func (d *Faulty) Wait(q Queue, e Event) error {
	if _, err := d.call(OpWait, q, nil); err != nil {
		return err
	}
	return d.inner.Wait(q, e)
}

// Sync drains the queues even when it fails.
func (d *Faulty) Sync() error {
	_, err := d.call(OpSync, nil, nil)
	inner := d.inner.Sync()
	if e := d.status.report(); e != nil {
		err = e
	}
	switch {
	case err == nil:
		return inner
	case inner == nil:
		return err
	}
	return errors.Join(err, inner)
}

// Counters returns those of the wrapped device: tasks that failed or were
// skipped do not count.
func (d *Faulty) Counters() Counters { return d.inner.Counters() }

// SetTrace passes on.
func (d *Faulty) SetTrace(f func(Span)) { d.inner.SetTrace(f) }

// Close closes the wrapped device. Like that one it returns an asynchronous
// error that no Sync has reported.
func (d *Faulty) Close() error {
	if d.status.closed.Swap(true) {
		return nil
	}
	return errors.Join(d.status.report(), d.inner.Close())
}
