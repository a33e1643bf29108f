// Package kernel says what a fused program is: straight-line code over strips of rows (of
// vertices or of edges) with several results. Package kernel/cpu runs programs on the host,
// strip by strip; package cuda renders them as text for GPUs.
//
// A program knows nothing of nodes, graphs or devices. Its operands are numbered buffers; what
// stands behind a number is the caller's business.
//
// The files, calls going down the list:
//
//   - gpu.go: what the engine asks of a backend for one kind of GPU. A second kind is a
//     package beside cuda with a Renderer, and a row in package backend.
//   - tile.go: how many rows a launch on a GPU works on at a time, and the memory that takes.
//   - layout.go: how a program falls into kernels, and where registers lie between them.
//   - scratch_alloc.go: registers whose lives do not meet share their place in scratch memory.
//   - halves.go: rows of bfloat16 that are read as such. indexed.go: rows that are read where a list says.
//   - chip.go: the sizes of a GPU.
//   - sparse.go: rows that hold their entries only.
//   - ordered.go: maxima as bit patterns that compare as integers.
//   - check.go: the rules of a program. program.go: what it is.
package kernel
