package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"sagann/dataset/npy"
)

// edgeValues opens the arrays with values of edges; kind is the edge type.
type edgeValues struct{ weight, kind, data, time func() (*npy.Reader, error) }

// openEdgeValues checks the shapes of these arrays, and finds the number of types
// if types is 0. The arrays of a relation have no rows for vertices: there, time is of edges.
func openEdgeValues(from arrays, s *Stream, types int, relation bool) (*edgeValues, error) {
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
	if relation || !timesOfVertices(from, s) {
		if v.time, _, err = opener("edge_time", "time"); err != nil {
			return nil, fmt.Errorf("%w; times of vertices are an array named vertex_time", err)
		}
		if name := theirName(from, "edge_time"); v.time != nil && !relation && !strings.HasPrefix(name, "edge") && e.V == s.E {
			return nil, fmt.Errorf("%s has a time for each of %d rows, and there are as many vertices as edges: call it edge_time or vertex_time", name, s.E)
		}
	}
	s.Timed = v.time != nil
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

// timesOf are the elements of an array as times.
func timesOf(a *npy.Array) (x []float64, err error) {
	switch y := a.Data.(type) {
	case []float64:
		x = append(x, y...)
	case []float32:
		for _, t := range y {
			x = append(x, float64(t))
		}
	default:
		whole, err := a.Int64s()
		if err != nil {
			return nil, err
		}
		for i, t := range whole {
			if t >= mostExact || t <= -mostExact {
				return nil, fmt.Errorf("%s: %w", a.Where(i), exactTime(float64(t)))
			}
			x = append(x, float64(t))
		}
	}
	for i, t := range x {
		if err := exactTime(t); err != nil {
			return nil, fmt.Errorf("%s: %w; every edge, or every vertex, has one", a.Where(i), err)
		}
	}
	return x, nil
}

// nextTimes reads the next n times; nil if r is nil.
func nextTimes(r *npy.Reader, n int) ([]float64, error) {
	if r == nil {
		return nil, nil
	}
	a, err := r.Next(n)
	if err != nil {
		return nil, err
	}
	return timesOf(a)
}

// timesOfVertices reports whether times that are called those of edges, or time alone, have a row for each vertex, and edges are more or
// fewer.
func timesOfVertices(from arrays, s *Stream) bool {
	r, err := from.Open("edge_time")
	if err != nil { // which is told where it is read
		return false
	}
	defer r.Close()
	v := s.Data.Edges.V
	return len(r.Shape) == 1 && r.Shape[0] == v && v != s.E
}

// readTimes reads vertex_time [V].
func (s *Stream) readTimes(from arrays) error {
	name, d := "vertex_time", s.Data
	if timesOfVertices(from, s) {
		name = "edge_time"
	}
	a, err := optional(from, name)
	if err != nil || a == nil {
		return err
	}
	if len(a.Shape) != 1 || a.Shape[0] != d.Edges.V {
		return fmt.Errorf("%s: shape %v of the times, want one for each of %d vertices", a.Where(0), a.Shape, d.Edges.V)
	}
	d.Vertices.Time, err = timesOf(a)
	return err
}
