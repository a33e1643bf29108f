// Package order emits the tasks of a plan that is laid out, as one queue would run them, and works out what
// each waits for.
//
// The files, in the order of the work; each calls those below it:
//
//   - edf.go: loads pass each other, earliest deadline first, once all tasks are there.
//   - schedule.go, dest_order.go: phase by phase, visit by visit, the tasks; accumulators that are swapped.
//   - blocks.go: tasks over sampled blocks.
//   - device_ring.go: the order in which several devices hand chunks on. It calls fetch.go.
//   - fetch.go, window.go, rows.go, slot_ring.go: how a chunk or a cell comes: it is there, from a neighbour,
//     from the host, as sorted rows; which slot it takes.
//   - uses.go: the bytes that a task reads and writes. part.go: what one rank does of a plan.
//   - deps.go: dependences from who reads and writes which bytes.
//   - turns.go: messages of ranks that can cross at the same time stand together.
package order
