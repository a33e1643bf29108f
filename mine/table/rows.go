package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"sagann/mine/pattern"
	"sagann/mine/rows"
)

// Spec is a table whose rows users see: every connected set of edges, or of vertices, of a size. All vertices
// take part, also those without a label.
type Spec struct {
	Rows     *rows.Rows  // by the user's numbers
	Kinds    *rows.Kinds // nil: edges have no labels
	Vertices bool        // rows of vertices, not of edges
	Size     int         // edges or vertices of a row
	// From is the rows that these begin with; nil: all edges, or vertices.
	From *Stored
	// Where is the conditions of rows that begin so, by size; nil: none.
	Where []*pattern.Expr
	// Keep, unless nil, reports whether rows that begin so are wanted. It is called for every beginning of a row and for whole rows, from
	// several goroutines. A panic in it is a *PanicError.
	Keep func(r *Row) bool
}

// Row is a row: vertices one after the other, or the lower and the higher end of edge after edge. It is valid until the next.
type Row struct {
	spec *Spec
	at   []uint32
	list [][]uint64 // by size: how the row can go on; nil: rows come in no order, which is faster
	over bool       // no more rows are wanted

	where []func() int64 // by size, as in the Spec
}

// newRow makes the memory for rows of s, which come in order if ordered.
func newRow(s *Spec, ordered bool) *Row {
	r := &Row{spec: s, where: make([]func() int64, s.Size+1)}
	if ordered {
		r.list = make([][]uint64, s.Size+1)
	}
	for size, e := range s.Where {
		if e != nil {
			r.where[size] = r.Func(e)
		}
	}
	return r
}

// Size is how many edges or vertices the row has so far.
func (r *Row) Size() int {
	if r.spec.Vertices {
		return len(r.at)
	}
	return len(r.at) / 2
}

// All is the vertices of the row, with both ends of each edge.
func (r *Row) All() []uint32 { return r.at }

// Vertex, Label, Degree, EdgeLabel and Adjacent are the methods of pattern.Values.
func (r *Row) Vertex(i int) int64 { return int64(r.at[i]) }

// Label is the label of place i, -1 without one.
func (r *Row) Label(i int) int64 {
	if label := r.spec.Rows.Label; label != nil {
		return int64(label[r.at[i]])
	}
	return -1
}

// Degree is the number of neighbours of place i.
func (r *Row) Degree(i int) int64 { return int64(r.spec.Rows.Degree(r.at[i])) }

// EdgeLabel is the label of the edge between two places, -1 without one.
func (r *Row) EdgeLabel(i, j int) int64 { return int64(r.spec.Kinds.Of(r.at[i], r.at[j])) }

// Adjacent reports whether the vertices at two places are neighbours.
func (r *Row) Adjacent(i, j int) bool { return r.spec.Rows.Has(r.at[i], r.at[j]) }

// Pattern is the pattern of the row, its vertices numbered as they come: edge-induced for edges, induced for vertices. Vertices without a label
// have none in the pattern.
func (r *Row) Pattern() pattern.Pattern {
	p := pattern.New(0)
	var vertex [most]uint32
	place := func(v uint32) int {
		for i := range p.Vertices() {
			if vertex[i] == v {
				return i
			}
		}
		vertex[p.Vertices()] = v
		label := int32(pattern.AnyLabel)
		if r.spec.Rows.Label != nil {
			label = max(r.spec.Rows.Label[v], pattern.AnyLabel)
		}
		p = p.Add(label)
		return p.Vertices() - 1
	}
	if !r.spec.Vertices {
		for i := 0; i < len(r.at); i += 2 {
			a, b := place(r.at[i]), place(r.at[i+1])
			p = p.WithEdgeLabel(a, b, r.spec.Kinds.Of(r.at[i], r.at[i+1]))
		}
		return p
	}
	for j, v := range r.at {
		place(v)
		for i, u := range r.at[:j] {
			if r.spec.Rows.Has(u, v) {
				p = p.WithEdgeLabel(i, j, r.spec.Kinds.Of(u, v))
			}
		}
	}
	return p
}

// Each calls emit with the rows, ascending, until it returns false.
func (s *Spec) Each(ctx context.Context, emit func(r *Row) bool) (err error) {
	keep, guarded := s.Keep, *s
	guarded.Keep = func(r *Row) (yes bool) { // emit is the user's loop: its panics are the user's
		defer func() {
			if v := recover(); v != nil {
				err = &PanicError{v}
			}
		}()
		return err == nil && (keep == nil || keep(r))
	}
	s = &guarded
	r := newRow(s, true)
	if s.From != nil {
		err = errors.Join(s.From.Each(func(row []uint32) bool {
			r.at = append(r.at[:0], row...)
			return r.extend(emit) && err == nil && ctx.Err() == nil
		}), err)
		return cmp.Or(err, ctx.Err())
	}
	for u := range uint32(s.Rows.V()) {
		if ctx.Err() != nil || err != nil || !r.from(u, emit) {
			break
		}
	}
	if err != nil {
		return err
	}
	return ctx.Err()
}

// PanicError says that a function of the user panicked.
type PanicError struct{ Value any }

// Error names the value of the panic.
func (e *PanicError) Error() string {
	return fmt.Sprintf("a function given to a table panicked: %v", e.Value)
}

// Share deals the first vertices of rows out to workers. start gives each worker the function that is called with its rows.
func (s *Spec) Share(ctx context.Context, workers int, start func() func(r *Row)) error {
	var next atomic.Int64 // vertex, or part of the stored rows
	var wg sync.WaitGroup
	var panicked atomic.Pointer[PanicError]
	errs := make([]error, workers)
	for i := range workers {
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					panicked.Store(&PanicError{v})
				}
			}()
			work := start()
			r := newRow(s, false)
			if s.From != nil {
				errs[i] = s.From.share(&next, func(row []uint32) bool {
					r.at = append(r.at[:0], row...)
					r.extend(func(r *Row) bool { work(r); return ctx.Err() == nil })
					return ctx.Err() == nil && panicked.Load() == nil
				})
				return
			}
			for u := next.Add(1) - 1; u < int64(s.Rows.V()) && ctx.Err() == nil && panicked.Load() == nil; u = next.Add(1) - 1 {
				r.from(uint32(u), func(r *Row) bool { work(r); return ctx.Err() == nil })
			}
		})
	}
	wg.Wait()
	if p := panicked.Load(); p != nil {
		return p
	}
	return cmp.Or(append(errs, ctx.Err())...) // one of them: workers that read the same stored rows fail alike
}

// from makes the rows whose first vertex is u, or whose first edge has the lower end u.
func (r *Row) from(u uint32, emit func(r *Row) bool) bool {
	if r.spec.Vertices {
		r.at = append(r.at[:0], u)
		return r.extend(emit)
	}
	for _, v := range r.spec.Rows.Above(u) {
		r.at = append(r.at[:0], u, v)
		if !r.extend(emit) {
			return false
		}
	}
	return true
}

// extend makes the rows that begin with the row.
func (r *Row) extend(emit func(r *Row) bool) bool {
	n := r.Size()
	switch {
	case r.where[n] != nil && r.where[n]() == 0:
		return true
	case r.spec.Keep != nil && !r.spec.Keep(r):
		return true
	case n == r.spec.Size:
		return emit(r)
	}
	length := len(r.at)
	follow := func(e uint64) {
		if r.over {
			return
		}
		if r.spec.Vertices {
			r.at = append(r.at[:length], uint32(e))
		} else {
			r.at = append(r.at[:length], uint32(e>>32), uint32(e))
		}
		r.over = !r.extend(emit)
		r.at = r.at[:length]
	}
	more := r.moreEdges
	if r.spec.Vertices {
		more = r.moreVertices
	}
	if r.list == nil {
		more(follow)
		return !r.over
	}
	next := r.list[n][:0]
	more(func(e uint64) { next = append(next, e) })
	slices.Sort(next)
	r.list[n] = next
	for _, e := range next {
		if follow(e); r.over {
			return false
		}
	}
	return true
}

// moreVertices calls yield with the vertices that can follow: larger than the first, and than all that come after the
// first vertex to which they are adjacent.
func (r *Row) moreVertices(yield func(e uint64)) {
	for i, x := range r.at {
		bound := r.at[0]
		for _, v := range r.at[i+1:] {
			bound = max(bound, v)
		}
		row := r.spec.Rows.Of(x)
		from, _ := slices.BinarySearch(row, bound+1)
	candidates:
		for _, y := range row[from:] {
			for _, w := range r.at[:i] {
				if w == y || r.spec.Rows.Has(w, y) {
					continue candidates
				}
			}
			yield(uint64(y))
		}
	}
}

// moreEdges calls yield with the edges that can follow: larger than the first, and than all that come after the first edge
// that they touch.
func (r *Row) moreEdges(yield func(e uint64)) {
	for at, x := range r.at {
		if slices.Contains(r.at[:at], x) {
			continue
		}
		bound := edgeOf(r.at[0], r.at[1])
		for i := at/2 + 1; i < len(r.at)/2; i++ {
			bound = max(bound, edgeOf(r.at[2*i], r.at[2*i+1]))
		}
		row := r.spec.Rows.Of(x)
		for k := len(row) - 1; k >= 0 && edgeOf(x, row[k]) > bound; k-- {
			// The edge touches its first edge at x: its other end is new, or comes with a later edge.
			if first := slices.Index(r.at, row[k]); first < 0 || first/2 > at/2 && !r.has(x, row[k]) {
				yield(edgeOf(x, row[k]))
			}
		}
	}
}

// has reports whether the row has the edge.
func (r *Row) has(x, y uint32) bool {
	for i := 0; i < len(r.at); i += 2 {
		if edgeOf(r.at[i], r.at[i+1]) == edgeOf(x, y) {
			return true
		}
	}
	return false
}
