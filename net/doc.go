// Package net moves bytes between the ranks of a run: processes, on one host or several, that each have some of
// the devices of one plan (dataflow/plan/order.Part). Ranks are numbered from 0; the first prints and writes.
//
//   - net.go: a Group of ranks over a Link: messages of any length, in pieces; what was sent is counted.
//   - together.go: what all ranks do at once: broadcasts, votes.
//   - ask.go: bytes that one rank asks of another at any time. watch.go: which rank gives no sign of life.
//   - local: a Link between goroutines of one process, for tests.
//   - mpi: a Link over MPI, with build tag mpi.
package net
