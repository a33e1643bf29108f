//go:build cuda

package device

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <cuda.h>

// What is used of NCCL, found in the library when it is opened.
typedef struct { char b[128]; } saga_id;
typedef void *saga_comm;
static struct {
	void *lib;
	int (*version)(int *);
	int (*id)(saga_id *);
	int (*init)(saga_comm *, int, saga_id, int);
	int (*start)(void);
	int (*end)(void);
	int (*send)(const void *, size_t, int, int, saga_comm, CUstream);
	int (*recv)(void *, size_t, int, int, saga_comm, CUstream);
	int (*abort)(saga_comm);
	const char *(*text)(int);
} nccl;

static const char *saga_nccl_open(const char *path) {
	if (nccl.lib) return NULL;
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib) return dlerror();
	struct { const char *name; void **to; } all[] = {
		{"ncclGetVersion", (void **)&nccl.version}, {"ncclGetUniqueId", (void **)&nccl.id}, {"ncclCommInitRank", (void **)&nccl.init},
		{"ncclGroupStart", (void **)&nccl.start}, {"ncclGroupEnd", (void **)&nccl.end}, {"ncclSend", (void **)&nccl.send},
		{"ncclRecv", (void **)&nccl.recv}, {"ncclCommAbort", (void **)&nccl.abort},
		{"ncclGetErrorString", (void **)&nccl.text},
	};
	for (int i = 0; i < sizeof all / sizeof *all; i++)
		if (!(*all[i].to = dlsym(lib, all[i].name))) return dlerror();
	nccl.lib = lib;
	return NULL;
}

static int saga_nccl_version(void) { int v = 0; nccl.version(&v); return v; }
static int saga_nccl_id(void *to) { return nccl.id(to); }
static const char *saga_nccl_text(int e) { return nccl.text(e); }
static int saga_nccl_start(void) { return nccl.start(); }
static int saga_nccl_end(void) { return nccl.end(); }

static int saga_nccl_init(CUcontext ctx, saga_comm *c, int ranks, const void *id, int rank) {
	saga_id x;
	memcpy(&x, id, sizeof x);
	if (cuCtxSetCurrent(ctx)) return 1;
	return nccl.init(c, ranks, x, rank);
}

typedef struct { CUdeviceptr at; size_t n; int peer, send; } saga_message;

// Bytes are ncclUint8, which is 1. A group that was begun is ended in any case.
static int saga_nccl_exchange(CUcontext ctx, saga_comm c, CUstream s, const saga_message *m, int n) {
	if (cuCtxSetCurrent(ctx)) return 1;
	int r = nccl.start(), end;
	if (r) return r;
	for (; n-- && !r; m++)
		r = m->send ? nccl.send((void *)m->at, m->n, 1, m->peer, c, s) : nccl.recv((void *)m->at, m->n, 1, m->peer, c, s);
	end = nccl.end();
	return r ? r : end;
}

static int saga_nccl_close(CUcontext ctx, saga_comm c) { return cuCtxSetCurrent(ctx) ? 1 : nccl.abort(c); }
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// cudaComm is a device among those of all processes.
type cudaComm = C.saga_comm

func ncclErr(what string, e C.int) error {
	if e == 0 {
		return nil
	}
	return fmt.Errorf("NCCL: %s: %s", what, C.GoString(C.saga_nccl_text(e)))
}

// OpenNCCL loads NCCL from the library at path and returns its version.
func OpenNCCL(path string) (version string, err error) {
	if e := C.saga_nccl_open(cString(path)); e != nil {
		return "", fmt.Errorf("NCCL: %s", C.GoString(e))
	}
	v := int(C.saga_nccl_version())
	return fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100), nil
}

// cString is s with a zero byte at its end.
func cString(s string) *C.char {
	b := append([]byte(s), 0)
	return (*C.char)(unsafe.Pointer(&b[0]))
}

// NCCLID makes the identifier by which the GPUs of one run find each other. One process makes it and
// sends it to the others.
func NCCLID() ([]byte, error) {
	id := make([]byte, NCCLIDBytes)
	return id, ncclErr("unique id", C.saga_nccl_id(unsafe.Pointer(&id[0])))
}

// JoinNCCL joins the devices of this process to those of all processes: they become GPUs number first,
// first+1 and so on, of all GPUs. Every process of the run must call it.
func JoinNCCL(devices []Device, id []byte, first, all int) error {
	if len(id) != NCCLIDBytes {
		return fmt.Errorf("NCCL: an id of %d bytes", len(id))
	}
	runtime.LockOSThread() // an NCCL group belongs to one thread
	defer runtime.UnlockOSThread()
	if err := ncclErr("group", C.saga_nccl_start()); err != nil {
		return err
	}
	var err error
	comms := make([]C.saga_comm, len(devices))
	var pin runtime.Pinner // NCCL writes the communicators when the group ends
	defer pin.Unpin()
	pin.Pin(&comms[0])
	for i, dev := range devices {
		d, ok := unwrap(dev).(*CUDA)
		if !ok {
			err = errors.Join(err, errors.New("NCCL: not a CUDA device"))
			continue
		}
		err = errors.Join(err, ncclErr("join", C.saga_nccl_init(d.ctx, &comms[i], C.int(all), unsafe.Pointer(&id[0]), C.int(first+i))))
	}
	if err = errors.Join(err, ncclErr("join", C.saga_nccl_end())); err != nil {
		return err
	}
	for i, dev := range devices {
		d := unwrap(dev).(*CUDA)
		d.mu.Lock()
		d.comm = comms[i]
		d.mu.Unlock()
	}
	return nil
}

// Exchange submits the messages as one NCCL group.
func (d *CUDA) Exchange(q Queue, list []Message) error {
	own, err := d.queue(q)
	var all int64
	c := make([]C.saga_message, len(list))
	for i, m := range list {
		if err == nil {
			err = d.space.check(m.Mem, m.Off, m.Bytes)
		}
		all += m.Bytes
		c[i] = C.saga_message{at: C.CUdeviceptr(d.arena + cuPtr(m.Mem.off+m.Off)), n: C.size_t(m.Bytes), peer: C.int(m.Peer), send: cInt(m.Send)}
	}
	if err == nil && d.comm == nil {
		err = errors.New("the device has not joined others")
	}
	if err == nil && len(list) > 0 {
		err = d.submit(own, OpD2D, "", all, d.copied(OpD2D, all), func() error {
			runtime.LockOSThread() // an NCCL group belongs to one thread
			defer runtime.UnlockOSThread()
			return ncclErr("messages", C.saga_nccl_exchange(d.ctx, d.comm, own.stream, &c[0], C.int(len(c))))
		})
	}
	return d.err(OpD2D, q, err)
}

// leaveNCCL destroys the communicator. It does not wait for other GPUs: all messages have run, or the
// device has failed.
func (d *CUDA) leaveNCCL() error {
	c := d.comm
	if c == nil {
		return nil
	}
	d.comm = nil
	return ncclErr("leave", C.saga_nccl_close(d.ctx, c))
}
