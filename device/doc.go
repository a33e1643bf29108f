// Package device is the machine on which plans run. It has memory with a budget, queues, events,
// copies and launches; all of them are explicit, and all are counted.
//
// There are several devices behind one interface:
//
//	cpu    computes on the host, in an arena of its own (see [NewCPU])
//	null   counts bytes and launches, computes nothing (see [NewNull])
//	fault  wraps another device and fails its n-th call (see [NewFault])
//	cuda   a GPU; only in binaries built with the tag cuda
//
// [System] has what is known of GPUs before one is opened.
//
// The files: device.go and gpu.go (the interfaces), op.go and errors.go (names of calls, errors),
// open.go and system.go (names of devices, what a driver reports of them), queue.go, urgent.go,
// event.go, await.go, status.go, mem.go, space.go, takespace.go and scratch.go, pages*.go, host.go, available.go, pin.go,
// file*.go, lock_*.go, rows.go (code that devices share: order, memory, pinned memory, files,
// locks of folders, copies of rows); common.go (what all devices have), cpu.go and cpu_tasks.go, null.go, fault.go and fault_gpu.go,
// cuda.go and cuda_*.go (the devices; libraries of the toolkit are loaded by package cudalib when first used); race_*.go (whether the race detector is on).
//
// # Order
//
// Copies, launches, records and waits are tasks. Submitting one returns at once; the tasks of a
// queue then run one after the other in the order of their submission, and queues run side by
// side. An event orders two queues. Record marks a place in one queue. Wait takes the place that
// is marked at the time of the call, and holds the other queue back until the first queue has
// reached that place. Recording an event again (the next chunk, the next step) marks a new place
// and does not change earlier waits. Waiting on an event that was never recorded is an error,
// because CUDA would silently not wait at all.
//
// A wait can only refer to a record that was submitted before the wait. So the queues of any
// number of devices cannot deadlock, whatever their events are, as long as every kernel returns.
//
// # Memory
//
// A device has one contiguous arena of as many bytes as its budget, and a [Mem] is a range in it.
// Alloc never exceeds the budget: it fails with a [BudgetError]. A GPU takes the arena when it is opened, or with
// [AsUsed] when blocks need it. Addresses and sizes of blocks are
// multiples of [Align]. The contents of a new block are unspecified; [Poison] fills new blocks
// with NaNs, so that a test sees which code reads them. Free takes effect at once, not in queue
// order: the tasks that use the block must have run before the call.
//
// A host slice given to a copy belongs to the device until the copy has run, that is until Sync,
// or until a later task of the same order is known to have run. The slice may lie in a [HostFile]:
// then the copy reads or writes the file.
//
// # Errors
//
// A call with wrong arguments returns an error at once and has no effect. An error in a running
// task is asynchronous. The device skips all later copies and launches; events still pass, so that
// nothing hangs. The next Sync or Close returns the first of these errors once, and from then on
// the device refuses work with [ErrFailed]. Until that Sync, calls are accepted as usual, so that
// timing does not decide which call returns an error.
//
// All methods may be called from several goroutines at the same time. An executor that needs a
// reproducible order submits from one goroutine.
package device
