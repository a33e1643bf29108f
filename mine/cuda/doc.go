// Package cuda counts cliques on a GPU. Kernels are text (text.go), translated when they
// are first used; the graph is oriented by degree and reached through a table of 64-bit
// row addresses (graph.go), so that rows may lie anywhere the GPU can read; count.go runs
// the kernels and adds up their sums.
package cuda
