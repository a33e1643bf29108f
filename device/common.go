package device

import "sync/atomic"

// common is what every device has: memory that it has given out, counters, and the state that it is in.
type common struct {
	info   Info
	id     uint32
	status status
	space  *space
	memory hostMemory
	counts counts
}

// hostMemory gives out host memory.
type hostMemory interface {
	alloc(bytes int64) (HostMem, error)
	release(HostMem) error
	count(*Counters)
}

// Info describes the device.
func (d *common) Info() Info { return d.info }

// err names the device, the call and the queue.
func (d *common) err(op Op, q Queue, err error) error {
	if err == nil {
		return nil
	}
	e := &OpError{Device: d.info.String(), Op: op, Err: err}
	if q, ok := q.(named); ok && q.made() {
		e.Queue, e.Tag = q.Name(), q.Tag()
	}
	return e
}

// named is a queue of this package; made tells whether it is not nil.
type named interface {
	Queue
	made() bool
}

// Free frees a block.
func (d *common) Free(m Mem) error {
	if err := d.status.open(); err != nil {
		return d.err(OpFree, nil, err)
	}
	return d.err(OpFree, nil, d.space.release(m))
}

// HostAlloc returns host memory. From a megabyte on it is off the heap, and on GPUs pinned.
func (d *common) HostAlloc(bytes int64) (HostMem, error) {
	if err := d.status.usable(); err != nil {
		return HostMem{}, d.err(OpHostAlloc, nil, err)
	}
	h, err := d.memory.alloc(bytes)
	return h, d.err(OpHostAlloc, nil, err)
}

// HostFree frees host memory.
func (d *common) HostFree(h HostMem) error {
	if err := d.status.open(); err != nil {
		return d.err(OpHostFree, nil, err)
	}
	return d.err(OpHostFree, nil, d.memory.release(h))
}

// Counters returns the counts so far.
func (d *common) Counters() Counters {
	var c Counters
	d.counts.read(&c)
	d.space.count(&c)
	d.memory.count(&c)
	return c
}

// lastID numbers the devices of the process.
var lastID atomic.Uint32

// counts are the counters that tasks change.
type counts struct{ h2d, d2h, d2d, copies, launches atomic.Int64 }

func (c *counts) copied(op Op, bytes int64) {
	c.copies.Add(1)
	switch op {
	case OpH2D:
		c.h2d.Add(bytes)
	case OpD2H:
		c.d2h.Add(bytes)
	case OpD2D:
		c.d2d.Add(bytes)
	}
}

func (c *counts) read(out *Counters) {
	out.H2D, out.D2H, out.D2D = c.h2d.Load(), c.d2h.Load(), c.d2d.Load()
	out.Copies, out.Launches = c.copies.Load(), c.launches.Load()
}
