package dataset

import "sagann/chunk"

// Data is one graph with everything a training run needs, in memory.
type Data struct {
	Name        string
	Edges       *chunk.Edges
	IDs         []uint64  // V: the number that each vertex has in the file; nil where it is the same
	Features    []float32 // V×FeatureCols row-major; nil when the data has none
	FeatureCols int
	// MakeFeatures, where Features is nil, makes them when they are laid out, so that they
	// need not be held twice: it calls row once for every vertex and fills what that
	// returns, FeatureCols numbers, on all processors. Calls give equal numbers.
	MakeFeatures func(row func(v int) []float32)
	Labels       []int32   // V: class 0..Classes-1, or -1 for unlabelled; nil when multi-label
	MultiLabels  []float32 // V×Classes of 0 and 1; nil when single-label
	Classes      int
	Train        []uint32 // vertex ids of the splits, ascending, disjoint
	Val          []uint32
	Test         []uint32
	GraphOf      []uint32 // nil, or the graph each vertex belongs to (TU sets), 0-based
	GraphLabels  []int32  // nil, or one class a graph, 0-based; -1 for unlabelled
	GraphSplit   Split    // graph numbers
	EdgeLabels   []int32  // nil, or one class an edge in stored order, 0-based; -1 for unlabelled
	EdgeSplit    Split    // edge numbers, in stored order
}

// Split is what a run is trained, validated and tested on, by number: each list ascending,
// all of them disjoint, nil where there is none.
type Split struct{ Train, Val, Test []uint32 }

// GraphClasses is the number of classes of GraphLabels, 0 without.
func (d *Data) GraphClasses() int { return countClasses(d.GraphLabels) }

// EdgeClasses is the number of classes of EdgeLabels, 0 without.
func (d *Data) EdgeClasses() int { return countClasses(d.EdgeLabels) }

func countClasses(labels []int32) int {
	most := int32(-1)
	for _, c := range labels {
		most = max(most, c)
	}
	return int(most) + 1
}
