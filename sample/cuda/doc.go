// Package cuda draws on a GPU what package sample draws on a CPU, to the same bits: walks
// and trees (walks.go, rounds.go; stream.go where the graph's edges stay on the host, stream_passes.go), samples and steps in which no vertex comes twice
// (unique.go), blocks of single vertices' edges (blocks.go) or of the vertices that walks visit most (visits.go), and batches whose levels draw together (levels.go, levels_text.go); rename.go renumbers alone, to be measured. Embeddings over
// sampled trees are its numbers to rounding (twohop.go, twohop_calls.go). Package sample renders a sampler's functions as text; the
// kernels around it stand in text*.go. A graph lies on the GPU as Rows says (graph.go), and
// all memory is taken before anything is drawn.
package cuda
