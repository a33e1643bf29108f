//go:build cuda

package device

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"
)

// pinnedHost is a host arena whose large blocks are registered with the driver.
// Mapping, touching in parallel and registering takes a fraction of the time of
// the driver's own pinned allocation.
type pinnedHost struct {
	ctx    cuContext
	arena  hostArena
	mu     sync.Mutex
	pinned map[*byte]bool
}

func (h *pinnedHost) alloc(bytes int64) (HostMem, error) {
	m, err := h.unpinned(bytes)
	if err != nil {
		return m, err
	}
	if err := h.pin(m); err != nil {
		return HostMem{}, errors.Join(err, h.arena.release(m))
	}
	return m, nil
}

// unpinned is memory with its pages, which pin pins.
func (h *pinnedHost) unpinned(bytes int64) (HostMem, error) {
	m, err := h.arena.alloc(bytes)
	if err == nil && bytes >= offHeap {
		touch(m.b)
	}
	return m, err
}

// pin pins what unpinned returned. Launches and copies wait meanwhile: the driver's lock is held.
func (h *pinnedHost) pin(m HostMem) error {
	if len(m.b) < offHeap {
		return nil
	}
	if err := cuPin(h.ctx, m.b); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pinned == nil {
		h.pinned = map[*byte]bool{}
	}
	h.pinned[unsafe.SliceData(m.b)] = true
	return nil
}

func (d *CUDA) hostLater(bytes int64) (HostMem, func() error, error) {
	if err := d.status.usable(); err != nil {
		return HostMem{}, nil, d.err(OpHostAlloc, nil, err)
	}
	m, err := d.host.unpinned(bytes)
	return m, func() error { return d.err(OpHostAlloc, nil, d.host.pin(m)) }, d.err(OpHostAlloc, nil, err)
}

func (h *pinnedHost) release(m HostMem) error {
	h.mu.Lock()
	p := unsafe.SliceData(m.b)
	if m.owner == h.arena.owner && h.pinned[p] {
		delete(h.pinned, p)
		if err := cuUnpin(h.ctx, p); err != nil {
			h.mu.Unlock()
			return err
		}
	}
	h.mu.Unlock()
	return h.arena.release(m)
}

func (h *pinnedHost) count(c *Counters) { h.arena.count(c) }

// unpinAll unpins all memory; the arena frees it.
func (h *pinnedHost) unpinAll() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var err error
	for p := range h.pinned {
		err = errors.Join(err, cuUnpin(h.ctx, p))
	}
	h.pinned = nil
	return err
}

// touching bounds the threads that have the system supply pages, for all devices: as many more as the machine has processors hold up those that submit work.
var touching = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))

// touch has the system supply the pages of fresh memory, which is zero.
func touch(b []byte) {
	const part = 8 << 20
	var wg sync.WaitGroup
	for lo := 0; lo < len(b); lo += part {
		touching <- struct{}{}
		wg.Go(func() {
			supply(b[lo:min(len(b), lo+part)])
			<-touching
		})
	}
	wg.Wait()
}

// supply has the system supply the pages of b, which are zero: in one call, in which no other goroutine waits for the thread, or on older systems by writing a zero to each.
func supply(b []byte) {
	const populateWrite = 23 // MADV_POPULATE_WRITE
	if syscall.Madvise(b, populateWrite) == nil {
		return
	}
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 0
	}
}
