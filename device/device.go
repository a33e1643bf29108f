package device

import "fmt"

// A Device owns an arena of memory and runs tasks on queues. The package
// comment states the rules of order, memory and errors that all devices keep.
type Device interface {
	// Info describes the device; it does not change.
	Info() Info

	// Alloc returns a block of the arena, bytes long and aligned to Align,
	// contents unspecified. Its error is a *BudgetError when the block does not
	// fit. A block of no bytes costs nothing.
	Alloc(bytes int64) (Mem, error)
	// Free gives back a block that Alloc returned. It is an error to free a
	// slice of a block, a block twice, or another device's block.
	Free(m Mem) error

	// HostAlloc returns host memory that copies reach at full speed (pinned on
	// CUDA), bytes long and aligned to Align, contents unspecified. It is
	// counted apart from the arena and has its own budget (see HostBudget).
	HostAlloc(bytes int64) (HostMem, error)
	// HostFree gives back what HostAlloc returned.
	HostFree(h HostMem) error

	// NewQueue returns a queue that lives until Close. The name appears in
	// errors and traces.
	NewQueue(name string) (Queue, error)
	// NewEvent returns an event that was never recorded.
	NewEvent() (Event, error)

	// CopyH2D copies src to dst, from byte dstOff of dst on.
	CopyH2D(q Queue, dst Mem, dstOff int64, src []byte) error
	// CopyRows copies some rows of src, rowBytes each, to their places in dst: row
	// r of src goes to byte dstOff + r×rowBytes. rows ascends. rows and src must stay unchanged
	// until the copy has run. Counters count it as a copy H2D of len(rows) rows.
	CopyRows(q Queue, dst Mem, dstOff int64, src []byte, rowBytes int64, rows []uint32) error
	// CopyD2H fills dst from src, from byte srcOff of src on.
	CopyD2H(q Queue, dst []byte, src Mem, srcOff int64) error
	// CopyD2D copies bytes from src, a block of the device from, to dst, a
	// block of this one; from may be this device. The queue is this device's.
	// The two ranges must not overlap.
	CopyD2D(q Queue, dst Mem, dstOff int64, from Device, src Mem, srcOff, bytes int64) error
	// Launch runs a kernel of a type that the device knows.
	Launch(q Queue, k Kernel) error

	// Record marks the present end of q as the event's latest place. Event and
	// queue are this device's.
	Record(q Queue, e Event) error
	// Wait holds q back until the place that e's latest Record marked has been
	// reached. The event may be another device's of the same kind. The error
	// is ErrNotRecorded when there was no Record.
	Wait(q Queue, e Event) error
	// Sync returns when every task submitted before the call has run, with the
	// first asynchronous error if there was one.
	Sync() error

	// Counters returns the counts so far.
	Counters() Counters
	// SetTrace has f called with the span of every copy and launch that starts
	// after the call, by the time Sync returns; nil turns tracing off. Queues
	// call f at the same time, so it must be safe for that, and it must not
	// call the device.
	SetTrace(f func(Span))

	// Close runs what was submitted, frees everything and stops the queues. It
	// returns an asynchronous error that no Sync has reported and a *LeakError
	// when blocks were still held, joined. A second Close does nothing.
	Close() error
}

// Info describes a device.
type Info struct {
	Kind   string // "cpu", "null" or "cuda"
	Index  int    // number among the devices of its kind
	Name   string // name of the hardware, for people
	Budget int64  // bytes that Alloc may hand out at a time

	Processors int   // multiprocessors of a GPU
	Cache      int64 // bytes of a GPU's second-level cache
	Shared     int   // bytes of shared memory that a block of a GPU's threads may ask for
	Arch       int   // compute capability of a GPU, 90 for 9.0
}

// String returns kind and index, such as "cpu:0".
func (i Info) String() string { return fmt.Sprintf("%s:%d", i.Kind, i.Index) }

// A Queue runs tasks in the order of their submission.
type Queue interface {
	// Name is the name given to NewQueue.
	Name() string
	// SetTag labels the tasks submitted to the queue from now on. Spans and
	// errors carry the tag; a plan uses the number of the task.
	SetTag(tag int64)
	// Tag is the tag set last.
	Tag() int64
}

// An Event is a mark that one queue leaves and others wait for.
type Event interface {
	// Recorded is how often Record was called with the event.
	Recorded() uint64
}

// A Kernel is work for a device. Each kind of device runs kernels of its own
// types. The CPU device runs every HostKernel.
type Kernel interface {
	// Name appears in errors.
	Name() string
}

// A HostKernel is a kernel that runs on the CPU device.
type HostKernel interface {
	Kernel
	// Run computes on the device's whole arena, whose blocks are found by
	// Mem.In. It is called on the queue's goroutine, may start its own and must
	// have stopped them when it returns. The arena must not be kept.
	Run(arena []byte) error
}

// HostFunc returns a HostKernel that calls run.
func HostFunc(name string, run func(arena []byte) error) HostKernel {
	return &hostFunc{name, run}
}

type hostFunc struct {
	name string
	run  func(arena []byte) error
}

func (f *hostFunc) Name() string           { return f.name }
func (f *hostFunc) Run(arena []byte) error { return f.run(arena) }

// Counters are counts since the device was opened. A task counts when it is
// accepted, so the numbers are exact for what was submitted, at any time.
type Counters struct {
	H2D, D2H, D2D    int64 // bytes copied; D2D counts on the device whose queue copied
	Copies, Launches int64 // tasks
	Used, Peak       int64 // arena bytes held now and at most, in multiples of Align
	HostUsed         int64 // host bytes held now
	HostPeak         int64 // host bytes held at most
}
