//go:build cuda

package device

/*
#include <cuda.h>
#include <cublas_v2.h>

// What is used of cuBLAS, found in the library when the first product is prepared.
struct saga_cublas {
	__typeof__(&cublasCreate) create;
	__typeof__(&cublasSetStream) stream;
	__typeof__(&cublasSetWorkspace) workspace;
	__typeof__(&cublasSetAtomicsMode) atomics;
	__typeof__(&cublasSetMathMode) math;
	__typeof__(&cublasGetStatusString) text;
	__typeof__(&cublasSgemm) sgemm;
	__typeof__(&cublasGemmEx) gemm;
} saga_cublas;

static void saga_blas_set(int i, void *f) { ((void **)&saga_cublas)[i] = f; }
static const char *saga_blas_text(int e) { return saga_cublas.text(e); }

static int saga_blas_create(CUcontext ctx, cublasHandle_t *h) {
	int r = cuCtxSetCurrent(ctx);
	return r ? CUBLAS_STATUS_EXECUTION_FAILED : saga_cublas.create(h);
}

static int saga_blas_bind(CUcontext ctx, cublasHandle_t h, CUstream s, CUdeviceptr work, size_t n) {
	int r = cuCtxSetCurrent(ctx);
	if (r) return CUBLAS_STATUS_EXECUTION_FAILED;
	if ((r = saga_cublas.stream(h, s))) return r;
	if ((r = saga_cublas.workspace(h, (void *)work, n))) return r; // after the stream, which resets it
	if ((r = saga_cublas.atomics(h, CUBLAS_ATOMICS_NOT_ALLOWED))) return r;
	return saga_cublas.math(h, CUBLAS_DEFAULT_MATH); // single precision without TF32
}

// Row-major C = A·B is column-major Cᵗ = Bᵗ·Aᵗ.
int saga_blas_product(cublasHandle_t blas, int ta, int tb, int m, int n, int k, CUdeviceptr a, int lda, CUdeviceptr b, int ldb, CUdeviceptr c, int ldc, int add, int tf32) {
	float one = 1, zero = 0;
	cublasOperation_t opb = tb ? CUBLAS_OP_T : CUBLAS_OP_N, opa = ta ? CUBLAS_OP_T : CUBLAS_OP_N;
	if (tf32)
		return saga_cublas.gemm(blas, opb, opa, n, m, k, &one, (void *)b, CUDA_R_32F, ldb, (void *)a, CUDA_R_32F, lda,
			add ? &one : &zero, (void *)c, CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT);
	return saga_cublas.sgemm(blas, opb, opa, n, m, k, &one, (float *)b, ldb, (float *)a, lda, add ? &one : &zero, (float *)c, ldc);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"

	"sagann/device/cudalib"
)

// blasNames are the functions of the C struct, in its order.
var blasNames = []string{"cublasCreate_v2", "cublasSetStream_v2", "cublasSetWorkspace_v2", "cublasSetAtomicsMode", "cublasSetMathMode",
	"cublasGetStatusString", "cublasSgemm_v2", "cublasGemmEx"}

// loadBlas loads cuBLAS once. That takes as long as all else that opens a GPU, and what has no products needs none.
var loadBlas = sync.OnceValue(func() error {
	lib, err := cudalib.Open("cublas", cuDriver()/1000)
	if err != nil {
		return err
	}
	for i, name := range blasNames {
		f, err := lib.Find(name)
		if err != nil {
			return err
		}
		C.saga_blas_set(C.int(i), f)
	}
	return nil
})

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
// context, so the pool keeps the GPU's context, too.
type blasPool struct {
	mu   sync.Mutex
	free map[int][]cuHandle
	held map[int]bool
}

var blasHandles = blasPool{free: map[int][]cuHandle{}, held: map[int]bool{}}

// take returns a handle of GPU dev, whose context is ctx.
func (p *blasPool) take(dev int, ctx cuContext) (h cuHandle, err error) {
	if err := loadBlas(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if list := p.free[dev]; len(list) > 0 {
		p.free[dev] = list[:len(list)-1]
		return list[len(list)-1], nil
	}
	return h, blasErr(C.saga_blas_create(ctx, &h))
}

// hold keeps the context of GPU dev until the process ends or the context breaks: making it takes as long as a small
// training, and a process opens a GPU several times, for invariants, training and predictions.
func (p *blasPool) hold(dev int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[dev] {
		return nil
	}
	_, err := cuOpenContext(dev)
	p.held[dev] = err == nil
	return err
}

// warm makes the handle of the first queue of GPU dev, and computes small products with it, as the library loads its kernels when
// they are first used. That takes a tenth of a second. Nothing reads the products.
func (p *blasPool) warm(dev int) (err error) {
	ctx, err := cuOpenContext(dev)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuCloseContext(dev)) }()
	h, err := p.take(dev, ctx)
	if err != nil {
		return err
	}
	defer p.give(dev, h)
	stream, err := cuNewStream(ctx, false)
	if err != nil {
		return err
	}
	defer cuCloseStream(stream)
	const n, room = 64, 1 << 20
	work, err := cuAlloc(ctx, room)
	if err != nil {
		return err
	}
	defer cuFree(ctx, work)
	err = blasErr(C.saga_blas_bind(ctx, h, stream, work, room/2))
	at := work + room/2
	for _, turned := range [][2]C.int{{0, 0}, {0, 1}, {1, 0}} {
		if err == nil {
			err = blasErr(C.saga_blas_product(h, turned[0], turned[1], n, n/4, n, at, n, at, n, at, n, 0, 0))
		}
	}
	return errors.Join(err, cuSyncStream(ctx, stream))
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
	return fmt.Errorf("cuBLAS: %s", C.GoString(C.saga_blas_text(C.int(r))))
}
