package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"sagann/chunk"
	"sagann/dataset/npy"
)

// openArrays reads all arrays but the edges and features, and checks the shapes of these. All readers of arrays
// call it. Of several splits it takes number which.
func openArrays(from named, meta npyMeta, which int) (*Stream, error) {
	if from.made == nil {
		from.made = map[string]*npy.Array{}
	}
	if err := from.ofGraphs(); err != nil {
		return nil, err
	}
	d := &Data{Classes: meta.Classes}
	s := &Stream{Data: d, counted: true}
	edges, err := openEnds(from)
	if err != nil {
		return nil, err
	}
	s.E = edges.count
	rows := rowCount{v: meta.Vertices}
	if err := s.openRows(from, &rows); err != nil {
		return nil, err
	}
	// The vertices are the rows of features or labels, or the given number, or else the ids that occur at edges.
	if rows.v <= 0 {
		if err := edges.number(from, &rows); err != nil {
			return nil, err
		}
	}
	if rows.from == "" {
		err = checkVertexCount(uint64(rows.v), s.E)
	} else if rows.v > math.MaxUint32 {
		err = fmt.Errorf("%s: %d rows; ids have 32 bits", rows.from, rows.v)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", edges.where, err)
	}
	d.Edges = &chunk.Edges{V: rows.v}
	if edges.ids != nil {
		d.Vertices = edges.ids.naming()
		d.change("%d {id was|ids were} numbered from 0 on, in ascending order", rows.v)
	}
	values, err := openEdgeValues(from, s, meta.Types, false)
	if err != nil {
		return nil, err
	}
	limit := bound{rows.v, rows.from}
	if edges.ids != nil {
		limit.below = math.MaxInt // ends are ids
	}
	s.EachEdges = func(fn func(*chunk.Edges) error) error { return values.each(edges, s, [2]bound{limit, limit}, fn) }
	if err := d.readIDs(from); err != nil {
		return nil, err
	}
	if err := s.readTimes(from); err != nil {
		return nil, err
	}
	if err := d.readSplits(from, VertexLabels, which); err != nil {
		return nil, err
	}
	if err := d.readGraphs(from, which); err != nil {
		return nil, err
	}
	if err := readLinks(d, from, edges.ids); err != nil {
		return nil, err
	}
	return s, d.readEdgeLabels(from, s.E, which)
}

// openRows checks the features, and reads the targets and labels, of vertices, which say how many there are.
func (s *Stream) openRows(from named, rows *rowCount) error {
	d := s.Data
	if err := s.openFeatures(from, rows); err != nil {
		return err
	}
	if err := d.readTargets(from, rows); err != nil {
		return err
	}
	if err := d.readLabels(from, rows); err != nil {
		return err
	}
	if d.Labels == nil && d.MultiLabels == nil {
		d.Classes = 0
	}
	return nil
}

// bound says of one end of edges that its ids are below a number, and where this number comes from: "" for
// meta.json and num_nodes.
type bound struct {
	below int
	from  string
}

// rowCount is the number of vertices and the file that it comes from, "" for meta.json and num_nodes.
type rowCount struct {
	v    int
	from string
}

// set records the number of rows of an array. It is an error if another number is known.
func (r *rowCount) set(n int, name, where, what string) error {
	if r.from != "" && n != r.v {
		return fmt.Errorf("%s: %d %s for %d vertices, the rows of %s", where, n, what, r.v, r.from)
	}
	if r.from == "" && r.v > 0 && n != r.v {
		return fmt.Errorf("%s: %d %s for %d vertices, the number that num_nodes or meta.json gives", where, n, what, r.v)
	}
	if r.from == "" {
		r.v, r.from = n, name
	}
	return nil
}

// optional reads an array, and returns nil if it is absent.
func optional(from arrays, name string) (*npy.Array, error) {
	a, err := readArray(from, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return a, err
}

// ends is the edges [2,E] or [E,2]; a 2×2 array is taken as [2,E].
type ends struct {
	open  func() (*npy.Reader, error)
	count int
	rows  bool     // [E,2]
	where string   // the file and byte of the first element, for errors
	ids   *idSet   // if not nil, vertices are the places of ends among these
	room  []uint32 // the places of a piece
}

func openEnds(from arrays) (*ends, error) {
	e := &ends{open: func() (*npy.Reader, error) { return from.Open("edges") }}
	r, err := e.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	e.where = r.Where(0)
	switch s := r.Shape; {
	case len(s) == 2 && s[0] == 2:
		e.count = s[1]
	case len(s) == 2 && s[1] == 2:
		e.count, e.rows = s[0], true
	default:
		return nil, fmt.Errorf("%s: shape %v of the edges: want [2 E] or [E 2]", e.where, s)
	}
	return e, nil
}

// each calls fn for pieces of the edges, whose sources and destinations must be within the bounds.
func (e *ends) each(within [2]bound, fn func(src, dst []uint32) error) error {
	const n = 1 << 14 // 64 KiB of each side: the next piece finds them in the cache
	a, err := e.open()
	if err != nil {
		return err
	}
	defer a.Close()
	a.Reuse = true
	b := a
	if !e.rows { // all sources come before all destinations
		if b, err = e.open(); err != nil {
			return err
		}
		defer b.Close()
		b.Reuse = true
		if err := b.Skip(e.count); err != nil {
			return err
		}
	}
	src, dst := make([]uint32, 0, n), make([]uint32, 0, n)
	for at := 0; at < e.count; at += n {
		k := min(n, e.count-at)
		if e.rows {
			both, err := endsBelow(a, 2*k, within)
			if err != nil {
				return err
			}
			src, dst = src[:0], dst[:0]
			for i := range k {
				src, dst = append(src, both[2*i]), append(dst, both[2*i+1])
			}
		} else {
			if src, err = endsBelow(a, k, [2]bound{within[0], within[0]}); err != nil {
				return err
			}
			if dst, err = endsBelow(b, k, [2]bound{within[1], within[1]}); err != nil {
				return err
			}
		}
		if e.ids != nil {
			if src, dst, err = e.places(src, dst); err != nil {
				return err
			}
		}
		if err := fn(src, dst); err != nil {
			return err
		}
	}
	return nil
}

// endsBelow reads the next n ends. Every other one is within the second bound.
func endsBelow(r *npy.Reader, n int, within [2]bound) ([]uint32, error) {
	a, err := r.Next(n)
	if err != nil {
		return nil, err
	}
	x, err := a.Uint32s()
	if err != nil {
		return nil, err
	}
	for i, id := range x {
		if limit := &within[i&1]; int(id) >= limit.below {
			text := fmt.Sprintf("%s: vertex %d: ids must be below %d", a.Where(i), id, limit.below)
			if limit.from != "" {
				text += ", the rows of " + limit.from
			}
			return nil, errors.New(text)
		}
	}
	return x, nil
}

// each calls fn for pieces of the edges with their values.
func (v *edgeValues) each(edges *ends, s *Stream, within [2]bound, fn func(*chunk.Edges) error) error {
	var readers [4]*npy.Reader
	for i, open := range []func() (*npy.Reader, error){v.weight, v.kind, v.data, v.time} {
		if open == nil {
			continue
		}
		r, err := open()
		if err != nil {
			return err
		}
		defer r.Close()
		readers[i] = r
	}
	e := s.Data.Edges
	return edges.each(within, func(src, dst []uint32) error {
		p := &chunk.Edges{V: e.V, Src: src, Dst: dst, Types: e.Types, DataCols: e.DataCols}
		var err error
		if p.Weight, err = nextFloats(readers[0], len(src), 1); err != nil {
			return err
		}
		if p.Data, err = nextFloats(readers[2], len(src)*e.DataCols, e.DataCols); err != nil {
			return err
		}
		if p.Time, err = nextTimes(readers[3], len(src)); err != nil {
			return err
		}
		if readers[1] != nil {
			a, err := readers[1].Next(len(src))
			if err != nil {
				return err
			}
			if p.Type, err = a.Uint32s(); err != nil {
				return err
			}
		}
		return fn(p)
	})
}

// nextFloats reads the next n values, which must be finite; nil if r is nil.
func nextFloats(r *npy.Reader, n, cols int) ([]float32, error) {
	if r == nil {
		return nil, nil
	}
	first := r.Done()
	a, err := r.Next(n)
	if err != nil {
		return nil, err
	}
	x, err := a.Float32s()
	if err != nil {
		return nil, err
	}
	if i := chunk.NotFinite(x); i >= 0 {
		return nil, fmt.Errorf("%s: row %d, column %d is %v", a.Where(i), (first+i)/max(cols, 1), (first+i)%max(cols, 1), x[i])
	}
	return x, nil
}

// rowsOf checks that an array has rows rows and returns its width; a vector has width 1.
func rowsOf(r *npy.Reader, rows int) (cols int, err error) {
	switch s := r.Shape; {
	case len(s) == 1 && s[0] == rows:
		return 1, nil
	case len(s) == 2 && s[0] == rows:
		return s[1], nil
	}
	return 0, fmt.Errorf("%s: shape %v, want %d rows", r.Where(0), r.Shape, rows)
}

// finite returns the values of a as float32 and refuses NaN and infinities.
func finite(a *npy.Array, cols int) ([]float32, error) {
	return nextFloats(npy.Pieces(a), a.Len(), cols)
}
