package device

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
)

// Null is a device that checks and counts calls and computes nothing. Alloc places
// blocks as a real device would, but there is no memory behind them. Copies and launches are
// checked and counted, and no byte moves: the destination of CopyD2H is unchanged. Host memory
// is real, as callers write to it, but takes no physical memory before it is written.
type Null struct {
	common
	host  hostArena
	trace atomic.Pointer[func(Span)]
}

// NewNull opens a null device. A budget of 0 is no limit.
func NewNull(index int, budget int64, opts ...Option) (*Null, error) {
	info := Info{Kind: "null", Index: index, Name: "counts only", Budget: budget}
	if budget < 0 {
		return nil, fmt.Errorf("%v: budget of %d bytes", info, budget)
	}
	if budget == 0 {
		info.Budget = math.MaxInt64
	}
	o := options(opts)
	d := &Null{common: common{info: info, id: lastID.Add(1)}}
	d.space = newSpace(d.id, info.String(), info.Budget)
	d.host = hostArena{owner: d.id, device: info.String(), budget: o.host}
	d.memory = &d.host
	return d, nil
}

// nullQueue is always empty: tasks are done when they are submitted.
type nullQueue struct {
	dev  *Null
	name string
	tag  atomic.Int64
}

func (q *nullQueue) Name() string     { return q.name }
func (q *nullQueue) SetTag(tag int64) { q.tag.Store(tag) }
func (q *nullQueue) Tag() int64       { return q.tag.Load() }
func (q *nullQueue) made() bool       { return q != nil }

type nullEvent struct {
	dev      *Null
	recorded atomic.Uint64
}

func (e *nullEvent) Recorded() uint64 { return e.recorded.Load() }

// Alloc places a block without memory.
func (d *Null) Alloc(bytes int64) (Mem, error) {
	if err := d.status.open(); err != nil {
		return Mem{}, d.err(OpAlloc, nil, err)
	}
	m, err := d.space.alloc(bytes)
	return m, d.err(OpAlloc, nil, err)
}

// NewQueue returns a queue.
func (d *Null) NewQueue(name string) (Queue, error) {
	if err := d.status.open(); err != nil {
		return nil, d.err(OpNewQueue, nil, err)
	}
	return &nullQueue{dev: d, name: name}, nil
}

// NewEvent returns an event.
func (d *Null) NewEvent() (Event, error) {
	if err := d.status.open(); err != nil {
		return nil, d.err(OpNewEvent, nil, err)
	}
	return &nullEvent{dev: d}, nil
}

func (d *Null) queue(q Queue) (*nullQueue, error) {
	if err := d.status.open(); err != nil {
		return nil, err
	}
	if q, ok := q.(*nullQueue); ok && q != nil && q.dev == d {
		return q, nil
	}
	return nil, errQueue
}

// span reports a task that took no time.
func (d *Null) span(q *nullQueue, op Op, k Kernel, bytes int64) {
	trace := d.trace.Load()
	if trace == nil {
		return
	}
	s := Span{Device: d.info, Queue: q.name, Op: op, Tag: q.tag.Load(), Bytes: bytes, Start: now()}
	if k != nil {
		s.Kernel = k.Name()
	}
	s.End = s.Start
	(*trace)(s)
}

// copied checks one end of a copy, and counts it.
func (d *Null) copied(q Queue, op Op, m Mem, off, bytes int64) error {
	own, err := d.queue(q)
	if err == nil {
		err = d.space.check(m, off, bytes)
	}
	if err != nil {
		return d.err(op, q, err)
	}
	d.counts.copied(op, bytes)
	d.span(own, op, nil, bytes)
	return nil
}

// CopyH2D counts len(src) bytes.
func (d *Null) CopyH2D(q Queue, dst Mem, dstOff int64, src []byte) error {
	return d.copied(q, OpH2D, dst, dstOff, int64(len(src)))
}

// CopyRows counts the bytes of the rows.
func (d *Null) CopyRows(q Queue, dst Mem, dstOff int64, src []byte, rowBytes int64, rows []uint32) error {
	if err := errors.Join(checkRows(src, rowBytes, rows), d.space.check(dst, dstOff, extent(rowBytes, rows))); err != nil {
		return d.err(OpH2D, q, err)
	}
	return d.copied(q, OpH2D, dst, dstOff, int64(len(rows))*rowBytes)
}

// CopyD2H counts len(dst) bytes.
func (d *Null) CopyD2H(q Queue, dst []byte, src Mem, srcOff int64) error {
	return d.copied(q, OpD2H, src, srcOff, int64(len(dst)))
}

// CopyD2D counts bytes; from is a null device.
func (d *Null) CopyD2D(q Queue, dst Mem, dstOff int64, from Device, src Mem, srcOff, bytes int64) error {
	peer, ok := unwrap(from).(*Null)
	if !ok || peer == nil {
		return d.err(OpD2D, q, errors.New("from: not a null device"))
	}
	err := peer.status.open()
	if err == nil {
		err = peer.space.check(src, srcOff, bytes)
	}
	if err != nil {
		return d.err(OpD2D, q, fmt.Errorf("from %v: %w", peer.info, err))
	}
	return d.copied(q, OpD2D, dst, dstOff, bytes)
}

// Launch counts a kernel of any type.
func (d *Null) Launch(q Queue, k Kernel) error {
	own, err := d.queue(q)
	if err == nil && k == nil {
		err = errors.New("no kernel")
	}
	if err != nil {
		return d.err(OpLaunch, q, err)
	}
	d.counts.launches.Add(1)
	d.span(own, OpLaunch, k, 0)
	return nil
}

// Record notes that e was recorded.
func (d *Null) Record(q Queue, e Event) error {
	_, err := d.queue(q)
	if err != nil {
		return d.err(OpRecord, q, err)
	}
	ev, ok := e.(*nullEvent)
	if !ok || ev == nil || ev.dev != d {
		return d.err(OpRecord, q, errors.New("event is not this device's"))
	}
	ev.recorded.Add(1)
	return nil
}

// Wait fails for an event that was never recorded, as on any device.
func (d *Null) Wait(q Queue, e Event) error {
	_, err := d.queue(q)
	if err != nil {
		return d.err(OpWait, q, err)
	}
	ev, ok := e.(*nullEvent)
	if !ok || ev == nil {
		return d.err(OpWait, q, errors.New("event is not a null device's"))
	}
	if ev.Recorded() == 0 {
		return d.err(OpWait, q, ErrNotRecorded)
	}
	return nil
}

// Sync returns at once.
func (d *Null) Sync() error { return d.err(OpSync, nil, d.status.open()) }

// SetTrace has f called for every copy and launch, with spans of no length.
func (d *Null) SetTrace(f func(Span)) {
	if f == nil {
		d.trace.Store(nil)
		return
	}
	d.trace.Store(&f)
}

// Close frees the host memory and reports what was held.
func (d *Null) Close() error {
	if d.status.closed.Swap(true) {
		return nil
	}
	return leaks(d.info, d.space, &d.host)
}
