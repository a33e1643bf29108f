package device

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// task is one piece of work in a queue of the CPU device.
type task struct {
	op       Op
	tag      int64
	dst, src []byte   // copies
	rows     []uint32 // CopyRows: the rows
	rowBytes int64
	file     *mapping // copies: the file that the host side lies in, from byte at on; nil: memory
	at       int64
	kernel   HostKernel // OpLaunch
	event    *event     // OpRecord, OpWait
	epoch    uint64
	from     *CPU // OpD2D: the device whose arena is pinned until the task has run
}

// bytes is what a copy moves.
func (t *task) bytes() int64 {
	if t.rows != nil {
		return int64(len(t.rows)) * t.rowBytes
	}
	return int64(len(t.dst))
}

// queue is a list of tasks and the goroutine that runs them. Submitters append
// to in; the goroutine takes the whole list at once and leaves its empty one,
// so that most submissions touch nothing but one lock and one slot.
type queue struct {
	dev  *CPU
	name string
	tag  atomic.Int64

	mu        sync.Mutex
	wake      sync.Cond // the goroutine: in is not empty, or closing
	drained   sync.Cond // Sync: done has grown
	in        []task
	submitted uint64
	done      uint64
	idle      bool // the goroutine waits on wake
	closing   bool
	stopped   chan struct{}

	// The goroutine's own.
	batch []task
	next  int // the task in batch that runs
	leave bool
}

func newQueue(dev *CPU, name string) *queue {
	q := &queue{dev: dev, name: name, stopped: make(chan struct{})}
	q.wake.L, q.drained.L = &q.mu, &q.mu
	go q.loop()
	return q
}

// Name returns the name given to NewQueue.
func (q *queue) Name() string { return q.name }

// SetTag sets the tag of later tasks.
func (q *queue) SetTag(tag int64) { q.tag.Store(tag) }

// Tag returns the tag set last.
func (q *queue) Tag() int64 { return q.tag.Load() }

func (q *queue) made() bool { return q != nil }

func (q *queue) push(t *task) error {
	t.tag = q.tag.Load()
	q.mu.Lock()
	if q.closing {
		q.mu.Unlock()
		return ErrClosed
	}
	q.in = append(q.in, *t)
	q.submitted++
	idle := q.idle
	q.idle = false
	q.mu.Unlock()
	if idle {
		q.wake.Signal()
	}
	return nil
}

// sync returns when what was submitted before the call has run.
func (q *queue) sync() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for target := q.submitted; q.done < target; {
		q.drained.Wait()
	}
}

// close has the goroutine end after the tasks submitted so far.
func (q *queue) close() {
	q.mu.Lock()
	q.closing = true
	q.mu.Unlock()
	q.wake.Signal()
}

// loop runs the tasks. A kernel that panics or calls runtime.Goexit takes the
// goroutine with it, so the deferred function starts another, which goes on
// behind the task that did it: no one who waits for the queue hangs.
func (q *queue) loop() {
	defer func() {
		if q.leave {
			close(q.stopped)
			return
		}
		t := &q.batch[q.next]
		if r := recover(); r != nil {
			q.fail(t, fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		} else {
			q.fail(t, fmt.Errorf("kernel ended its goroutine"))
		}
		if t.from != nil {
			t.from.unpin() // a trace function that panicked
		}
		q.next++
		go q.loop()
	}()
	for {
		for ; q.next < len(q.batch); q.next++ {
			q.run(&q.batch[q.next])
		}
		if !q.take() {
			q.leave = true
			return
		}
	}
}

// take trades the batch that has run for the tasks submitted meanwhile, and
// waits until there are some. It returns false when the queue is closed and
// empty.
func (q *queue) take() bool {
	clear(q.batch) // so that the garbage collector can free what the tasks refer to
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done += uint64(len(q.batch))
	q.drained.Broadcast()
	for len(q.in) == 0 {
		if q.closing {
			return false
		}
		q.idle = true
		q.wake.Wait()
	}
	q.idle = false
	q.in, q.batch, q.next = q.batch[:0], q.in, 0
	return true
}

// run runs one task. On a device that has failed, copies and launches do
// nothing, but events pass and pins are dropped.
func (q *queue) run(t *task) {
	switch t.op {
	case OpRecord:
		t.event.end(t.epoch)
	case OpWait:
		t.event.wait(t.epoch)
	default:
		if q.dev.status.sound() {
			q.work(t)
		}
		if t.from != nil {
			t.from.unpin()
		}
	}
}

// work does a copy or a launch.
func (q *queue) work(t *task) {
	trace := q.dev.trace.Load()
	if trace == nil {
		q.do(t)
		return
	}
	s := Span{Device: q.dev.info, Queue: q.name, Op: t.op, Tag: t.tag, Bytes: t.bytes()}
	if t.kernel != nil {
		s.Kernel = t.kernel.Name()
	}
	s.Start = now()
	q.do(t)
	s.End = now()
	(*trace)(s)
}

func (q *queue) do(t *task) {
	switch {
	case t.file != nil:
		if err := t.transfer(); err != nil {
			q.fail(t, err)
		}
	case t.rows != nil:
		copyRows(t.dst, t.src, t.rowBytes, t.rows)
	case t.kernel == nil:
		copy(t.dst, t.src)
	default:
		if err := t.kernel.Run(q.dev.arena.b); err != nil {
			q.fail(t, err)
		}
	}
}

// transfer is a copy from or to a file.
func (t *task) transfer() (err error) {
	switch {
	case t.rows != nil:
		err = t.file.readRows(t.dst, t.at, t.rowBytes, t.rows)
	case t.op == OpD2H:
		_, err = t.file.f.WriteAt(t.src, t.at)
	default:
		_, err = t.file.f.ReadAt(t.dst, t.at)
	}
	return err
}

func (q *queue) fail(t *task, err error) {
	e := &OpError{Device: q.dev.info.String(), Op: t.op, Queue: q.name, Tag: t.tag, Err: err}
	if t.kernel != nil {
		e.Kernel = t.kernel.Name()
	}
	q.dev.status.fail(e)
}
