package dataset

import (
	"errors"
	"fmt"

	"sagann/chunk"
)

// Conversion says which graph is written as a store, and how.
type Conversion struct {
	From   string  // path, as for Load
	Tables *Tables // instead of From
	Options
	Out  string
	Base int    // intervals of the base grid; 0: chosen by the number of edges
	Seed uint64 // seed of the random split that labelled data get if they have no split

	// Progress, unless nil, is called with what is being read, how much of it is done, and how much
	// there is.
	Progress func(what string, done, of int)
}

// edgesPerCell is how many edges a cell has on average if BaseFor chooses the grid.
const edgesPerCell = 1 << 16

// BaseFor is the number of base intervals of a store of so many edges.
func BaseFor(edges int) int {
	base := 1
	for base < chunk.MaxBase && base*base*edgesPerCell < edges {
		base *= 2
	}
	return base
}

// Convert writes a graph as a store. For arrays, tables, edge lists and OGB folders it holds in memory
// one piece of the edges and features, a few bytes for each vertex and, if ids are renumbered, the
// ids. For other formats, and with Undirected or Simple, it holds all edges. It
// returns the data without edges and features, whose Report says what was changed, and
// the number of edges. Errors name the file and place; after an error there is no file at Out.
func Convert(c Conversion) (d *Data, edges int, err error) {
	s, err := c.open()
	if err != nil {
		return nil, 0, err
	}
	if err := DefaultSplit(s.Data, VertexLabels, c.Seed); err != nil {
		return nil, 0, err
	}
	base := c.Base
	if base == 0 {
		base = BaseFor(s.E)
	}
	progress := c.Progress
	if progress == nil {
		progress = func(string, int, int) {}
	}
	return s.Data, s.E, s.write(c.Out, base, progress)
}

func (c Conversion) open() (*Stream, error) {
	from := c.From
	var s *Stream
	var err error
	switch {
	case c.Tables != nil:
		from = c.Tables.Edges
		s, err = c.Tables.open(c.Options)
	case !c.Undirected && !c.Simple && isEdgeList(from):
		err = c.idleMask(from, 0)
		if err == nil {
			s, err = openEdgeList(from, c.Relabel)
		}
	default:
		s, err = open(from, c.Options)
	}
	if err != nil {
		return nil, err
	}
	if c.Undirected || c.Simple {
		d, err := s.collect(Options{SparseFrom: 2})
		if err != nil {
			return nil, err
		}
		return held(finish(d, from, c.Options))
	}
	// Edges and features are checked while they are read; the rest is checked here.
	rest := *s.Data
	rest.Edges, rest.FeatureCols, rest.EdgeLabels, rest.EdgeSplit, rest.Targets.Edge, rest.Targets.EdgeSets = &chunk.Edges{V: rest.Edges.V}, 0, nil, Split{}, Numbers{}, Numbers{}
	rest.Schema = Schema{}
	if err := problem(&rest); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	if err := s.Data.checkOfEdges(s.E); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	s.watchScale()
	s.watchWeights()
	return s, nil
}

// watchScale checks the scale of features while they are read (see warnScale).
func (s *Stream) watchScale() {
	each := s.EachRows
	if each == nil {
		return
	}
	s.EachRows = func(fn func([]float32) error) error {
		row, found := 0, false
		return each(func(rows []float32) error {
			if !found {
				found = s.Data.warnScale(rows, row)
			}
			row += len(rows) / s.Data.FeatureCols
			return fn(rows)
		})
	}
}

// errChanged is the error when reading a file for the second time gives other data.
var errChanged = errors.New("the file was changed while it was read")

// Shares of the default split, of all vertices, edges or graphs that have a label.
const (
	DefaultTrain = 0.6
	DefaultVal   = 0.2
)

// fewest is how many must have labels for DefaultSplit: 20 % of 5 are one.
const fewest = 5

// countLabelled is how many vertices, edges or graphs have a label of kind k.
func countLabelled(d *Data, k LabelKind) int {
	labels, n := d.labelsOf(k)
	if labels == nil {
		return n
	}
	n = 0
	for _, c := range labels {
		if c >= 0 {
			n++
		}
	}
	return n
}

// DefaultSplit makes a random split with the default shares, and reports it, if d has labels and no
// split at all. It does nothing if there are too few labels.
func DefaultSplit(d *Data, k LabelKind, seed uint64) error {
	for _, ids := range d.Splits(k) {
		if ids != nil {
			return nil
		}
	}
	n := countLabelled(d, k)
	if !d.Labelled(k) || n < fewest {
		return nil
	}
	if err := RandomSplitOf(d, k, DefaultTrain, DefaultVal, seed); err != nil {
		return err
	}
	d.Report.Changes = append(d.Report.Changes, fmt.Sprintf(noSplit+": of %d"+ofLabelled(k)+"60 %% are for training, 20 %% for validation and 20 %% for testing, at random by seed %d", n, seed))
	return nil
}
