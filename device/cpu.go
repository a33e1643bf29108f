package device

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// CPU is the host as a device. Its arena is one mapping that takes physical
// memory as it is touched, each queue is a goroutine, and kernels are
// HostKernels, which use more cores by starting goroutines of their own. The
// arena is separate from the caller's memory, as on a GPU: data gets in and out
// by copies.
type CPU struct {
	common
	host   hostArena
	arena  *pages
	poison bool
	trace  atomic.Pointer[func(Span)]

	mu       sync.Mutex // guards below
	queues   []*queue
	stopping bool
	pins     int // copies of other devices that read the arena
	unpinned sync.Cond
}

// NewCPU opens the host as device number index with an arena of budget bytes.
// It fails when the system does not give that much address space.
func NewCPU(index int, budget int64, opts ...Option) (*CPU, error) {
	info := Info{Kind: "cpu", Index: index, Budget: budget,
		Name: fmt.Sprintf("host, %s, %d threads", runtime.GOARCH, runtime.GOMAXPROCS(0))}
	if budget <= 0 {
		return nil, fmt.Errorf("%v: budget of %d bytes", info, budget)
	}
	o := options(opts)
	arena, err := newPages(budget, false)
	if err != nil {
		return nil, fmt.Errorf("%v: arena: %w", info, err)
	}
	d := &CPU{common: common{info: info, id: lastID.Add(1)}, arena: arena, poison: o.poison}
	d.space = newSpace(d.id, info.String(), budget)
	d.host = hostArena{owner: d.id, device: info.String(), budget: o.host, poison: o.poison}
	d.memory = &d.host
	d.unpinned.L = &d.mu
	return d, nil
}

// Bytes returns the memory of m itself, not a copy. It must not be touched
// while tasks that use it are under way, nor after Close.
func (d *CPU) Bytes(m Mem) ([]byte, error) {
	if err := d.status.open(); err != nil {
		return nil, err
	}
	if err := d.space.check(m, 0, m.len); err != nil {
		return nil, err
	}
	return m.In(d.arena.b), nil
}

// Alloc returns a block of the arena.
func (d *CPU) Alloc(bytes int64) (Mem, error) {
	if err := d.status.usable(); err != nil {
		return Mem{}, d.err(OpAlloc, nil, err)
	}
	m, err := d.space.alloc(bytes)
	if err != nil {
		return Mem{}, d.err(OpAlloc, nil, err)
	}
	if d.poison {
		fill(m.In(d.arena.b))
	}
	return m, nil
}

// NewQueue starts a queue's goroutine.
func (d *CPU) NewQueue(name string) (Queue, error) {
	if err := d.status.usable(); err != nil {
		return nil, d.err(OpNewQueue, nil, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopping {
		return nil, d.err(OpNewQueue, nil, ErrClosed)
	}
	q := newQueue(d, name)
	d.queues = append(d.queues, q)
	return q, nil
}

// NewEvent returns an event.
func (d *CPU) NewEvent() (Event, error) {
	if err := d.status.usable(); err != nil {
		return nil, d.err(OpNewEvent, nil, err)
	}
	return newEvent(d.id), nil
}

var errQueue = errors.New("queue is not this device's")

// queue returns q as this device's, if it is and the device takes work.
func (d *CPU) queue(q Queue) (*queue, error) {
	if err := d.status.usable(); err != nil {
		return nil, err
	}
	if q, ok := q.(*queue); ok && q != nil && q.dev == d {
		return q, nil
	}
	return nil, errQueue
}

// Sync waits for all queues.
func (d *CPU) Sync() error {
	if err := d.status.usable(); err != nil {
		return d.err(OpSync, nil, err)
	}
	d.mu.Lock()
	queues := d.queues // grows, but never changes
	d.mu.Unlock()
	for _, q := range queues {
		q.sync()
	}
	if err := d.status.report(); err != nil {
		return err
	}
	return d.err(OpSync, nil, d.status.usable())
}

// SetTrace has f called for every copy and launch, right after it, on the
// queue's goroutine.
func (d *CPU) SetTrace(f func(Span)) {
	if f == nil {
		d.trace.Store(nil)
		return
	}
	d.trace.Store(&f)
}

// pin keeps the arena mapped until unpin.
func (d *CPU) pin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopping {
		return ErrClosed
	}
	d.pins++
	return nil
}

func (d *CPU) unpin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pins--
	if d.pins == 0 {
		d.unpinned.Broadcast()
	}
}

// Close drains and stops the queues, then unmaps the arena and the host memory.
func (d *CPU) Close() error {
	if d.status.closed.Swap(true) {
		return nil
	}
	d.mu.Lock()
	d.stopping = true
	queues := d.queues
	d.mu.Unlock()
	for _, q := range queues {
		q.close()
	}
	for _, q := range queues {
		<-q.stopped
	}
	d.mu.Lock()
	for d.pins > 0 {
		d.unpinned.Wait()
	}
	d.mu.Unlock()

	leak := leaks(d.info, d.space, &d.host)
	return errors.Join(d.status.report(), leak, d.arena.free())
}
