// Package cpu runs fused programs on the CPU, strip by strip, with the vector code of internal/simd. The bits of
// a result depend neither on the number of processors nor on the other results of the program.
//
// The files; each calls those below it:
//
//   - compile.go: places registers in a worker's memory, and finds sums that need no strip.
//   - run.go: a launch, which runs blocks of rows in parallel.
//   - edges.go: a block of an edge program. rows.go: a block of a row program.
//   - strip.go: the instructions over one strip.
//   - by_type.go: products of the sums of a row's edges of one type.
//   - four.go: a sum, a sum of squares, a maximum and a minimum together.
//   - chosen.go: sums of the gradients of maxima.
//   - accumulators.go: start, step and finish of gathers at own rows.
//   - reduce.go: sums over all rows into a Global.
//   - long_sums.go: sums of many terms, with an accuracy that does not depend on their number.
//   - worker.go: the memory of one goroutine. parallel.go: the goroutines.
package cpu
