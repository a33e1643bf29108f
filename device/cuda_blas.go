//go:build cuda

package device

/*
#include <cuda.h>
#include <cublas_v2.h>

static int saga_blas_create(CUcontext ctx, cublasHandle_t *h) {
	int r = cuCtxSetCurrent(ctx);
	return r ? CUBLAS_STATUS_EXECUTION_FAILED : cublasCreate(h);
}

static int saga_blas_bind(CUcontext ctx, cublasHandle_t h, CUstream s, CUdeviceptr work, size_t n) {
	int r = cuCtxSetCurrent(ctx);
	if (r) return CUBLAS_STATUS_EXECUTION_FAILED;
	if ((r = cublasSetStream(h, s))) return r;
	if ((r = cublasSetWorkspace(h, (void *)work, n))) return r; // after SetStream, which resets it
	if ((r = cublasSetAtomicsMode(h, CUBLAS_ATOMICS_NOT_ALLOWED))) return r;
	return cublasSetMathMode(h, CUBLAS_DEFAULT_MATH); // single precision without TF32
}
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
)

type cuHandle = C.cublasHandle_t

// cudaBlas is a handle and its workspace.
type cudaBlas struct {
	handle cuHandle
	work   cuPtr
}

// blasWork is the workspace of a queue's products in bytes: what the library recommends for
// compute capability 9. It is not a part of the arena.
const blasWork = 32 << 20

// blasPool has the handles that no device uses, by GPU. Handles are not destroyed before the process
// ends, as cublasDestroy has crashed when several devices of a process were closed at the same time. A
// device that closes leaves its handles to the next device on its GPU. A handle belongs to a
// context, so the pool keeps the GPU's context from the first handle on.
type blasPool struct {
	mu   sync.Mutex
	free map[int][]cuHandle
	held map[int]bool
}

var blasHandles = blasPool{free: map[int][]cuHandle{}, held: map[int]bool{}}

// take returns a handle of GPU dev, whose context is ctx.
func (p *blasPool) take(dev int, ctx cuContext) (h cuHandle, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if list := p.free[dev]; len(list) > 0 {
		p.free[dev] = list[:len(list)-1]
		return list[len(list)-1], nil
	}
	if !p.held[dev] {
		if _, err := cuOpenContext(dev); err != nil {
			return nil, err
		}
		p.held[dev] = true
	}
	return h, blasErr(C.saga_blas_create(ctx, &h))
}

// give takes back a handle whose queue has drained.
func (p *blasPool) give(dev int, h cuHandle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free[dev] = append(p.free[dev], h)
}

// forget drops the handles of a context that may be broken, and releases the context. When all devices
// of the GPU are closed, the next device that opens gets a sound context.
func (p *blasPool) forget(dev int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.held[dev] {
		return nil
	}
	delete(p.free, dev)
	delete(p.held, dev)
	return cuCloseContext(dev)
}

// openBlas gives q a handle and a workspace.
func (d *CUDA) openBlas(q *cudaQueue) error {
	work, err := cuAlloc(d.ctx, blasWork)
	if err != nil {
		return err
	}
	h, err := blasHandles.take(d.dev, d.ctx)
	if err != nil {
		return errors.Join(err, cuFree(d.ctx, work))
	}
	d.made.blas = append(d.made.blas, cudaBlas{h, work})
	if err := blasErr(C.saga_blas_bind(d.ctx, h, q.stream, work, blasWork)); err != nil {
		return err
	}
	q.blas = h
	return nil
}

// closeBlas frees the workspaces and leaves the handles to the GPU's next device.
func (d *CUDA) closeBlas() error {
	var errs []error
	if !d.status.sound() {
		errs = append(errs, blasHandles.forget(d.dev))
	}
	for _, b := range d.made.blas {
		if d.status.sound() {
			blasHandles.give(d.dev, b.handle)
		}
		errs = append(errs, cuFree(d.ctx, b.work))
	}
	return errors.Join(errs...)
}

func blasErr[T ~int32 | ~uint32](r T) error {
	if r == 0 {
		return nil
	}
	return fmt.Errorf("cuBLAS: %s", C.GoString(C.cublasGetStatusString(C.cublasStatus_t(r))))
}
