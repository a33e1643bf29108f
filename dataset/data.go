package dataset

import (
	"strconv"

	"sagann/chunk"
)

// Data is one graph with everything a training run needs, in memory.
type Data struct {
	Name        string
	Edges       *chunk.Edges
	Vertices    Naming    // how the file names vertices
	Features    []float32 // V×FeatureCols row-major; nil when the data has none
	FeatureCols int
	Late        LateFeatures // where features are from while Features is nil
	Labels      []int32      // V: class 0..Classes-1, or -1 for unlabelled; nil when multi-label
	MultiLabels []float32    // V×Classes of 0 and 1; nil when single-label
	Classes     int
	Train       []uint32 // vertex ids of the splits, ascending, disjoint
	Val         []uint32
	Test        []uint32
	GraphOf     []uint32 // nil, or the graph each vertex belongs to (TU sets), 0-based
	GraphLabels []int32  // nil, or one class a graph, 0-based; -1 for unlabelled
	GraphSplit  Split    // graph numbers
	EdgeLabels  []int32  // nil, or one class an edge in stored order, 0-based; -1 for unlabelled
	EdgeSplit   Split    // edge numbers, in stored order
	Targets     Targets  // numbers to predict, in place of classes or beside them
	Report      Report   // what loading did
	Shard       *Shard   // nil, or what this rank has of a graph in shards: Edges has none of the edges then
}

// Naming is what stands for each of V vertices in the file: a number, a text, or nothing where
// the numbers are the same.
type Naming struct {
	IDs   []uint64
	Names []string
}

// LateFeatures is where features are from that are not held as a dense matrix.
type LateFeatures struct {
	// Make makes dense features when they are laid out, so that they need not be held twice: it calls row once
	// for every vertex and fills what that returns, FeatureCols numbers, on all processors. Calls give equal
	// numbers.
	Make   func(row func(v int) []float32)
	Sparse *SparseRows // nil, or the rows that Make makes (Data.SetSparse)
}

// Split is what a run is trained, validated and tested on, by number: each list ascending,
// all of them disjoint, nil where there is none.
type Split struct{ Train, Val, Test []uint32 }

// Report says where data came from and what was done to them, for people.
type Report struct {
	Form     string   // such as "Planetoid folder"; a store keeps what it was made from
	Changes  []string // what was numbered anew, added, dropped or split at random
	Warnings []string // what nothing reads, and what looks like a mistake
	// ClassNames are the texts that stood for classes 0, 1, … in a table; nil where there were
	// none, or more than 64 KiB of them.
	ClassNames []string `json:",omitempty"`
	// Mask is which of the Masks splits of a file of several was taken, from 0; Masks is 0 of other files, and
	// where those splits were replaced.
	Mask, Masks int `json:",omitempty"`
}

// ID is how the user's file names vertex v.
func (d *Data) ID(v int) string {
	switch {
	case d.Vertices.Names != nil:
		return d.Vertices.Names[v]
	case d.Vertices.IDs != nil:
		return strconv.FormatUint(d.Vertices.IDs[v], 10)
	}
	return strconv.Itoa(v)
}

// HasIDs tells whether the user's file names vertices in another way than 0 to V-1.
func (d *Data) HasIDs() bool { return d.Vertices.Names != nil || d.Vertices.IDs != nil }

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
