//go:build cuda

package device

import "sync/atomic"

type cudaQueue struct {
	dev    *CUDA
	name   string
	tag    atomic.Int64
	stream cuStream
	blas   cuHandle   // made at the first product
	side   *cuSide    // made at the first batch that needs it
	stage  *cudaStage // made at the first copy from or to a file
}

func (q *cudaQueue) Name() string     { return q.name }
func (q *cudaQueue) SetTag(tag int64) { q.tag.Store(tag) }
func (q *cudaQueue) Tag() int64       { return q.tag.Load() }
func (q *cudaQueue) made() bool       { return q != nil }

// NewQueue makes a stream.
func (d *CUDA) NewQueue(name string) (Queue, error) { return d.newQueue(name, false) }

// NewUrgentQueue makes a stream of high priority: its thread blocks start before waiting blocks of
// other streams.
func (d *CUDA) NewUrgentQueue(name string) (Queue, error) { return d.newQueue(name, true) }

func (d *CUDA) newQueue(name string, urgent bool) (Queue, error) {
	if err := d.status.usable(); err != nil {
		return nil, d.err(OpNewQueue, nil, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return nil, d.err(OpNewQueue, nil, ErrClosed)
	}
	s, err := cuNewStream(d.ctx, urgent)
	if err != nil {
		return nil, d.err(OpNewQueue, nil, err)
	}
	q := &cudaQueue{dev: d, name: name, stream: s}
	d.queues = append(d.queues, q)
	return q, nil
}

type cudaEvent struct {
	dev      *CUDA
	event    cuEvent
	recorded atomic.Uint64
}

func (e *cudaEvent) Recorded() uint64 { return e.recorded.Load() }

// NewEvent returns an event.
func (d *CUDA) NewEvent() (Event, error) {
	if err := d.status.usable(); err != nil {
		return nil, d.err(OpNewEvent, nil, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return nil, d.err(OpNewEvent, nil, ErrClosed)
	}
	e, err := cuNewEvent(d.ctx, false)
	if err != nil {
		return nil, d.err(OpNewEvent, nil, err)
	}
	ev := &cudaEvent{dev: d, event: e}
	d.made.events = append(d.made.events, ev)
	return ev, nil
}
