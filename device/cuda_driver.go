//go:build cuda

package device

/*
#cgo LDFLAGS: -lcuda
#include <stdlib.h>
#include <cuda.h>

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

static int saga_stream(CUcontext ctx, CUstream *s, int urgent) {
	int least, most, r = cuCtxSetCurrent(ctx);
	if (r || (r = cuCtxGetStreamPriorityRange(&least, &most))) return r;
	return cuStreamCreateWithPriority(s, CU_STREAM_NON_BLOCKING, urgent ? most : least);
}

static int saga_sync(CUcontext ctx, CUstream s) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuStreamSynchronize(s);
}

static int saga_await(CUcontext ctx, CUevent e) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuEventSynchronize(e);
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

static int saga_module(CUcontext ctx, CUmodule *m, const void *image) {
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

func cuNewStream(ctx cuContext, urgent bool) (s cuStream, err error) {
	n := C.int(0)
	if urgent {
		n = 1
	}
	return s, cuErr(C.saga_stream(ctx, &s, n))
}

func cuSyncStream(ctx cuContext, s cuStream) error { return cuErr(C.saga_sync(ctx, s)) }

func cuCloseStream(s cuStream) error { return cuErr(C.cuStreamDestroy(s)) }

func cuNewEvent(ctx cuContext, timing bool) (e cuEvent, err error) {
	return e, cuErr(C.saga_event(ctx, &e, cInt(timing)))
}

func cuRecord(ctx cuContext, e cuEvent, s cuStream) error { return cuErr(C.saga_record(ctx, e, s)) }

func cuWait(ctx cuContext, s cuStream, e cuEvent) error { return cuErr(C.saga_wait(ctx, s, e)) }

// cuAwait returns when e's latest record has run.
func cuAwait(ctx cuContext, e cuEvent) error { return cuErr(C.saga_await(ctx, e)) }

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

func cuLoad(ctx cuContext, image []byte, names []string) (m cuModule, f []cuFunc, err error) {
	if err := cuErr(C.saga_module(ctx, &m, unsafe.Pointer(unsafe.SliceData(image)))); err != nil {
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

func cInt(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
