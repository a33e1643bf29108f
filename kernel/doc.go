// Package kernel holds fused programs: straight-line code over strips of rows
// (of vertices or of edges) with several results. The CPU runs a program strip by
// strip over internal/simd; for a GPU the same program is rendered as CUDA text.
//
// A program knows nothing of nodes, graphs or devices. Its operands are numbered
// buffers; what stands behind a number is the caller's business.
//
// The files, in reading order:
//
//   - program.go (what a program is).
//   - On the CPU: compile.go (registers and short cuts), run.go (what a launch and its workers
//     hold), rows.go (programs over vertex rows), edges.go (over the edges of a cell), strip.go
//     (one strip), acc.go and ordered.go (accumulators: start, step, finish), reduce.go (sums over
//     all rows into a Global), parallel.go (workers).
//   - On a GPU: cuda.go (which kernels a program becomes, and where registers lie), cuda_steps.go
//     (the commands of a launch), cuda_count.go (their bytes and operations), cuda_room.go (scratch
//     memory between kernels); text: cuda_emit.go, cuda_instr.go, cuda_join.go and cuda_prelude.go;
//     rows: cuda_rows.go, cuda_columns.go and cuda_by.go (sums over rows); edges: cuda_gather.go
//     (a warp a row), cuda_few.go (few edges a row), cuda_hub.go (very many), cuda_way.go (which of
//     them), cuda_acc.go, cuda_heads.go, cuda_lazy.go, cuda_half.go (bfloat16 rows) and cuda_far.go
//     (packed far ends).
package kernel
