//go:build cuda

package device

/*
#include <stdlib.h>
#include <stdint.h>
#include <cuda.h>

typedef struct cublasContext *cublasHandle_t;
int saga_blas_product(cublasHandle_t blas, int ta, int tb, int m, int n, int k, CUdeviceptr a, int lda, CUdeviceptr b, int ldb, CUdeviceptr c, int ldc, int add, int tf32);

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

// A second stream, for commands that may run at the same time as those of the queue's own stream, and
// the events that order the two.
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
			r.blas = saga_blas_product(blas, c->ta, c->tb, c->m, c->n, c->k, c->a, c->lda, c->b, c->ldb, c->c, c->ldc, c->add, c->tf32);
			break;
		case 2:
			if (c->words) r.cuda = cuMemsetD32Async(c->a, 0, c->words, s);
		}
		if (join && !r.cuda && !r.blas) r.cuda = cuStreamWaitEvent(s, side->join, 0);
	}
	return r;
}
*/
import "C"

import "unsafe"

// Go names of the C types of commands.
type (
	cuCommand = C.saga_command
	cuSide    = C.saga_side
)

// cuNewSide makes a side stream and its events. On an error it frees what it has made.
func cuNewSide(ctx cuContext) (*cuSide, error) {
	side := &cuSide{}
	var err error
	if side.s, err = cuNewStream(ctx, false); err == nil {
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
