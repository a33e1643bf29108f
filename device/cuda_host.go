//go:build cuda

package device

import (
	"errors"
	"runtime"
	"sync"
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
	m, err := h.arena.alloc(bytes)
	if err != nil || bytes < offHeap {
		return m, err
	}
	touch(m.b)
	if err := cuPin(h.ctx, m.b); err != nil {
		return HostMem{}, errors.Join(err, h.arena.release(m))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pinned == nil {
		h.pinned = map[*byte]bool{}
	}
	h.pinned[unsafe.SliceData(m.b)] = true
	return m, nil
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

// touching are those that touch memory, of all blocks together. A few processors are left to those who submit work: each part takes milliseconds.
var touching = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)*5/8))

// touch writes a zero byte to every page of fresh memory, which is zero already. This makes the
// system supply the pages.
func touch(b []byte) {
	const page, part = 4096, 4 << 20
	var wg sync.WaitGroup
	for lo := 0; lo < len(b); lo += part {
		touching <- struct{}{}
		wg.Go(func() {
			for i := lo; i < min(len(b), lo+part); i += page {
				b[i] = 0
			}
			<-touching
		})
	}
	wg.Wait()
}
