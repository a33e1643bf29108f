package cuda

import (
	"errors"

	"sagann/device"
	"sagann/device/launch"
)

// The words of a lane's state: what a launch has taken, how many keys were packed, what was counted (Counted of grow_count.cu) and from firstCut on where parts end.
const (
	firstCut  = 8
	mostCuts  = 32
	growWords = firstCut + 3*mostCuts
)

// leastPinned is the least memory of the host that GPUs copy to without a detour.
const leastPinned = 1 << 20

// growHost is the host's side of a lane.
type growHost struct {
	pinned device.HostMem
	answer []uint64 // in pinned memory, if there is enough
	stage  []byte   // the rest of the memory, for what goes to files and comes from there
	tells  bool     // kernels write answers there: a copy would wait behind those of columns
	done   device.Event
	turn   func() error // is called when work was submitted; nil: nothing is
	lists  []any        // that copies read
	parts  [2]stagePart // halves of the stage, for files
	part   int          // whose turn it is
}

// stagePart is a part of the stage, for a copy to or from a file.
type stagePart struct {
	words  []uint32
	copied device.Event
	wrote  chan error // gets one when what was copied there is written; nil: nothing was
	reads  bool       // a copy to the GPU may read it
}

// next is the part whose turn it is, when it is free.
func (h *growHost) next(gpu device.GPU) (*stagePart, error) {
	h.part ^= 1
	p := &h.parts[h.part]
	if p.reads {
		p.reads = false
		if err := device.Await(gpu, p.copied); err != nil {
			return nil, err
		}
	}
	return p, p.written()
}

// written waits until what was copied there is written.
func (p *stagePart) written() (err error) {
	if p.wrote != nil {
		err = <-p.wrote
		p.wrote = nil
	}
	return err
}

// written waits until all is written.
func (h *growHost) written() error { return errors.Join(h.parts[0].written(), h.parts[1].written()) }

// open takes so many bytes.
func (h *growHost) open(gpu device.GPU, bytes int64) (err error) {
	if h.pinned, err = gpu.HostAlloc(bytes); err != nil {
		return err
	}
	h.answer, h.stage = make([]uint64, 3*mostCuts), h.pinned.Bytes()
	if len(h.stage) >= leastPinned { // other goroutines may submit work while words are copied there
		words := 8 * len(h.answer)
		h.answer, h.stage = device.View[uint64](h.stage[:words]), h.stage[words:]
		h.tells = device.WritesHost(gpu)
	}
	all := device.View[uint32](h.stage)
	h.parts[0].words, h.parts[1].words = all[:len(all)/2], all[len(all)/2:]
	for _, e := range []*device.Event{&h.done, &h.parts[0].copied, &h.parts[1].copied} {
		if *e, err = gpu.NewEvent(); err != nil {
			return err
		}
	}
	return nil
}

// close frees the memory of the host. That of the GPU is the caller's.
func (l *growLane) close() error {
	err := errors.Join(l.host.written(), l.GPU.Sync())
	if len(l.host.pinned.Bytes()) > 0 {
		err = errors.Join(err, l.GPU.HostFree(l.host.pinned))
		l.host.pinned = device.HostMem{}
	}
	return err
}

// words is n words of the state from one on.
func (l *growLane) words(from, n int64) device.Mem { return l.state.Slice(8*from, 8*n) }

// told is where a kernel writes words that hear asks for: m or, where it can, the answer itself.
func (l *growLane) told(m device.Mem) any {
	if l.host.tells {
		return launch.At(l.GPU.HostAddress(device.Bytes(l.host.answer)))
	}
	return m
}

// sum is where saga_grow_places writes the sum of all for hear.
func (l *growLane) sum() any { return l.told(device.Mem{}) }

// hear waits, and has words be the answer that a kernel has written to what told returned.
func (l *growLane) hear(m device.Mem) error {
	if !l.host.tells {
		if err := l.GPU.CopyD2H(l.Queue, device.Bytes(l.host.answer[:m.Len()/8]), m, 0); err != nil {
			return err
		}
	}
	if l.host.turn != nil {
		if err := l.host.turn(); err != nil {
			return err
		}
	}
	return l.await()
}

// ask waits, and has words be the answer.
func (l *growLane) ask(m device.Mem) error {
	if l.host.tells {
		err := l.Launch(launch.Call{Source: sums(), Name: "saga_grow_tell", Grid: 1, Block: 32, Args: launch.Args{"from": m, "n": uint64(m.Len() / 8), "to": l.told(m)}})
		if err != nil {
			return err
		}
	}
	return l.hear(m)
}

// await waits for what was submitted to the queue.
func (l *growLane) await() error {
	if err := l.GPU.Record(l.Queue, l.host.done); err != nil {
		return err
	}
	return device.Await(l.GPU, l.host.done)
}
