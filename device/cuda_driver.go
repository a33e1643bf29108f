//go:build cuda

package device

/*
#cgo LDFLAGS: -lcuda -lcublas
#include <stdlib.h>
#include <stdint.h>
#include <cuda.h>
#include <cublas_v2.h>

typedef struct {
	int op;                 // 0 call, 1 product, 2 clear
	CUfunction f;
	unsigned gx, gy, gz, block, shared;
	void **params;          // into args
	uint64_t *args;
	CUdeviceptr a, b, c;    // product; clear: a
	int m, n, k, lda, ldb, ldc, ta, tb, add, tf32;
	int beside;             // call: may run with the next command
	size_t words;           // clear
} saga_command;

typedef struct { int cuda, blas, at; } saga_result;

// A stream for what may run beside a queue's own, and the events that tie it to that.
typedef struct { CUstream s; CUevent fork, join; } saga_side;

static int saga_aside(saga_command *c, CUstream s, saga_side *side) {
	int r = cuEventRecord(side->fork, s);
	if (!r) r = cuStreamWaitEvent(side->s, side->fork, 0);
	if (!r) r = cuLaunchKernel(c->f, c->gx, c->gy, c->gz, c->block, 1, 1, c->shared, side->s, c->params, NULL);
	return r ? r : cuEventRecord(side->join, side->s);
}

// A product needs its queue's own handle: the workspace is part of it.
static saga_result saga_submit(CUcontext ctx, CUstream s, cublasHandle_t blas, saga_side *side, saga_command *c, int n) {
	saga_result r = {0, 0, 0};
	float one = 1, zero = 0;
	int apart = 0, join;
	r.cuda = cuCtxSetCurrent(ctx);
	for (int i = 0; i < n && !r.cuda && !r.blas; i++, c++) {
		r.at = i;
		join = apart;
		apart = 0;
		switch (c->op) {
		case 0:
			if (c->beside && i + 1 < n && !join) {
				r.cuda = saga_aside(c, s, side);
				apart = 1;
				break;
			}
			r.cuda = cuLaunchKernel(c->f, c->gx, c->gy, c->gz, c->block, 1, 1, c->shared, s, c->params, NULL);
			break;
		case 1:
			// Row-major C = A·B is column-major Cᵗ = Bᵗ·Aᵗ.
			if (c->tf32) {
				r.blas = cublasGemmEx(blas, c->tb ? CUBLAS_OP_T : CUBLAS_OP_N, c->ta ? CUBLAS_OP_T : CUBLAS_OP_N,
					c->n, c->m, c->k, &one, (void *)c->b, CUDA_R_32F, c->ldb, (void *)c->a, CUDA_R_32F, c->lda,
					c->add ? &one : &zero, (void *)c->c, CUDA_R_32F, c->ldc, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT);
				break;
			}
			r.blas = cublasSgemm(blas, c->tb ? CUBLAS_OP_T : CUBLAS_OP_N, c->ta ? CUBLAS_OP_T : CUBLAS_OP_N,
				c->n, c->m, c->k, &one, (float *)c->b, c->ldb, (float *)c->a, c->lda,
				c->add ? &one : &zero, (float *)c->c, c->ldc);
			break;
		case 2:
			if (c->words) r.cuda = cuMemsetD32Async(c->a, 0, c->words, s);
		}
		if (join && !r.cuda && !r.blas) r.cuda = cuStreamWaitEvent(s, side->join, 0);
	}
	return r;
}

static int saga_copy(CUcontext ctx, CUstream s, int op, CUdeviceptr dev, void *host, size_t n) {
	int r = cuCtxSetCurrent(ctx);
	if (r || !n) return r;
	return op ? cuMemcpyDtoHAsync(host, dev, n, s) : cuMemcpyHtoDAsync(dev, host, n, s);
}

static int saga_peer(CUcontext ctx, CUstream s, CUdeviceptr to, CUcontext fromCtx, CUdeviceptr from, size_t n) {
	int r = cuCtxSetCurrent(ctx);
	if (r || !n) return r;
	if (ctx == fromCtx) return cuMemcpyDtoDAsync(to, from, n, s);
	return cuMemcpyPeerAsync(to, ctx, from, fromCtx, n, s);
}

static int saga_event(CUcontext ctx, CUevent *e, int timing) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuEventCreate(e, timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
}

static int saga_record(CUcontext ctx, CUevent e, CUstream s) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuEventRecord(e, s);
}

static int saga_wait(CUcontext ctx, CUstream s, CUevent e) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuStreamWaitEvent(s, e, 0);
}

static int saga_stream(CUcontext ctx, CUstream *s) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuStreamCreate(s, CU_STREAM_NON_BLOCKING);
}

static int saga_sync(CUcontext ctx, CUstream s) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuStreamSynchronize(s);
}

static int saga_alloc(CUcontext ctx, CUdeviceptr *p, size_t n) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuMemAlloc(p, n);
}

static int saga_free(CUcontext ctx, CUdeviceptr p) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuMemFree(p);
}

static int saga_pin(CUcontext ctx, void *p, size_t n) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuMemHostRegister(p, n, CU_MEMHOSTREGISTER_PORTABLE);
}

static int saga_unpin(CUcontext ctx, void *p) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuMemHostUnregister(p);
}

static int saga_peers(CUcontext ctx, CUdevice dev, CUcontext peer, CUdevice peerDev) {
	int can = 0, r = cuDeviceCanAccessPeer(&can, dev, peerDev);
	if (r || !can) return r;
	if ((r = cuCtxSetCurrent(ctx))) return r;
	r = cuCtxEnablePeerAccess(peer, 0);
	return r == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ? 0 : r;
}

static int saga_module(CUcontext ctx, CUmodule *m, const char *image) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuModuleLoadData(m, image);
}

static int saga_function(CUcontext ctx, CUfunction *f, CUmodule m, const char *name) {
	int r = cuCtxSetCurrent(ctx); // the goroutine may have changed threads
	if (r || (r = cuModuleGetFunction(f, m, name))) return r;
	// Kernels may ask for more than the 48 KiB that need no permission.
	CUdevice dev;
	int most = 0, own = 0;
	if ((r = cuCtxGetDevice(&dev))) return r;
	if ((r = cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, dev))) return r;
	if ((r = cuFuncGetAttribute(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, *f))) return r;
	return cuFuncSetAttribute(*f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - own);
}

static int saga_unload(CUcontext ctx, CUmodule m) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuModuleUnload(m);
}

static int saga_blas(CUcontext ctx, cublasHandle_t *h, CUstream s, CUdeviceptr work, size_t n) {
	int r = cuCtxSetCurrent(ctx);
	if (r) return CUBLAS_STATUS_EXECUTION_FAILED;
	if ((r = cublasCreate(h))) return r;
	if ((r = cublasSetStream(*h, s))) return r;
	if ((r = cublasSetWorkspace(*h, (void *)work, n))) return r; // after SetStream, which resets it
	if ((r = cublasSetAtomicsMode(*h, CUBLAS_ATOMICS_NOT_ALLOWED))) return r;
	return cublasSetMathMode(*h, CUBLAS_DEFAULT_MATH); // single precision without TF32
}

static int saga_unblas(CUcontext ctx, cublasHandle_t h) {
	cuCtxSetCurrent(ctx);
	return cublasDestroy(h);
}
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// Handles of the driver, as Go names.
type (
	cuContext = C.CUcontext
	cuStream  = C.CUstream
	cuEvent   = C.CUevent
	cuModule  = C.CUmodule
	cuFunc    = C.CUfunction
	cuPtr     = C.CUdeviceptr
	cuDev     = C.CUdevice
	cuHandle  = C.cublasHandle_t
	cuCommand = C.saga_command
	cuSide    = C.saga_side
)

// A CUDAError is a result of the driver, by its name.
type CUDAError struct {
	Code int
	Name string // such as CUDA_ERROR_OUT_OF_MEMORY
	Text string
}

// Error gives name and explanation.
func (e *CUDAError) Error() string { return e.Name + ": " + e.Text }

func cuErr[T ~int32 | ~uint32](r T) error {
	if r == 0 {
		return nil
	}
	e := &CUDAError{Code: int(r), Name: fmt.Sprintf("CUDA_ERROR_%d", r), Text: "unknown error"}
	var s *C.char
	if C.cuGetErrorName(C.CUresult(r), &s) == 0 {
		e.Name = C.GoString(s)
	}
	if C.cuGetErrorString(C.CUresult(r), &s) == 0 {
		e.Text = C.GoString(s)
	}
	return e
}

func blasErr[T ~int32 | ~uint32](r T) error {
	if r == 0 {
		return nil
	}
	return fmt.Errorf("cuBLAS: %s", C.GoString(C.cublasGetStatusString(C.cublasStatus_t(r))))
}

func cuOpenContext(dev int) (ctx cuContext, err error) {
	return ctx, cuErr(C.cuDevicePrimaryCtxRetain(&ctx, C.CUdevice(dev)))
}

func cuCloseContext(dev int) error { return cuErr(C.cuDevicePrimaryCtxRelease(C.CUdevice(dev))) }

func cuBus(dev int) string {
	var b [32]C.char
	if C.cuDeviceGetPCIBusId(&b[0], 32, C.CUdevice(dev)) != 0 {
		return ""
	}
	return C.GoString(&b[0])
}

func cuAlloc(ctx cuContext, n int64) (p cuPtr, err error) {
	return p, cuErr(C.saga_alloc(ctx, &p, C.size_t(n)))
}

func cuFree(ctx cuContext, p cuPtr) error { return cuErr(C.saga_free(ctx, p)) }

func cuNewStream(ctx cuContext) (s cuStream, err error) { return s, cuErr(C.saga_stream(ctx, &s)) }

// cuNewSide makes a side stream; on an error what there is of it is given back.
func cuNewSide(ctx cuContext) (*cuSide, error) {
	side := &cuSide{}
	var err error
	if side.s, err = cuNewStream(ctx); err == nil {
		if side.fork, err = cuNewEvent(ctx, false); err == nil {
			side.join, err = cuNewEvent(ctx, false)
		}
	}
	if err != nil {
		cuCloseSide(side)
		return nil, err
	}
	return side, nil
}

func cuCloseSide(side *cuSide) {
	for _, e := range []cuEvent{side.fork, side.join} {
		if e != nil {
			cuCloseEvent(e)
		}
	}
	if side.s != nil {
		cuCloseStream(side.s)
	}
}

func cuSyncStream(ctx cuContext, s cuStream) error { return cuErr(C.saga_sync(ctx, s)) }

func cuCloseStream(s cuStream) error { return cuErr(C.cuStreamDestroy(s)) }

func cuNewEvent(ctx cuContext, timing bool) (e cuEvent, err error) {
	return e, cuErr(C.saga_event(ctx, &e, cInt(timing)))
}

func cuRecord(ctx cuContext, e cuEvent, s cuStream) error { return cuErr(C.saga_record(ctx, e, s)) }

func cuWait(ctx cuContext, s cuStream, e cuEvent) error { return cuErr(C.saga_wait(ctx, s, e)) }

func cuCloseEvent(e cuEvent) { C.cuEventDestroy(e) }

// cuElapsed is the time between two events in milliseconds.
func cuElapsed(from, to cuEvent) (ms float32, err error) {
	var f C.float
	err = cuErr(C.cuEventElapsedTime(&f, from, to))
	return float32(f), err
}

func cuCopyIn(ctx cuContext, s cuStream, to cuPtr, from []byte) error {
	return cuErr(C.saga_copy(ctx, s, 0, to, unsafe.Pointer(unsafe.SliceData(from)), C.size_t(len(from))))
}

func cuCopyOut(ctx cuContext, s cuStream, to []byte, from cuPtr) error {
	return cuErr(C.saga_copy(ctx, s, 1, from, unsafe.Pointer(unsafe.SliceData(to)), C.size_t(len(to))))
}

func cuCopyPeer(ctx cuContext, s cuStream, to cuPtr, fromCtx cuContext, from cuPtr, n int64) error {
	return cuErr(C.saga_peer(ctx, s, to, fromCtx, from, C.size_t(n)))
}

func cuPeers(ctx cuContext, dev int, peer cuContext, peerDev int) error {
	return cuErr(C.saga_peers(ctx, C.CUdevice(dev), peer, C.CUdevice(peerDev)))
}

func cuPin(ctx cuContext, b []byte) error {
	return cuErr(C.saga_pin(ctx, unsafe.Pointer(unsafe.SliceData(b)), C.size_t(len(b))))
}

func cuUnpin(ctx cuContext, p *byte) error { return cuErr(C.saga_unpin(ctx, unsafe.Pointer(p))) }

func cuLoad(ctx cuContext, image string, names []string) (m cuModule, f []cuFunc, err error) {
	s := C.CString(image)
	defer C.free(unsafe.Pointer(s))
	if err := cuErr(C.saga_module(ctx, &m, s)); err != nil {
		return nil, nil, err
	}
	f = make([]cuFunc, len(names))
	for i, name := range names {
		s := C.CString(name)
		err := cuErr(C.saga_function(ctx, &f[i], m, s))
		C.free(unsafe.Pointer(s))
		if err != nil {
			C.saga_unload(ctx, m)
			return nil, nil, fmt.Errorf("kernel %s: %w", name, err)
		}
	}
	return m, f, nil
}

func cuUnload(ctx cuContext, m cuModule) error { return cuErr(C.saga_unload(ctx, m)) }

func cuNewBlas(ctx cuContext, s cuStream, work cuPtr, n int64) (h cuHandle, err error) {
	return h, blasErr(C.saga_blas(ctx, &h, s, work, C.size_t(n)))
}

func cuCloseBlas(ctx cuContext, h cuHandle) error { return blasErr(C.saga_unblas(ctx, h)) }

// cuSubmit returns the index of the command that failed.
func cuSubmit(ctx cuContext, s cuStream, h cuHandle, side *cuSide, c *cuCommand, n int) (int, error) {
	r := C.saga_submit(ctx, s, h, side, c, C.int(n))
	if r.blas != 0 {
		return int(r.at), blasErr(r.blas)
	}
	return int(r.at), cuErr(r.cuda)
}

// cuCommands puts commands and their arguments into C memory, which free gives
// back: the driver reads them at every launch.
func cuCommands(list []Command, fn func(Function) cuFunc) (first *cuCommand, free func()) {
	args := 0
	for _, c := range list {
		if c.Call != nil {
			args += len(c.Call.Args)
		}
	}
	n := len(list)
	size := uintptr(n)*unsafe.Sizeof(cuCommand{}) + uintptr(args)*16
	room := C.calloc(1, C.size_t(size+16))
	first = (*cuCommand)(room)
	cmds := unsafe.Slice(first, n)
	after := unsafe.Add(room, uintptr(n)*unsafe.Sizeof(cuCommand{}))
	words := unsafe.Slice((*C.uint64_t)(after), args+1)
	ptrs := unsafe.Slice((*unsafe.Pointer)(unsafe.Add(after, 8*args)), args+1)
	at := 0
	for i, c := range list {
		d := &cmds[i]
		switch {
		case c.Call != nil:
			d.f, d.beside = fn(c.Call.Func), cInt(c.beside())
			d.gx, d.gy, d.gz = C.uint(c.Call.Grid[0]), C.uint(c.Call.Grid[1]), C.uint(c.Call.Grid[2])
			d.block, d.shared = C.uint(c.Call.Block), C.uint(c.Call.Shared)
			d.args, d.params = &words[at], (*unsafe.Pointer)(&ptrs[at])
			for _, a := range c.Call.Args {
				words[at] = C.uint64_t(a)
				ptrs[at] = unsafe.Pointer(&words[at])
				at++
			}
		case c.Gemm != nil:
			g := c.Gemm
			d.op = 1
			d.a, d.b, d.c = C.CUdeviceptr(g.A), C.CUdeviceptr(g.B), C.CUdeviceptr(g.C)
			d.m, d.n, d.k = C.int(g.M), C.int(g.N), C.int(g.K)
			d.lda, d.ldb, d.ldc = C.int(g.LDA), C.int(g.LDB), C.int(g.LDC)
			d.ta, d.tb, d.add, d.tf32 = cInt(g.TransA), cInt(g.TransB), cInt(g.Add), cInt(g.TF32)
		case c.Clear != nil:
			d.op, d.a, d.words = 2, C.CUdeviceptr(c.Clear.Addr), C.size_t(c.Clear.Bytes/4)
		}
	}
	return first, func() { C.free(room) }
}

func cInt(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
