package device

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

// offHeap is the size from which a host block is mapped in pages of its own. The
// garbage collector does not see such blocks, and freeing them takes effect at once.
const offHeap = 1 << 20

// hostArena hands out host memory for one device.
type hostArena struct {
	mu     sync.Mutex
	owner  uint32
	device string
	budget int64
	used   int64
	peak   int64
	poison bool
	live   map[*byte]*pages
}

func (a *hostArena) alloc(bytes int64) (HostMem, error) {
	if bytes < 0 {
		return HostMem{}, fmt.Errorf("size %d is negative", bytes)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if bytes > a.budget-a.used {
		return HostMem{}, &BudgetError{Device: a.device, Host: true, Asked: bytes, Used: a.used, Budget: a.budget}
	}
	if bytes == 0 {
		return HostMem{owner: a.owner}, nil
	}
	p, err := newPages(bytes, bytes < offHeap)
	if err != nil {
		return HostMem{}, err
	}
	if a.poison {
		fill(p.b)
	}
	if a.live == nil {
		a.live = make(map[*byte]*pages)
	}
	a.live[unsafe.SliceData(p.b)] = p
	a.used += bytes
	a.peak = max(a.peak, a.used)
	return HostMem{b: p.b, owner: a.owner}, nil
}

func (a *hostArena) release(h HostMem) error {
	if h.owner != a.owner {
		return errors.New("host memory is not this device's")
	}
	if len(h.b) == 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.live[unsafe.SliceData(h.b)]
	if p == nil {
		return errors.New("host memory was freed before")
	}
	delete(a.live, unsafe.SliceData(h.b))
	a.used -= int64(len(p.b))
	return p.free()
}

// freeAll frees all blocks that were not freed, and returns their number and bytes.
func (a *hostArena) freeAll() (blocks int, bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	blocks, bytes = len(a.live), a.used
	for _, p := range a.live {
		p.free()
	}
	a.live, a.used = nil, 0
	return blocks, bytes
}

// leaks frees the host blocks of a device that closes, and says what it held.
func leaks(info Info, s *space, a *hostArena) error {
	s.mu.Lock()
	e := LeakError{Device: info.String(), Blocks: s.blocks, Bytes: s.used}
	s.mu.Unlock()
	e.HostBlocks, e.HostBytes = a.freeAll()
	if e.Blocks+e.HostBlocks == 0 {
		return nil
	}
	return &e
}

// count writes the host's part of c.
func (a *hostArena) count(c *Counters) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.HostUsed, c.HostPeak = a.used, a.peak
}

// fill poisons b: bytes of ones are a NaN in every float format, and -1 or the
// largest id as an integer.
func fill(b []byte) {
	for i := range b {
		b[i] = 0xFF
	}
}
