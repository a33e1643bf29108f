package dataset

import (
	"errors"
	"fmt"
	"strconv"

	"sagann/chunk"
)

// Data is one graph with everything a training run needs, in memory.
type Data struct {
	Name        string
	Edges       *chunk.Edges
	Vertices    Naming    // how the file names vertices, and of which type they are
	Features    []float32 // V×FeatureCols row-major; nil when the data has none
	FeatureCols int
	Late        LateFeatures // where features come from while Features is nil
	Labels      []int32      // V: class 0..Classes-1, or -1 for unlabelled; nil when multi-label
	MultiLabels []float32    // V×Classes of 0, 1 and Unknown; nil when single-label
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
	Schema      Schema   // names of classes, relations and columns
	Report      Report   // what loading did
	Shard       *Shard   // nil, or this rank's part of a graph in shards; Edges then has no edges
}

// Naming says how the file names each of V vertices: by a number or a text. Both are nil if the file
// uses the numbers from First on.
type Naming struct {
	IDs   []uint64
	Names []string
	First uint64    // 1 for files that count vertices from 1
	Time  []float64 // nil, or when each vertex is asked for: what it sees of the graph is not later
	Added int       // how many of them, the last, were added to the graph that a run knows (Added.To): learned rows of these are drawn
	Kinds *Kinds    // nil, or the graph of several types of which these are the vertices of one; Edges then has no edges
}

// Number is the id of vertex v if ids are numbers.
func (n *Naming) Number(v int) uint64 {
	if n.IDs != nil {
		return n.IDs[v]
	}
	return n.First + uint64(v)
}

// LateFeatures is the source of features that are not held as a dense matrix.
type LateFeatures struct {
	// Make makes dense features when they are laid out in memory, so that they need not be held twice. It
	// calls row once for every vertex v and fills the returned slice of FeatureCols numbers. It works on
	// all processors. Every call makes the same numbers.
	Make   func(row func(v int) []float32)
	Sparse *SparseRows // nil, or the sparse form of the rows that Make makes; see Data.SetSparse
}

// Split lists the numbers of the vertices, edges or graphs for training, validation and testing. Each list
// ascends, the lists are disjoint, and a missing list is nil.
type Split struct{ Train, Val, Test []uint32 }

// LinkSplit is a split of links as a file gives it. A pair is an edge of the graph or one that the graph does not list.
type LinkSplit struct {
	// Train are the edges to predict in training; without any, they are the edges that pass messages.
	Train, Val, Test Pairs
	// NotVal and NotTest are pairs without an edge. Without any, as many are drawn as Val and Test have.
	NotVal, NotTest Pairs
	// Messages are edges of the graph that pass messages in training, with their reverses, except where a reverse is a pair of Train, Val or
	// Test. Without any, all edges pass messages but those of Val and Test and their reverses.
	Messages Pairs
}

// linkParts are the lists of s by their names as arrays and by their kinds of blocks, which follow chunk.KindLinkTrain.
func (s *LinkSplit) linkParts() []linkPart {
	return []linkPart{{"link_train", "training", &s.Train}, {"link_val", "validation", &s.Val}, {"link_test", "test", &s.Test},
		{"link_val_neg", "negative validation", &s.NotVal}, {"link_test_neg", "negative test", &s.NotTest}, {"link_messages", "message", &s.Messages}}
}

type linkPart struct {
	array string // its name in a folder or an archive
	name  string // for errors
	pairs *Pairs
}

// check checks the lists of a graph of v vertices.
func (s *LinkSplit) check(v int) error {
	for _, p := range s.linkParts() {
		if err := p.pairs.Check(v); err != nil {
			return fmt.Errorf("the %s split of links: %w", p.name, err)
		}
	}
	if s.Test.Len() == 0 {
		return errors.New("the test split of links is empty")
	}
	return nil
}

// Report says where data came from and what was changed in them, as text for people.
type Report struct {
	Form     string   // the format, such as "Planetoid folder"; for a store, the format that it was made from
	Changes  []string // what was renumbered, added, dropped or split at random
	Warnings []string // files and columns that nothing reads, and likely mistakes
	// Masks is the number of splits in a file that has several, and Mask, from 0, is the one that was taken.
	// Masks is 0 for other files, and if the split was replaced.
	Mask, Masks int `json:",omitempty"`
	// Turned is, of a relation, how many edges there were before reverses were added behind them, and with these; 0 where none were, or
	// where edges were rearranged since.
	Turned [2]int `json:"-"`
}

// ID is the name of vertex v in the user's file.
func (d *Data) ID(v int) string {
	if d.Vertices.Names != nil {
		return d.Vertices.Names[v]
	}
	return strconv.FormatUint(d.Vertices.Number(v), 10)
}

// HasIDs reports whether the user's file has other names for vertices than 0 to V-1.
func (d *Data) HasIDs() bool {
	return d.Vertices.Names != nil || d.Vertices.IDs != nil || d.Vertices.First != 0
}

// GraphClasses is the number of classes of graphs, 0 without labels.
func (d *Data) GraphClasses() int {
	return max(d.Targets.GraphSets.Cols, countClasses(d.GraphLabels, d.Schema.Graph.Classes))
}

// EdgeClasses is the number of classes of edges, 0 without labels.
func (d *Data) EdgeClasses() int {
	return max(d.Targets.EdgeSets.Cols, countClasses(d.EdgeLabels, d.Schema.Edge.Classes))
}

// countClasses counts the classes of labels. The last named ones may have no members.
func countClasses(labels []int32, names []string) int {
	if labels == nil {
		return 0
	}
	most := int32(len(names)) - 1
	for _, c := range labels {
		most = max(most, c)
	}
	return int(most) + 1
}
