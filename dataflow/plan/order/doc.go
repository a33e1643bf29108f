// Package order emits the tasks of a plan whose memory is laid out, in one order in which they could run one
// after the other, and finds which tasks each must wait for.
//
// The files, in the order of the work; each calls those below it:
//
//   - part.go: the part of a plan that one rank runs.
//   - edf.go: reorders loads by deadline, once all tasks are there.
//   - schedule.go, dest_order.go: tasks phase by phase and visit by visit; the schedule that swaps accumulators.
//   - blocks.go: tasks over sampled blocks.
//   - device_ring.go: the order in which several devices pass chunks on.
//   - fetch.go: where a chunk or a cell comes from (it is there already, from a neighbour, from the host, only some rows), and where
//     a kernel finds it. slot_ring.go: which slot it takes. window.go, rows.go: windows that keep intervals; rows that cells read.
//   - copies.go: copies, and all tasks as they are appended.
//   - uses.go: the bytes that a task reads and writes.
//   - deps.go: dependences, from the bytes that tasks read and write. trail.go: what edf.go needs to know of them.
//   - turns.go: which rank has a device; groups of messages between ranks that can cross at the same time.
package order
