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
//	text*.go                   the kernels: fixed text in .cu files, and what depends on a program or a shape
package cuda
