package device

// awaiter is a device whose host can wait for an event.
type awaiter interface{ Await(e Event) error }

// Await returns when d has reached the place that e's latest Record marked. A device that cannot
// wait for one event waits for all submitted tasks instead. e is an event of d and must have been
// recorded. The error is d's first asynchronous error, as Sync returns it.
func Await(d Device, e Event) error {
	if a, ok := d.(awaiter); ok {
		return a.Await(e)
	}
	return d.Sync()
}

// Await waits for the epoch of e's latest Record, and returns the first asynchronous error, as Sync.
func (d *CPU) Await(e Event) error {
	ev, ok := e.(*event)
	if !ok || ev == nil || ev.owner != d.id || ev.Recorded() == 0 {
		return d.err(OpSync, nil, ErrNotRecorded)
	}
	ev.wait(ev.Recorded())
	if err := d.status.report(); err != nil {
		return err
	}
	return d.err(OpSync, nil, d.status.usable())
}
