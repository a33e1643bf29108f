// Package cuda renders fused programs as CUDA C++ and lists the commands of their launches. A
// change of the text costs every user a compilation and may cost time: TestText holds it.
//
// Element-wise and row-wise instructions are fused into kernels that give a group of lanes a
// row; products stand between them. An edge program without products is one gather kernel.
//
// The files, calls going down the list:
//
//   - backend.go: what the engine asks for. scratch.go: memory beside the operands.
//   - Text. program.go: which kernels a program becomes. row_kernels.go: those over rows, or over
//     a tile of edges. gather.go: those over the edges of a cell, a warp a row; short_rows.go: a group
//     of lanes a row of few edges; long_rows.go: a block a row of very many; rounds.go: rows of
//     many edges in rounds. edge.go: what is done for an edge.
//   - Instructions. instr.go: by the op's expression, or by role; concat.go; predicated_load.go:
//     rows that are read only where a mask needs them; heads.go: registers of a number a head;
//     accumulators.go: begin, step, merge, end.
//   - Lines. header.go: names, parameters, blocks; loads.go: how registers are read and written;
//     emit.go: lanes and columns; packed_ids.go: far ends in as few bits as an interval needs;
//     index.go: rows that are read where a list says.
//   - Source that is the same for all programs: prelude.go, optimizer.go, join.go, sparse_text.go;
//     block_cells.go (parts of sampled blocks), far_rows.go (rows from host memory).
//   - Launches. launch.go: which kernels, over which tiles; gather_select.go: which of the gather
//     kernels; column_sums.go, product_sums.go and reduce_by_key.go: sums over rows; sparse.go: sparse rows; steps.go: one
//     step; work.go: its bytes and operations.
package cuda
