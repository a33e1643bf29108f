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

// touch writes a zero byte to every page of fresh memory, which is zero already. This makes the
// system supply the pages.
func touch(b []byte) {
	const page, part = 4096, 8 << 20
	var wg sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	for lo := 0; lo < len(b); lo += part {
		limit <- struct{}{}
		wg.Go(func() {
			for i := lo; i < min(len(b), lo+part); i += page {
				b[i] = 0
			}
			<-limit
		})
	}
	wg.Wait()
}
