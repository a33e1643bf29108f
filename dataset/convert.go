package dataset

import (
	"errors"
	"fmt"

	"sagann/chunk"
)

// Conversion says what is written as a store, and how.
type Conversion struct {
	From   string  // path, as for Load
	Tables *Tables // instead of From
	Options
	Out  string
	Base int    // intervals of the base grid; 0 chooses by the number of edges
	Seed uint64 // of the split that labelled vertices without one get

	// Progress is told what is read, how much of it was done, and how much there is;
	// nil for none.
	Progress func(what string, done, of int)
}

// edgesPerCell is how many edges a cell of an automatic base grid holds.
const edgesPerCell = 1 << 16

// BaseFor is the number of base intervals of a store of so many edges.
func BaseFor(edges int) int {
	base := 1
	for base < chunk.MaxBase && base*base*edgesPerCell < edges {
		base *= 2
	}
	return base
}

// Convert writes a graph as a store. Of arrays, tables, edge lists and OGB folders it holds a piece
// of the edges and features at a time, beside a few bytes a vertex and, where ids are
// numbered, the ids; of other forms, and with Undirected or Simple, all edges. It
// returns the data without edges and features, whose Report says what was changed, and
// the number of edges. Errors name the file and place, and leave nothing at Out.
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
		s, err = openEdgeList(from, c.Relabel)
	default:
		s, err = open(from, c.Options)
	}
	if err != nil {
		return nil, err
	}
	if c.Undirected || c.Simple {
		d, err := s.collect(Options{})
		if err != nil {
			return nil, err
		}
		return held(finish(d, from, c.Options))
	}
	// What edges and features must pass is checked as they come.
	rest := *s.Data
	rest.Edges, rest.FeatureCols, rest.EdgeLabels, rest.EdgeSplit, rest.Targets.Edge = &chunk.Edges{V: rest.Edges.V}, 0, nil, Split{}, Numbers{}
	if err := problem(&rest); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	if err := s.Data.checkOfEdges(s.E); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	s.watchScale()
	return s, nil
}

// watchScale has the features looked at as they are read.
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

// errChanged ends a second reading that finds other things than the first.
var errChanged = errors.New("the file was changed while it was read")

// Shares of a split that nobody asked for: of vertices, edges or graphs with a label.
const (
	DefaultTrain = 0.6
	DefaultVal   = 0.2
)

// DefaultSplit splits labelled data that has no split at all at random, by the default
// shares, and reports it. It leaves other data alone, and too few labels.
func DefaultSplit(d *Data, k LabelKind, seed uint64) error {
	for _, ids := range d.Splits(k) {
		if ids != nil {
			return nil
		}
	}
	labels, n := d.labelsOf(k)
	if labels != nil {
		n = 0
		for _, c := range labels {
			if c >= 0 {
				n++
			}
		}
	}
	if !d.Labelled(k) || n < 5 { // of which 20 % are one
		return nil
	}
	if err := RandomSplitOf(d, k, DefaultTrain, DefaultVal, seed); err != nil {
		return err
	}
	d.Report.Changes = append(d.Report.Changes, fmt.Sprintf(noSplit+": of %d labelled %s 60 %% are for training, 20 %% for validation and 20 %% for testing, at random by seed %d", n, plural[k], seed))
	return nil
}
