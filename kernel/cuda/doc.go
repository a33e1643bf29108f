// Package cuda renders fused programs as CUDA C++ and lists the kernel launches and cuBLAS products of a run. When the
// text changes, every user compiles the kernels again, and they may become slower. TestText pins the text.
//
// Element-wise and row-wise instructions are fused into kernels in which a group of lanes computes a row. Matrix
// products run between these kernels; where only columns of their own follow a wide one, in one kernel with it. An edge program without products is a single gather kernel.
//
// A register of a program is a row of numbers: one, one per head, or one per column. The far end of an edge is the end
// whose row a gather reads; the own row is the row that it adds to.
//
// The files; callers come before what they call:
//
//   - backend.go: the interface to the engine (kernel.Renderer). moved.go: what predictions count.
//   - Kernels. program.go: which kernels a program becomes. products.go: wide products, with the instructions that
//     follow them. row_kernels.go: kernels over rows, or over a tile of edges. gather.go: kernels over the edges of a cell, with a warp per row; short_rows.go: with a group of lanes per
//     row, for rows of few edges; long_rows.go: with a block per row, for rows of very many edges; rounds.go: the edges
//     of a row in rounds, so that float32 sums stay exact enough. pairs.go: over rows laid out anew, two side by side;
//     won.go: the gradient of a maximum, over lists of terms. edge.go: the code for one edge; then.go: for a row, when its sums are there.
//   - Instructions. instr.go: code from an op's CUDA expression, or by its role; concat.go: columns side by side;
//     predicated_load.go: rows that are read only if a mask is not zero; heads.go: registers with one number per head;
//     accumulators.go: begin, step, merge and end of a reduction.
//   - Launches. launch.go: which kernels run, over which tiles; scratch.go: device memory beside the operands;
//     laid.go: when rows are laid out anew; gather_select.go: which of the gather kernels; group_sums.go, product_sums.go, thin_sums.go, column_sums.go and reduce_by_key.go: sums over rows;
//     halves.go, groups.go: products by groups of warps; sparse.go: sparse rows; steps.go: one launch; work.go: its bytes and operations.
//   - Lines of code. header.go: names, parameters, blocks; loads.go: how registers are read and written; emit.go: how
//     columns are spread over lanes; packed_ids.go: packed IDs of far ends; index.go: rows found through a list of IDs.
//   - Source that is the same for all programs, most of it in .cu files: prelude.go, optimizer.go, join.go, sparse_text.go;
//     block_cells.go (parts of sampled blocks), far_rows.go (rows from host memory).
package cuda
