//go:build cuda

package device

/*
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cuda.h>

// The first read or write of a queue that its disk refused.
typedef struct { int error, write; int64_t tag; } saga_broken;

typedef struct {
	int fd, write;
	char *buf;
	size_t n;
	off_t at;
	int64_t tag;
	saga_broken *broken;
} saga_io;

// Runs in a thread of the driver, in the order of the stream; calls nothing of CUDA.
static void saga_io_run(void *arg) {
	saga_io *io = arg;
	while (io->n && !io->broken->error) {
		ssize_t k = io->write ? pwrite(io->fd, io->buf, io->n, io->at) : pread(io->fd, io->buf, io->n, io->at);
		if (k < 0 && errno == EINTR) continue;
		if (k <= 0) {
			io->broken->write = io->write;
			io->broken->tag = io->tag;
			io->broken->error = k ? errno : EIO;
			break;
		}
		io->buf += k;
		io->at += k;
		io->n -= k;
	}
	free(io);
}

static int saga_file(CUcontext ctx, CUstream s, int fd, int write, void *buf, size_t n, int64_t at, int64_t tag, saga_broken *b) {
	int r = cuCtxSetCurrent(ctx);
	if (r) return r;
	saga_io *io = malloc(sizeof *io);
	if (!io) return CUDA_ERROR_OUT_OF_MEMORY;
	io->fd = fd;
	io->write = write;
	io->buf = buf;
	io->n = n;
	io->at = at;
	io->tag = tag;
	io->broken = b;
	r = cuLaunchHostFunc(s, saga_io_run, io);
	if (r) free(io);
	return r;
}
*/
import "C"

import (
	"errors"
	"syscall"
	"unsafe"
)

// cudaStage is a queue's pinned buffer between files and the GPU. One is enough: on a
// stream the read of the next piece waits for the copy of the one before in any case,
// and the link is many times faster than a file.
type cudaStage struct {
	mem    HostMem
	broken *C.saga_broken
}

// stageOf returns the buffer of q, made at its first use. The caller holds the device's lock. During
// a capture it is an error: the arguments of a read or write are freed when it has run, and its errors
// name the task at submission, so neither would be right in a replay.
func (d *CUDA) stageOf(q *cudaQueue) (*cudaStage, error) {
	if d.capture.on {
		return nil, errors.New("host memory in a file cannot be captured")
	}
	if q.stage == nil {
		h, err := d.host.alloc(stageBytes)
		if err != nil {
			return nil, err
		}
		q.stage = &cudaStage{h, (*C.saga_broken)(C.calloc(1, C.size_t(unsafe.Sizeof(C.saga_broken{}))))}
	}
	return q.stage, nil
}

// file submits a read or write of n bytes at byte at of m, to or from the beginning of the buffer.
func (d *CUDA) file(q *cudaQueue, m *mapping, write bool, n, at int64) error {
	st := q.stage
	return cuErr(C.saga_file(d.ctx, q.stream, C.int(m.f.Fd()), cInt(write), unsafe.Pointer(unsafe.SliceData(st.mem.b)),
		C.size_t(n), C.int64_t(at), C.int64_t(q.tag.Load()), st.broken))
}

// copyFile copies n bytes between byte at of m and the GPU, in pieces.
func (d *CUDA) copyFile(q *cudaQueue, m *mapping, write bool, at int64, dev cuPtr, n int64) error {
	st, err := d.stageOf(q)
	for n > 0 && err == nil {
		k := min(n, stageBytes)
		if write {
			if err = cuCopyOut(d.ctx, q.stream, st.mem.b[:k], dev); err == nil {
				err = d.file(q, m, true, k, at)
			}
		} else if err = d.file(q, m, false, k, at); err == nil {
			err = cuCopyIn(d.ctx, q.stream, dev, st.mem.b[:k])
		}
		at, dev, n = at+k, dev+cuPtr(k), n-k
	}
	return err
}

// copyFileRows copies rows of m; row 0 begins at byte at of m. Rows near each other are read
// at once into the buffer. From there the kernels f gather the rows; if f is nil, each run of
// neighbouring rows is a copy.
func (d *CUDA) copyFileRows(q *cudaQueue, m *mapping, f []Function, to cuPtr, at, rowBytes int64, rows []uint32) error {
	st, err := d.stageOf(q)
	for len(rows) > 0 && err == nil {
		n := together(rows, rowBytes, stageBytes)
		first, end := int64(rows[0])*rowBytes, (int64(rows[n-1])+1)*rowBytes
		switch {
		case end-first > stageBytes: // one long row
			err = d.copyFile(q, m, false, at+first, to+cuPtr(first), end-first)
		case f != nil:
			if err = d.file(q, m, false, end-first, at+first); err == nil {
				from := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(st.mem.b)))) - uint64(first)
				err = d.launchRows(q, f, to, from, rowBytes, rows[:n])
			}
		default:
			if err = d.file(q, m, false, end-first, at+first); err == nil {
				err = d.copyRuns(q, to, st.mem.b, first, rowBytes, rows[:n])
			}
		}
		rows = rows[n:]
	}
	return err
}

// brokenFile returns the first error of the disk in the tasks of q, which have all run.
func (d *CUDA) brokenFile(q *cudaQueue) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if q.stage == nil || q.stage.broken.error == 0 {
		return nil
	}
	b := q.stage.broken
	op, text := OpH2D, "reading host memory in a file"
	if b.write != 0 {
		op, text = OpD2H, "writing host memory in a file"
	}
	return &OpError{Device: d.info.String(), Op: op, Queue: q.name, Tag: int64(b.tag),
		Err: errors.Join(errors.New(text), syscall.Errno(b.error))}
}

// closeStage frees the buffer of q; its tasks have run.
func (d *CUDA) closeStage(q *cudaQueue) error {
	st := q.stage
	if st == nil {
		return nil
	}
	q.stage = nil
	C.free(unsafe.Pointer(st.broken))
	err := d.host.release(st.mem)
	if err != nil { // with a broken context the memory cannot be unpinned, but it is still freed
		err = errors.Join(err, d.host.arena.release(st.mem))
	}
	return err
}
