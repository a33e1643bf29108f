package kernel

// The files, in reading order: program.go (what a program is), compile.go (registers
// and short cuts for the CPU), run.go (what a launch and its workers hold), rows.go
// (programs over vertex rows), edges.go (programs over the edges of a cell), acc.go
// (accumulators: start, step, finish), reduce.go (sums over all rows into a Global),
// parallel.go (workers).
