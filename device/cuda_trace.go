//go:build cuda

package device

import (
	"sync"
	"time"
)

// cudaTracer takes the times of copies and launches with events of the driver.
// Spans are known once the queues have been waited for. All but the pool is
// guarded by the device's lock; mu orders deliveries.
type cudaTracer struct {
	mu     sync.Mutex
	f      func(Span)
	detail func(Span) // of each command
	base   cuEvent
	stream cuStream
	zero   time.Duration // of base, by the clock of spans
	open   []cudaSpan
	unused []cuEvent
}

type cudaSpan struct {
	span     Span
	from, to cuEvent
	f        func(Span)
}

// SetTrace has f called with the spans of later copies and launches, by Sync.
func (d *CUDA) SetTrace(f func(Span)) { d.traceTo(&d.tracer.f, f) }

// Detail has f called with the spans of the commands of later batches, by Sync.
func (d *CUDA) Detail(f func(Span)) { d.traceTo(&d.tracer.detail, f) }

func (d *CUDA) traceTo(where *func(Span), f func(Span)) {
	d.drain()
	d.mu.Lock()
	defer d.mu.Unlock()
	*where = nil
	if f == nil || d.closing || !d.status.sound() {
		return
	}
	t := &d.tracer
	var err error
	if t.stream == nil {
		if t.stream, err = cuNewStream(d.ctx, false); err == nil {
			t.base, err = cuNewEvent(d.ctx, true)
		}
	}
	// Everything is idle: the event is reached as soon as it is recorded.
	if err == nil {
		err = cuRecord(d.ctx, t.base, t.stream)
	}
	if err == nil {
		err = cuSyncStream(d.ctx, t.stream)
	}
	if err != nil {
		d.status.fail(d.err(OpSync, nil, err))
		return
	}
	t.zero, *where = now(), f
}

// around runs task between two events. Later f is called with s and the times of the events. If f is
// nil, it just runs task.
func (t *cudaTracer) around(d *CUDA, q *cudaQueue, f func(Span), s Span, task func() error) error {
	if f == nil {
		return task()
	}
	s.Device, s.Queue, s.Tag = d.info, q.name, q.tag.Load()
	o := cudaSpan{span: s, f: f}
	for _, e := range []*cuEvent{&o.from, &o.to} {
		if n := len(t.unused); n > 0 {
			*e, t.unused = t.unused[n-1], t.unused[:n-1]
			continue
		}
		var err error
		if *e, err = cuNewEvent(d.ctx, true); err != nil {
			return err
		}
	}
	err := cuRecord(d.ctx, o.from, q.stream)
	if err == nil {
		err = task()
	}
	if err == nil {
		err = cuRecord(d.ctx, o.to, q.stream)
	}
	if err == nil {
		t.open = append(t.open, o)
	}
	return err
}

// deliver calls the trace functions for all finished spans. The caller has waited for the queues.
func (t *cudaTracer) deliver(d *CUDA) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d.mu.Lock()
	open := t.open
	t.open = nil
	base, zero := t.base, t.zero
	d.mu.Unlock()
	var later []cudaSpan
	for _, s := range open {
		from, err1 := cuElapsed(base, s.from)
		to, err2 := cuElapsed(base, s.to)
		if err1 != nil || err2 != nil { // submitted meanwhile, or the device has failed
			if d.status.sound() {
				later = append(later, s)
			}
			continue
		}
		s.span.Start = zero + time.Duration(float64(from)*1e6)
		s.span.End = zero + time.Duration(float64(to)*1e6)
		s.f(s.span)
		d.mu.Lock()
		t.unused = append(t.unused, s.from, s.to)
		d.mu.Unlock()
	}
	d.mu.Lock()
	t.open = append(later, t.open...)
	d.mu.Unlock()
}

func (t *cudaTracer) close() {
	for _, s := range t.open {
		cuCloseEvent(s.from)
		cuCloseEvent(s.to)
	}
	for _, e := range t.unused {
		cuCloseEvent(e)
	}
	if t.stream != nil {
		cuCloseEvent(t.base)
		cuCloseStream(t.stream)
	}
}
