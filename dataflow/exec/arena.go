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
	Scratch  int64 // GPUs: bytes of kernels' scratch memory that the first runner takes at least, so that no later one takes its own beside it
	Direct   bool  // messages go from GPU to GPU, which JoinNCCL has joined
	Relay    bool  // messages to other ranks go through host memory, as those of GPUs do; for tests
	OneByOne bool  // steps are submitted task by task, as the times of single kernels need

	devices []part
	ranks   *net.Group             // that share the plans' devices; nil: one
	first   int                    // of a plan's devices, the arena's first
	owner   *Runner                // of the memory of steps; nil: none yet
	pinned  map[*byte]func() error // host memory that runners copy from, and what releases it
	pins    *Arena                 // what it has pinned, all GPUs reach; nil: none
	bytes   int64                  // of it
	scratch string                 // folder of files that are host memory; "": the system's for temporary ones
	rows    rowLists
	owned   []device.HostMem // of rows
}

// part is what an arena has on one device.
type part struct {
	dev     device.Device
	mem     device.Mem
	queues  [plan.Queues]device.Queue
	scratch device.Mem   // GPUs: what lies between the kernels of a launch
	held    []device.Mem // and all that was taken for it

	relay *relay // of messages through host memory; nil until a plan has some
	turn  turn   // of messages from GPU to GPU
}

// NewArena takes bytes of memory of each device, once. The error names what was asked for.
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
			made := device.NewUrgentQueue // kernels that bring the next batch are small beside those of a step
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

// Over says that the arena's devices are one rank's of g: of a plan's devices number first and those after it. Its
// runners take parts of plans (order.Part). It is called before the first runner.
func (a *Arena) Over(g *net.Group, first int) { a.ranks, a.first = g, first }

// on is what the arena has on a plan's device d.
func (a *Arena) on(d uint16) *part { return &a.devices[int(d)-a.first] }

// Close gives the memory back.
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
			p.relay.under.Wait() // a step that failed has ended the link
			close(p.relay.send)
		}
		for _, m := range append(p.held, p.mem) {
			err = errors.Join(err, p.dev.Free(m))
		}
	}
	a.devices = nil
	return err
}

// sync waits for every device.
func (a *Arena) sync() error {
	var err error
	for _, p := range a.devices {
		one := p.dev.Sync()
		if err = errors.Join(err, one); one != nil {
			p.dev.Sync() // one that fails may not have waited, and memory that copies read may be given back next
		}
	}
	return err
}

// syncFor is sync with an error that says what for.
func (a *Arena) syncFor(what string) error {
	if err := a.sync(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Pinned is the host memory in bytes that is pinned for copies: what was given to the
// runners and, on GPUs, what they have taken.
func (a *Arena) Pinned() int64 {
	n := a.bytes
	if a.onGPU() {
		n += a.devices[0].dev.Counters().HostUsed
	}
	return n
}

// FilesIn sets the folder where runners make the files that plan.Plan.Disk asks for.
func (a *Arena) FilesIn(dir string) { a.scratch = dir }

// SharePins says that host memory which other has pinned need not be pinned again. It is closed later.
func (a *Arena) SharePins(other *Arena) { a.pins = other }

// pin prepares host memory for fast copies until the arena is closed.
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

func bytesOf(x []float32) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
}

// onGPU tells whether the arena is on GPUs.
func (a *Arena) onGPU() bool {
	_, ok := a.devices[0].dev.(device.GPU)
	return ok
}
