//go:build cuda

package device

/*
#include <cuda.h>

static CUmemAllocationProp saga_of(CUdevice dev) {
	CUmemAllocationProp p = {0};
	p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	p.location.id = dev;
	return p;
}

// saga_reserve takes addresses for n bytes, rounded up to units, without memory.
static int saga_reserve(CUcontext ctx, CUdevice dev, CUdeviceptr *at, size_t *n, size_t *unit) {
	CUmemAllocationProp p = saga_of(dev);
	int r = cuCtxSetCurrent(ctx);
	if (r || (r = cuMemGetAllocationGranularity(unit, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM))) return r;
	*n = (*n + *unit - 1) / *unit * *unit;
	return cuMemAddressReserve(at, *n, 0, 0, 0);
}

// saga_back puts n bytes of memory behind the addresses from at on, whole units.
static int saga_back(CUcontext ctx, CUdevice dev, CUdeviceptr at, size_t n) {
	CUmemAllocationProp p = saga_of(dev);
	CUmemAccessDesc access = {0};
	CUmemGenericAllocationHandle h;
	int r = cuCtxSetCurrent(ctx);
	if (r || (r = cuMemCreate(&h, n, &p, 0))) return r;
	r = cuMemMap(at, n, 0, h, 0);
	cuMemRelease(h); // it lives as long as it is mapped
	if (r) return r;
	access.location = p.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	if ((r = cuMemSetAccess(at, n, &access, 1))) cuMemUnmap(at, n);
	return r;
}

static int saga_unreserve(CUcontext ctx, CUdeviceptr at, size_t n, size_t backed) {
	int r = cuCtxSetCurrent(ctx);
	if (!r && backed) r = cuMemUnmap(at, backed);
	return r ? r : cuMemAddressFree(at, n);
}
*/
import "C"

import (
	"sync"
	"sync/atomic"
)

// growth is an arena that has addresses for its budget from the beginning, and memory up to the end of the highest block that
// there was.
type growth struct {
	mu     sync.Mutex
	bytes  int64 // of addresses
	unit   int64 // of memory
	backed atomic.Int64
}

// reserve makes the arena of d one that grows. false: the driver cannot.
func (d *CUDA) reserve() bool {
	n, unit := C.size_t(d.info.Budget), C.size_t(0)
	if C.saga_reserve(d.ctx, C.CUdevice(d.dev), &d.arena, &n, &unit) != 0 {
		return false
	}
	d.made.grow = &growth{bytes: int64(n), unit: int64(unit)}
	return true
}

// back has memory behind the first bytes of the arena.
func (d *CUDA) back(bytes int64) error {
	g := d.made.grow
	if g == nil || bytes <= g.backed.Load() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.backed.Load()
	more := (bytes - old + g.unit - 1) / g.unit * g.unit
	if more <= 0 {
		return nil
	}
	if err := cuErr(C.saga_back(d.ctx, C.CUdevice(d.dev), d.arena+cuPtr(old), C.size_t(more))); err != nil {
		return noMemory(d.info, d.dev, more, err)
	}
	g.backed.Store(old + more)
	return nil
}

// taken is the bytes of memory of the arena.
func (d *CUDA) taken() int64 {
	if d.made.grow != nil {
		return d.made.grow.backed.Load()
	}
	return d.info.Budget
}

// freeArena frees the arena.
func (d *CUDA) freeArena() error {
	if g := d.made.grow; g != nil {
		return cuErr(C.saga_unreserve(d.ctx, d.arena, C.size_t(g.bytes), C.size_t(g.backed.Load())))
	}
	return cuFree(d.ctx, d.arena)
}
