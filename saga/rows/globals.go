package rows

import (
	"slices"
	"strings"

	"sagann/dataset"
)

// Names of Global inputs: those with one row per graph, and those with one row per class.
const (
	GraphLabels   = graphPrefix + "labels"    // [G×1]: class, or [G×C]: several labels as 0 and 1, or regression targets
	GraphWeight   = graphPrefix + "weight"    // [G×1]: 1/|train| on training graphs, else 0
	GraphSplits   = graphPrefix + "splits"    // [G×3]: membership in train, validation, test
	GraphInvCount = graphPrefix + "invcount"  // [G×1]: 1/max(vertices, 1)
	ClassWeights  = classPrefix + "weights"   // [C×1]: weight of a training row of each class, scaled to a sum of 1 over the rows
	PosWeights    = classPrefix + "positives" // [1×C]

	graphPrefix = "graph:"
	classPrefix = "class:"
)

// OfGraphs tells whether a Global has one row per graph.
func OfGraphs(name string) bool { return strings.HasPrefix(name, graphPrefix) }

// OfClasses tells whether a Global has weights of classes.
func OfClasses(name string) bool { return strings.HasPrefix(name, classPrefix) }

// Global is the Global input name of data with so many graphs; nil: there is none of that name.
func (in *Inputs) Global(name string, graphs int) (x []float32, err error) {
	if x := in.byGraph[name]; x != nil {
		return x, nil
	}
	switch name {
	case ClassWeights:
		x, err = in.trainWeights(func(e uint32) int32 { return in.Data.EdgeLabels[e] }, in.Data.EdgeSplit.Train)
	case PosWeights:
		if x = in.Meaning.PosWeights; x == nil {
			x = slices.Repeat([]float32{1}, in.Meaning.Rows.Cols)
		}
	case GraphWeight:
		x, err = in.graphWeights(graphs)
	default:
		x = in.ofGraphs(name, graphs)
	}
	in.byGraph[name] = x
	return x, err
}

// graphWeights is the weight of each graph in the mean loss over the training split.
func (in *Inputs) graphWeights(graphs int) ([]float32, error) {
	x, rows := make([]float32, graphs), in.Data.GraphSplit.Train
	of := func(uint32) float32 { return in.Mean(rows) }
	if in.Meaning.ClassWeights != nil {
		label := func(g uint32) int32 { return in.Data.GraphLabels[g] }
		w, err := in.trainWeights(label, rows)
		if err != nil {
			return nil, err
		}
		of = func(g uint32) float32 { return w[label(g)] }
	}
	for _, g := range rows {
		x[g] = of(g)
	}
	return x, nil
}

// ofGraphs is an input with one row per graph; nil if there is none of that name.
func (in *Inputs) ofGraphs(name string, graphs int) []float32 {
	d := in.Data
	x := make([]float32, graphs)
	switch name {
	case GraphLabels:
		cols := max(1, in.Meaning.Rows.Cols)
		x = make([]float32, cols*graphs)
		for g := range graphs {
			in.GraphLabel(x[g*cols:][:cols], g)
		}
	case GraphSplits:
		x = make([]float32, 3*graphs)
		for k, split := range d.Splits(dataset.GraphLabels) {
			for _, g := range split {
				x[3*int(g)+k] = 1
			}
		}
	case GraphInvCount:
		count := make([]int, graphs)
		for _, g := range d.GraphOf {
			count[g]++
		}
		for g, n := range count {
			x[g] = 1 / float32(max(n, 1))
		}
	default:
		return nil
	}
	return x
}
