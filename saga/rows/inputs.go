package rows

import (
	"fmt"
	"math"
	"slices"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataset"
)

// Names of vertex inputs that are made of the graph and the data. The degrees and the vertices' numbers have names in
// package dataflow.
const (
	Features       = "features"
	Labels         = "labels"
	Weight         = "weight"                // [V×1]: weight in the training loss; 1/|train| without class weights
	Splits         = "splits"                // [V×3]: membership in train, validation, test
	InvDegree      = "vertex:invdegree"      // [V×1] 1/max(in-degree, 1)
	RsqrtDegree    = "vertex:rsqrtdegree"    // [V×1] in-degree^-½, 0 without in-edges
	RsqrtOutDegree = "vertex:rsqrtoutdegree" // [V×1] out-degree^-½, 0 without out-edges
	RsqrtWeight    = "vertex:rsqrtweight"    // [V×1] (sum of the weights of in-edges)^-½, 0 where the sum is 0
	GraphOf        = "graph:of"              // [V×1]: the number of the vertex's graph
	Sparse         = "features:sparse"       // see SparseRow
)

// Meaning says how labels are compared with predictions.
type Meaning struct {
	Numbers      bool            // regression: labels are the data's targets, not classes
	Rows         dataset.Numbers // labels that are rows of numbers: 0 and 1 where there can be several, or targets
	Partial      bool            // some of several labels are not known
	Graphs       bool            // labels are those of graphs
	ClassWeights []float32       // of the loss, by class; nil: all 1
	PosWeights   []float32       // [C] of labels that are 1, where a vertex can have several; nil: all 1
}

// Inputs are the vertex inputs of one data set, in the user's order.
type Inputs struct {
	Data    *dataset.Data
	Edges   *chunk.Edges // as the model sees them, with self loops if it adds them
	Meaning Meaning
	Degrees func() ([]uint32, error) // in-degrees in that graph, of the vertices that are read; nil: of Edges
	Whole   func() (*Inputs, error)  // of the graph that Edges is a part of, where degrees and sums of weights come from; nil: there is no other

	weight  []float32                // of edges, before oneLoop
	oneLoop bool                     // of several self loops of a vertex only the last keeps its weight
	byGraph map[string][]float32     // what Global returned; graphs is the same in every call
	kept    map[string][]float32     // by name: what Keep was given
	cols    map[string]int           // width of kept and of made
	made    map[string]func() Source // first rows of learned inputs; sparse features
	sums    []float64                // of shards: what Share has told: sums of the weights of in-edges
	shared  map[bool][]uint32        // of shards: likewise, out-degrees (true) and in-degrees
}

// New returns the inputs of d, whose edges the model sees as e. oneLoop has, of several self loops of a vertex, only the
// last keep its weight.
func New(d *dataset.Data, e *chunk.Edges, m Meaning, oneLoop bool) *Inputs {
	in := &Inputs{Data: d, Edges: e, Meaning: m, weight: e.Weight, oneLoop: oneLoop,
		byGraph: map[string][]float32{}, kept: map[string][]float32{}, cols: map[string]int{}, made: map[string]func() Source{}}
	if oneLoop {
		in.Edges = e.OneLoop()
	}
	return in
}

// Make defines input name, with so many columns, whose rows first gives.
func (in *Inputs) Make(name string, cols int, first func() Source) {
	in.made[name], in.cols[name] = first, cols
}

// Made tells whether Make has defined input name.
func (in *Inputs) Made(name string) bool { return in.made[name] != nil }

// Widen sets the number of columns of an input that Make has defined.
func (in *Inputs) Widen(name string, cols int) { in.cols[name] = cols }

// Keep defines input name by the rows of all vertices, V×cols. They are not copied.
func (in *Inputs) Keep(name string, x []float32, cols int) { in.kept[name], in.cols[name] = x, cols }

// Kept are the rows that Keep was given; nil: none.
func (in *Inputs) Kept(name string) []float32 { return in.kept[name] }

// AllKept lists the names that Keep was given, sorted.
func (in *Inputs) AllKept() (names []string) {
	for name := range in.kept {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Width is the number of columns of input name.
func (in *Inputs) Width(name string) int {
	switch name {
	case Features:
		return in.Data.FeatureCols
	case Labels:
		if r := in.Meaning.Rows; r.Rows != nil {
			return r.Cols
		}
	case Splits:
		return 3
	}
	if n, ok := in.cols[name]; ok {
		return n
	}
	return 1
}

// Source is where the rows of a vertex input come from. One field is set. v is a vertex in the user's order.
type Source struct {
	Rows []float32                       // all rows, V×width
	Row  func(v int, to []float32)       // writes the row of vertex v to to
	One  func(v int) float32             // the value of vertex v, for inputs of one column
	All  func(row func(v int) []float32) // calls row for every vertex, in any order, and fills what it returns
}

// Source returns where the rows of input name come from. The error names what the data lack for it, or says that rows
// have another size than V×width.
func (in *Inputs) Source(name string) (Source, error) {
	s, err := in.source(name)
	if err != nil {
		return s, err
	}
	if cols, v := in.Width(name), in.Edges.V; s.All == nil && s.Row == nil && s.One == nil && len(s.Rows) != v*cols {
		return s, fmt.Errorf("saga: input %q has %d numbers, want %d×%d", name, len(s.Rows), v, cols)
	}
	return s, nil
}

func (in *Inputs) source(name string) (Source, error) {
	d := in.Data
	switch name {
	case Features:
		if d.Features == nil && d.Late.Make != nil {
			return Source{All: d.Late.Make}, nil
		}
		return Source{Rows: d.Features}, nil
	case Labels:
		if in.Meaning.Numbers {
			return in.targets(), nil
		}
		if r := in.Meaning.Rows; r.Rows != nil {
			return Source{Rows: r.Rows}, nil
		}
		if d.Labels == nil {
			return Source{}, fmt.Errorf("saga: %s has no labels", d.Name)
		}
		return Source{One: func(v int) float32 { return float32(d.Labels[v]) }}, nil
	case Weight:
		return in.trainWeight()
	case Splits:
		return in.splits(), nil
	case GraphOf:
		return Source{One: func(v int) float32 { return float32(d.GraphOf[v]) }}, nil
	case dataflow.IDInput:
		return Source{One: func(v int) float32 { return math.Float32frombits(uint32(v)) }}, nil
	}
	if first := in.made[name]; first != nil {
		return first(), nil
	}
	if x, ok := in.kept[name]; ok {
		return Source{Rows: x}, nil
	}
	return in.degreeSource(name)
}

// Reader returns a function that writes the row of vertex v of input name to to. Rows that can only be made for all
// vertices at once are made now, and the function keeps them.
func (in *Inputs) Reader(name string) (func(v int, to []float32), error) {
	src, err := in.Source(name)
	if err != nil {
		return nil, err
	}
	cols := in.Width(name)
	switch {
	case src.One != nil:
		return func(v int, to []float32) { to[0] = src.One(v) }, nil
	case src.Row != nil:
		return src.Row, nil
	case src.All != nil:
		all := make([]float32, in.Edges.V*cols)
		src.All(func(v int) []float32 { return all[v*cols : (v+1)*cols] })
		src.Rows = all
	}
	return func(v int, to []float32) { copy(to, src.Rows[v*cols:(v+1)*cols]) }, nil
}
