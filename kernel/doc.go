// Package kernel defines fused programs. A fused program is straight-line code over strips of rows
// (of vertices or of edges), with several results. Package kernel/cpu runs programs on the host,
// strip by strip; package kernel/cuda renders programs as text for GPUs.
//
// A program knows nothing of nodes, graphs or devices. Its operands are numbered buffers; the
// caller decides which memory a number means.
//
// The files, calls going down the list:
//
//   - gpu.go: what the engine needs from a backend for one kind of GPU. A second kind needs a
//     package beside kernel/cuda with a Renderer, and a row in package backend. gpu_args.go: arguments
//     of GPU kernels by the names of parameters.
//   - tile.go: how many rows a launch on a GPU works on at a time, and how much memory these rows
//     take.
//   - layout.go: how a program is divided into kernels, and where registers lie between kernels.
//   - tiles.go: products by tiles; follow.go: the instructions that are computed where such a product is; widened.go: numbers of a row that several levels
//     repeat over columns.
//   - then.go: what rows of a gather become where their sums are; rows that are padded with zeros.
//   - laid.go: gathers for which rows of far ends are laid out anew.
//   - scratch_alloc.go: registers that are not in use at the same time share a place in scratch
//     memory.
//   - halves.go: rows that kernels read as bfloat16. indexed.go: rows that kernels read by the row
//     numbers of a list.
//   - chip.go: the sizes of a GPU.
//   - sparse.go: rows that hold only their non-zero entries.
//   - ordered.go: maxima as bit patterns that compare as integers.
//   - check.go: the rules that a program must keep. program.go: the types of a program.
package kernel
