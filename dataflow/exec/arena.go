package exec

import (
	"errors"
	"fmt"
	"unsafe"

	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/net"
)

// Arena is the memory and the queues, on every device, that the plans of one session
// share.
type Arena struct {
	TF32     bool  // dense products on GPUs may round their operands to TF32; set before the first step
	Scratch  int64 // GPUs: least bytes of scratch memory for kernels; if it is enough for all runners, they share one allocation
	Direct   bool  // messages go from GPU to GPU by NCCL, which device.JoinNCCL has set up
	Relay    bool  // messages to other ranks go through host memory on CPU devices too, as for GPUs; for tests
	OneByOne bool  // no CUDA graphs: steps are submitted task by task, to time single kernels

	devices []part
	ranks   *net.Group             // the ranks that share the plans' devices; nil: one rank
	first   int                    // number, among a plan's devices, of the arena's first device
	owner   *Runner                // the runner that the memory of steps belongs to (holds.go); nil: none yet
	pinned  map[*byte]func() error // by first byte: host memory that pin has pinned, and the function that unpins it
	pins    *Arena                 // memory that this arena has pinned is not pinned again; nil: none
	bytes   int64                  // of the memory in pinned
	scratch string                 // folder of files that serve as host memory; "": the system's temporary folder
	rows    rowLists
	owned   []device.HostMem // memory of rows
}

// part is what an arena has on one device.
type part struct {
	dev     device.Device
	mem     device.Mem
	queues  [plan.Queues]device.Queue
	scratch device.Mem   // GPUs: scratch memory of kernels
	held    []device.Mem // all memory that was allocated for scratch; older runners may still use the older ones

	relay *relay // messages through host memory; nil until a plan has some
	turn  turn   // messages from GPU to GPU
}

// NewArena allocates bytes of memory on each device, and makes its queues.
func NewArena(devices []device.Device, bytes int64) (*Arena, error) {
	a := &Arena{}
	for _, dev := range devices {
		p := part{dev: dev}
		var err error
		if p.mem, err = dev.Alloc(bytes); err != nil {
			return nil, errors.Join(err, a.Close())
		}
		a.devices = append(a.devices, p)
		for q := range p.queues {
			made := device.NewUrgentQueue // kernels that load the next batch are short, and should not queue behind those of a step
			if plan.Queue(q) == plan.Compute {
				made = device.Device.NewQueue
			}
			if p.queues[q], err = made(dev, plan.Queue(q).String()); err != nil {
				return nil, errors.Join(err, a.Close())
			}
		}
		a.devices[len(a.devices)-1] = p
	}
	return a, nil
}

// Over says that the arena belongs to one rank of g, and that its devices are number first and those after it
// among a plan's devices. Its runners run the rank's parts of plans (order.Part). Call it before the first NewRunner.
func (a *Arena) Over(g *net.Group, first int) { a.ranks, a.first = g, first }

// on is the arena's part on device d of a plan.
func (a *Arena) on(d uint16) *part { return &a.devices[a.number(d)] }

// number is the number, among the arena's devices, of device d of a plan.
func (a *Arena) number(d uint16) int { return int(d) - a.first }

// rankOf is the rank that has device d of a plan.
func (a *Arena) rankOf(d int) int { return d / len(a.devices) }

// follow makes queue then wait for all tasks submitted to queue first so far. It makes the event if *e is nil.
func (p *part) follow(first, then device.Queue, e *device.Event) (err error) {
	if *e == nil {
		if *e, err = p.dev.NewEvent(); err != nil {
			return err
		}
	}
	return errors.Join(p.dev.Record(first, *e), p.dev.Wait(then, *e))
}

// Close frees the memory of the arena, on devices and on the host. Close the runners first.
func (a *Arena) Close() error {
	var err error
	if len(a.pinned) > 0 {
		err = a.sync()
	}
	for _, unpin := range a.pinned {
		err = errors.Join(err, unpin())
	}
	a.pinned, a.bytes = nil, 0
	for _, h := range a.owned {
		err = errors.Join(err, a.devices[0].dev.HostFree(h))
	}
	a.owned, a.rows = nil, nil
	for _, p := range a.devices {
		if p.relay != nil {
			p.relay.under.Wait() // cannot block: a failed step has closed the link
			close(p.relay.send)
		}
		for _, m := range append(p.held, p.mem) {
			err = errors.Join(err, p.dev.Free(m))
		}
	}
	a.devices = nil
	return err
}

// sync waits until every device is idle.
func (a *Arena) sync() error {
	var err error
	for _, p := range a.devices {
		one := p.dev.Sync()
		if err = errors.Join(err, one); one != nil {
			p.dev.Sync() // a failed Sync may not have waited, and the caller may free memory that copies read
		}
	}
	return err
}

// syncFor is sync with what in the error.
func (a *Arena) syncFor(what string) error {
	if err := a.sync(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Pinned is the host memory in bytes that is pinned for copies: memory that callers gave to the
// runners and, on GPUs, memory that the runners have allocated.
func (a *Arena) Pinned() int64 {
	n := a.bytes
	if a.onGPU() {
		n += a.devices[0].dev.Counters().HostUsed
	}
	return n
}

// FilesIn sets the folder where runners make files for the values in plan.HostPlaces.Disk.
func (a *Arena) FilesIn(dir string) { a.scratch = dir }

// SharePins says that host memory which other has pinned need not be pinned again by a. Close other after a.
func (a *Arena) SharePins(other *Arena) { a.pins = other }

// pin pins host memory, for fast copies, until the arena is closed.
func (a *Arena) pin(b []byte) error {
	first := unsafe.SliceData(b)
	if len(b) == 0 || a.pinned[first] != nil || a.pins != nil && a.pins.pinned[first] != nil {
		return nil
	}
	unpin, err := device.Pin(a.devices[0].dev, b)
	if err != nil || unpin == nil {
		return err
	}
	if a.pinned == nil {
		a.pinned = map[*byte]func() error{}
	}
	a.pinned[first] = unpin
	a.bytes += int64(len(b))
	return nil
}

// onGPU tells whether the arena is on GPUs.
func (a *Arena) onGPU() bool {
	_, ok := a.devices[0].dev.(device.GPU)
	return ok
}
