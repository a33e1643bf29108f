package dataset

import "sagann/chunk"

// Data is one graph with everything a training run needs, in memory.
type Data struct {
	Name        string
	Edges       *chunk.Edges
	Features    []float32 // V×FeatureCols row-major; nil when the data has none
	FeatureCols int
	Labels      []int32   // V: class 0..Classes-1, or -1 for unlabelled; nil when multi-label
	MultiLabels []float32 // V×Classes of 0 and 1; nil when single-label
	Classes     int
	Train       []uint32 // vertex ids of the splits, ascending, disjoint
	Val         []uint32
	Test        []uint32
	GraphOf     []uint32 // nil, or the graph each vertex belongs to (TU sets), 0-based
	GraphLabels []int32  // nil, or one class a graph, 0-based
}
