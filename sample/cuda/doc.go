// Package cuda draws on a GPU what package sample draws on a CPU, to the same bits: walks
// and trees (walks.go) and blocks (blocks.go). Package sample renders a sampler's functions as text; the
// kernels around it stand in text*.go. A graph lies on the GPU as Rows says (graph.go), and
// all memory is taken before anything is drawn.
package cuda
