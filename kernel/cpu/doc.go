// Package cpu runs fused programs on the host, strip by strip over internal/simd. The bits of
// a result depend neither on the number of processors nor on what else a program computes.
//
// The files, calls going down the list:
//
//   - compile.go: registers in a worker's memory, and sums that need no strip.
//   - run.go: a launch, by blocks of rows side by side.
//   - edges.go: a block of an edge program. rows.go: of a row program.
//   - strip.go: the instructions over one strip.
//   - accumulators.go: start, step and finish of what is gathered at own rows.
//   - reduce.go: sums over all rows into a Global.
//   - long_sums.go: sums of many terms, without losing accuracy with their number.
//   - worker.go: the memory of one goroutine. parallel.go: the goroutines.
package cpu
