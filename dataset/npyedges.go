package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"sagann/dataset/npy"
)

// edgeValues opens the arrays with values of edges; kind is the edge type.
type edgeValues struct{ weight, kind, data func() (*npy.Reader, error) }

// openEdgeValues checks the shapes of these arrays, and finds the number of types
// if types is 0.
func openEdgeValues(from arrays, s *Stream, types int) (*edgeValues, error) {
	v, e := &edgeValues{}, s.Data.Edges
	opener := func(name, what string) (open func() (*npy.Reader, error), cols int, err error) {
		r, err := from.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, 0, nil
		}
		if err != nil {
			return nil, 0, err
		}
		defer r.Close()
		cols, err = rowsOf(r, s.E)
		if err == nil && cols != 1 && what != "" {
			err = fmt.Errorf("%s: shape %v, want one %s an edge", r.Where(0), r.Shape, what)
		}
		return func() (*npy.Reader, error) { return from.Open(name) }, cols, err
	}
	var err error
	if v.weight, _, err = opener("edge_weight", "weight"); err != nil {
		return nil, err
	}
	s.Weighted = v.weight != nil
	if v.kind, _, err = opener("edge_type", "type"); err != nil {
		return nil, err
	}
	if v.data, e.DataCols, err = opener("edge_data", ""); err != nil || v.kind == nil {
		return v, err
	}
	r, err := v.kind()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	e.Types = types
	for at := 0; at < s.E; at += pieceValues {
		a, err := r.Next(pieceValues)
		if err != nil {
			return nil, err
		}
		list, err := a.Uint32s()
		if err != nil {
			return nil, err
		}
		for i, x := range list {
			if x >= math.MaxInt32 || types > 0 && int(x) >= types {
				return nil, fmt.Errorf("%s: edge type %d of %d", a.Where(i), x, types)
			}
			e.Types = max(e.Types, int(x)+1)
		}
	}
	return v, nil
}
