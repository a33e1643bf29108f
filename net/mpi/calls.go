//go:build mpi

package mpi

/*
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

// Heartbeats have a communicator of their own.
static MPI_Comm beats;

static int saga_init(int *rank, int *ranks) {
	int level, e;
	if ((e = MPI_Init_thread(0, 0, MPI_THREAD_FUNNELED, &level)) || (e = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)) ||
	    (e = MPI_Comm_rank(MPI_COMM_WORLD, rank)) || (e = MPI_Comm_size(MPI_COMM_WORLD, ranks)))
		return e;
	return MPI_Comm_dup(MPI_COMM_WORLD, &beats);
}

// saga_hosts gives the host of every rank, MPI_MAX_PROCESSOR_NAME bytes each.
static int saga_hosts(char *all) {
	char mine[MPI_MAX_PROCESSOR_NAME];
	int n, e;
	memset(mine, 0, sizeof mine);
	if ((e = MPI_Get_processor_name(mine, &n)))
		return e;
	return MPI_Allgather(mine, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, MPI_COMM_WORLD);
}

static int saga_post(int recv, void *b, int n, int peer, int tag, int beat, MPI_Request *r) {
	MPI_Comm c = beat ? beats : MPI_COMM_WORLD;
	if (recv)
		return MPI_Irecv(b, n, MPI_BYTE, peer, tag, c, r);
	return MPI_Isend(b, n, MPI_BYTE, peer, tag, c, r);
}

// saga_test says whether r is over, with how many bytes, where it was a receive.
static int saga_test(MPI_Request *r, int *over, int *bytes) {
	MPI_Status s;
	int e = MPI_Test(r, over, &s);
	if (!e && *over)
		MPI_Get_count(&s, MPI_BYTE, bytes);
	return e;
}

static int saga_tag_ub(void) {
	int *most, has = 0;
	if (MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &has) || !has)
		return 32767;
	return *most;
}

static void saga_drop(MPI_Request *r) { MPI_Cancel(r); MPI_Request_free(r); }
static void saga_abort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }
static int saga_error(int e, char *text) { int n = 0; MPI_Error_string(e, text, &n); return n; }
static int saga_barrier(MPI_Request *r) { return MPI_Ibarrier(MPI_COMM_WORLD, r); }
// saga_sleep sleeps hardly longer than ns. A timer of Go can take a millisecond if no thread runs, and Linux adds 50 µs
// unless it is asked not to.
static void saga_sleep(long ns) {
	struct timespec t = {0, ns};
#ifdef __linux__
	static int precise;
	if (!precise)
		precise = 1, prctl(PR_SET_TIMERSLACK, 1000);
#endif
	nanosleep(&t, 0);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

// call turns an error code of MPI into an error; what names the call.
func call(what string, e C.int) error {
	if e == 0 {
		return nil
	}
	text := make([]byte, C.MPI_MAX_ERROR_STRING)
	n := C.saga_error(e, (*C.char)(unsafe.Pointer(&text[0])))
	return fmt.Errorf("MPI: %s: %s", what, text[:n])
}

// begin calls MPI_Init, and exchanges the names of hosts.
func (l *Link) begin() error {
	var rank, ranks C.int
	if err := call("init", C.saga_init(&rank, &ranks)); err != nil {
		return err
	}
	l.rank, l.ranks, l.tags = int(rank), int(ranks), int(C.saga_tag_ub())
	all := make([]byte, l.ranks*C.MPI_MAX_PROCESSOR_NAME)
	if err := call("names of hosts", C.saga_hosts((*C.char)(unsafe.Pointer(&all[0])))); err != nil {
		return err
	}
	for r := range l.ranks {
		name, _, _ := strings.Cut(string(all[r*C.MPI_MAX_PROCESSOR_NAME:(r+1)*C.MPI_MAX_PROCESSOR_NAME]), "\x00")
		l.hosts = append(l.hosts, name)
	}
	return nil
}

// request is a send or receive under way.
type request struct {
	b    []byte
	peer int
	tag  int
	recv bool
	beat bool
	done chan error // receives the result; nil for heartbeats
	got  int        // bytes received, when the request is over

	handle *C.MPI_Request
	pin    runtime.Pinner
}

// post starts request r.
func (r *request) post() error {
	r.handle = (*C.MPI_Request)(C.malloc(C.sizeof_MPI_Request))
	p := unsafe.Pointer(unsafe.SliceData(r.b))
	if p != nil {
		r.pin.Pin(unsafe.SliceData(r.b))
	}
	err := call(r.name(), C.saga_post(flag(r.recv), p, C.int(len(r.b)), C.int(r.peer), C.int(r.tag), flag(r.beat), r.handle))
	if err != nil {
		r.free()
	}
	return err
}

// over reports whether r has completed, and frees it if so.
func (r *request) over() (bool, error) {
	var over, bytes C.int
	e := C.saga_test(r.handle, &over, &bytes)
	if e == 0 && over == 0 {
		return false, nil
	}
	r.got = int(bytes)
	r.free()
	if err := call(r.name(), e); err != nil {
		return true, err
	}
	if r.recv && !r.beat && r.got != len(r.b) {
		return true, fmt.Errorf("rank %d has sent %d bytes, but %d were expected", r.peer, r.got, len(r.b))
	}
	return true, nil
}

func (r *request) name() string {
	if r.recv {
		return "receive"
	}
	return "send"
}

func (r *request) free() {
	C.free(unsafe.Pointer(r.handle))
	r.pin.Unpin()
}

// drop gives up r.
func (r *request) drop() {
	C.saga_drop(r.handle)
	r.free()
}

func flag(x bool) C.int {
	if x {
		return 1
	}
	return 0
}

// rest has MPI's thread sleep for d, which is less than a second.
func rest(d time.Duration) { C.saga_sleep(C.long(d)) }

// abortAll ends the processes of all ranks.
func abortAll() { C.saga_abort(1) }

// end calls MPI_Finalize.
func end() error { return call("finalize", C.MPI_Finalize()) }

// barrier starts a barrier of all ranks.
func barrier() (*request, error) {
	r := &request{handle: (*C.MPI_Request)(C.malloc(C.sizeof_MPI_Request)), beat: true}
	if err := call("barrier", C.saga_barrier(r.handle)); err != nil {
		r.free()
		return nil, err
	}
	return r, nil
}

var errClosed = errors.New("MPI: the link is closed")
