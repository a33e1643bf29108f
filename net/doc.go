// Package net moves bytes between the ranks of a run. A rank is a process, on one host or several, that has some
// of the devices of one plan (dataflow/plan/order.Part). Ranks are numbered from 0. Only rank 0 prints and
// writes files.
//
//   - net.go: a Group of ranks over a Link. It sends messages of any length, in pieces, and counts the bytes.
//   - together.go: collective operations: broadcasts, votes.
//   - status.go: what a rank is at, as it tells the others. stuck.go: finds ranks that wait for each other.
//   - ask.go: one rank asks another for bytes at any time. watch.go: finds ranks without a sign of life.
//   - local: a Link between goroutines of one process, for tests.
//   - mpi: a Link over MPI, with build tag mpi.
package net
