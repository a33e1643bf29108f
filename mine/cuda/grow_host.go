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
}

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
	h.done, err = gpu.NewEvent()
	return err
}

// close frees the memory of the host. That of the GPU is the caller's.
func (l *growLane) close() error {
	err := l.GPU.Sync()
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
