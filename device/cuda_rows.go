//go:build cuda

package device

/*
#include <cuda.h>

// Whether the GPU can read host memory at p: it is pinned.
static int saga_pinned(CUcontext ctx, const void *p) {
	unsigned kind = 0;
	if (cuCtxSetCurrent(ctx)) return 0;
	return cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)p) == CUDA_SUCCESS && kind == CU_MEMORYTYPE_HOST;
}
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"
)

// rowsSource gathers rows straight from pinned host memory: a warp a row, rows in
// ascending order, so that the link carries little more than the rows. The few blocks
// leave most of the GPU to the kernels of other queues.
const rowsSource = `
template <class T> __device__ void rows(T *dst, const T *src, const unsigned *list, long long n, long long words) {
	const long long warps = gridDim.x * (long long)(blockDim.x / 32);
	for (long long i = blockIdx.x * (long long)(blockDim.x / 32) + threadIdx.x / 32; i < n; i += warps) {
		const long long at = list[i] * words;
		for (long long k = threadIdx.x % 32; k < words; k += 32) dst[at + k] = src[at + k];
	}
}
extern "C" __global__ void saga_rows16(float4 *dst, const float4 *src, const unsigned *list, long long n, long long words) {
	rows(dst, src, list, n, words);
}
extern "C" __global__ void saga_rows4(float *dst, const float *src, const unsigned *list, long long n, long long words) {
	rows(dst, src, list, n, words);
}
`

const (
	rowsBlocks = 64
	rowsBlock  = 256
)

func (d *CUDA) pinned(p unsafe.Pointer) bool { return C.saga_pinned(d.ctx, p) != 0 }

// cudaRows are the kernels of CopyRows, once they were needed.
type cudaRows struct {
	once  sync.Once
	funcs []Function
	err   error
}

// rowKernels compiles the kernels of CopyRows at their first use.
func (d *CUDA) rowKernels() ([]Function, error) {
	d.rows.once.Do(func() { d.rows.funcs, d.rows.err = d.Compile(rowsSource, []string{"saga_rows16", "saga_rows4"}) })
	return d.rows.funcs, d.rows.err
}

// CopyRows copies some rows of src to their places in dst. From pinned memory, with a
// pinned list, a kernel on q reads the rows over the link; otherwise each run of
// neighbouring rows is a copy of its own. What a file holds goes through a pinned buffer.
func (d *CUDA) CopyRows(q Queue, dst Mem, dstOff int64, src []byte, rowBytes int64, rows []uint32) error {
	return d.err(OpH2D, q, d.copyRows(q, dst, dstOff, src, rowBytes, rows))
}

func (d *CUDA) copyRows(q Queue, dst Mem, dstOff int64, src []byte, rowBytes int64, rows []uint32) error {
	own, err := d.queue(q)
	if err != nil {
		return err
	}
	if err := checkRows(src, rowBytes, rows); err != nil {
		return fmt.Errorf("from: %w", err)
	}
	if err := d.space.check(dst, dstOff, extent(rowBytes, rows)); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	n := int64(len(rows)) * rowBytes
	to := d.arena + cuPtr(dst.off+dstOff)
	file, at := fileOf(src)
	var f []Function
	if len(rows) > 0 && rowBytes%4 == 0 && uintptr(to)%16 == 0 && uintptr(unsafe.Pointer(&src[0]))%16 == 0 &&
		(file != nil || d.pinned(unsafe.Pointer(&src[0]))) && d.pinned(unsafe.Pointer(&rows[0])) {
		if f, err = d.rowKernels(); err != nil {
			return err
		}
	}
	copies := func() error {
		switch {
		case file != nil:
			return d.copyFileRows(own, file, f, to, at, rowBytes, rows)
		case f != nil:
			return d.launchRows(own, f, to, uint64(uintptr(unsafe.Pointer(&src[0]))), rowBytes, rows)
		}
		if err := d.keepable(src); err != nil {
			return err
		}
		return d.copyRuns(own, to, src, 0, rowBytes, rows)
	}
	return d.submit(own, OpH2D, "", n, d.copied(OpH2D, n), copies)
}

// launchRows gathers rows with the kernels f. Row 0 is at address from, which need not be valid memory if
// row 0 is not in the list.
func (d *CUDA) launchRows(q *cudaQueue, f []Function, to cuPtr, from uint64, rowBytes int64, rows []uint32) error {
	call := &Call{Func: f[0], Grid: [3]uint32{rowsBlocks, 1, 1}, Block: rowsBlock,
		Args: []uint64{uint64(to), from, uint64(uintptr(unsafe.Pointer(&rows[0]))),
			uint64(len(rows)), uint64(rowBytes / 16)}}
	if rowBytes%16 != 0 {
		call.Func, call.Args[4] = f[1], uint64(rowBytes/4)
	}
	first, free := cuCommands([]Command{{Call: call}}, func(f Function) cuFunc { return f.(*cudaFunc).f })
	defer free()
	_, err := cuSubmit(d.ctx, q.stream, nil, nil, first, 1)
	return err
}

// copyRuns copies rows, with one copy for each run of neighbouring rows. src begins at byte base,
// counted from row 0.
func (d *CUDA) copyRuns(q *cudaQueue, to cuPtr, src []byte, base, rowBytes int64, rows []uint32) error {
	for lo := 0; lo < len(rows); {
		hi := lo + 1
		for hi < len(rows) && rows[hi] == rows[hi-1]+1 {
			hi++
		}
		from, end := int64(rows[lo])*rowBytes, (int64(rows[hi-1])+1)*rowBytes
		if err := cuCopyIn(d.ctx, q.stream, to+cuPtr(from), src[from-base:end-base]); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}
