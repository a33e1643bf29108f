// Package device is the machine that plans run on: memory with a budget,
// queues, events, copies and launches, each explicit and each counted.
//
// There are several devices behind one interface:
//
//	cpu    computes on the host, in an arena of its own (see [NewCPU])
//	null   counts bytes and launches, computes nothing (see [NewNull])
//	fault  wraps another device and fails its n-th call (see [NewFault])
//	cuda   a GPU; only in binaries built with the tag cuda
//
// [System] tells what can be known of GPUs before one is opened.
//
// The files: device.go and gpu.go (the interfaces), op.go and errors.go (names of calls, errors),
// open.go and system.go (names of devices, what a driver knows of them), queue.go, urgent.go, event.go, await.go,
// status.go, mem.go, space.go and scratch.go, pages*.go, host.go, pin.go, file*.go, lock_*.go, rows.go
// (what devices have in common: order, memory, pinned memory, files, locks of folders, copies of rows); cpu.go and
// cpu_tasks.go, null.go, fault.go and fault_gpu.go, cuda.go and cuda_*.go (the devices); race_*.go
// (whether the race detector is on).
//
// # Order
//
// Copies, launches, records and waits are tasks. Submitting one returns at
// once; the tasks of a queue then run one after the other in the order of
// their submission, and queues run side by side. An event orders two queues:
// Record marks a place in one, and Wait holds the other back until the place
// that was marked last, at the time of the Wait call, has been reached.
// Recording an event again (the next chunk, the next step) marks a new place
// and leaves earlier waits as they were. Waiting on an event that was never
// recorded is an error, because CUDA would silently not wait at all.
//
// A wait can only refer to a record that was submitted before it. So the
// queues of any number of devices cannot deadlock, whatever their events,
// as long as every kernel returns.
//
// # Memory
//
// A device has one contiguous arena of as many bytes as its budget, and a
// [Mem] is a range in it. Alloc never exceeds the budget: it fails with a
// [BudgetError]. Blocks start at multiples of [Align] and take a multiple of
// it. Contents of a new block are unspecified; [Poison] fills them with NaNs so
// that a test sees who read them. Free takes effect at once, not in queue
// order: the tasks that use the block must have run before.
//
// Host slices given to a copy belong to the device until the copy has run,
// that is until Sync, or until a later task of the same order is known to
// have run. Such a slice may lie in a [HostFile]: then the copy reads or writes
// the file.
//
// # Errors
//
// Wrong arguments are refused when the call is made, and have no effect. What
// goes wrong while a task runs is asynchronous: the device skips all later
// copies and launches (events still pass, so that nothing hangs), the next
// Sync or Close returns the first such error once, and from then on the device
// refuses work with [ErrFailed]. Until that Sync calls are accepted as usual,
// so where an error surfaces does not depend on timing.
//
// All methods may be called from several goroutines at the same time. An
// executor that wants a reproducible order submits from one.
package device
