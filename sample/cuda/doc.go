// Package cuda draws samples on a GPU. They are equal to those that package sample draws on a CPU;
// only embeddings differ, by rounding. Package sample renders a sampler's functions as CUDA text,
// and this package adds the kernels around them.
//
//	graph.go                   a graph in GPU memory (Rows)
//	walks.go                   walks and trees with a bounded number of steps
//	rounds.go                  walks with unbounded steps, over several launches
//	stream.go stream_passes.go walks and trees while the graph's edges stay on the host
//	unique.go                  steps and samples that add no vertex twice
//	blocks.go blocks_calls.go  blocks in which each vertex draws from its own row
//	visits.go                  blocks of the vertices that walks visit most
//	levels.go levels_text.go   many batches at a time: blocks whose levels draw as a whole, and small blocks
//	rename.go                  only the renumbering of a batch, for measuring
//	twohop.go twohop_calls.go  embeddings over sampled trees
//	text*.go                   the kernels: what depends on a program or a shape, and the names of the .cu files' texts
//
// The fixed text of kernels, by what it is part of:
//
//	all        prelude.cu: types, Philox. functions.cu: what rendered functions call. scan.cu: sums over a block
//	graph      widen.cu: entries that also say where the row of the far end is
//	walks      walk.cu, and rounds.cu without a bound; tree.cu: many draws a step; unique_tree.cu, grow.cu and hold.cu: no vertex
//	           twice in a step, in a sample, and the table for both; stream.cu: edges on the host
//	blocks     blocks.cu: the words of a batch, and sums over tiles; rows.cu: draws from a row; hops.cu: draws and numbers of a hop;
//	           visits.cu: rows by visits of walks; rename.cu: numbers alone
//	levels     levels_common.cu; levels.cu, levels_draws.cu, levels_edges.cu, with levels_scan.cu or levels_parts.cu (the edges into a
//	           level) and levels_head.cu or levels_once.cu (draws step by step, or first); levels_rows.cu: rows that draw alone
//	embedding  hop_groups.cu: children, grouped by vertex; two_hop.cu: their leaves and sums; product.cu, number.cu
package cuda
