package saga

import (
	"fmt"
	"math/bits"
	"slices"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga/rows"
	"sagann/sample"
)

// What rows of some vertices depend on: the in-edges within as many steps as layers gather. A step looks at the targets of all edges
// once. Sorting all edges takes as long as many such looks; after these it is done, and requests look at nothing else.

// indexAfter is how often all edges are looked at before they are sorted.
const indexAfter = 64

// reaches finds what vertices depend on.
type reaches struct {
	edges  *chunk.Edges
	steps  int
	whole  *sample.Graph // the in-edges of all vertices; nil: edges are looked at
	never  bool          // they are not sorted: memory is bounded
	looked int64         // edges that were looked at, over all requests
}

// reached is what vertices depend on.
type reached struct {
	vertices []uint32 // whose features are read, ascending
	edges    []uint32 // numbers of the edges; those into a vertex lie together and ascend
	work     int64    // edges over which messages are computed, over all steps
	most     int64    // with more work the search ended early
}

// of finds what the vertices of list, which differ, depend on. It ends early when the work is above most.
func (r *reaches) of(list []uint32, most int64) (*reached, error) {
	e := r.edges
	if err := r.sort(); err != nil {
		return nil, err
	}
	seen, x, fresh := make([]uint64, (e.V+63)/64), &reached{most: most}, list
	for _, v := range list {
		seen[v>>6] |= 1 << (v & 63)
	}
	for step := 0; step < r.steps && x.work <= most; step++ {
		first := len(x.edges)
		if err := r.into(x, fresh); err != nil {
			return nil, err
		}
		fresh = nil
		for _, k := range x.edges[first:] {
			v := e.Src[k]
			if int64(v) >= int64(e.V) {
				return nil, e.Validate()
			}
			if bit := uint64(1) << (v & 63); seen[v>>6]&bit == 0 {
				seen[v>>6] |= bit
				fresh = append(fresh, v)
			}
		}
		x.work += int64(len(x.edges))
	}
	for i, word := range seen {
		for ; word != 0; word &= word - 1 {
			x.vertices = append(x.vertices, uint32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return x, nil
}

// sort sorts all edges if they were looked at often.
func (r *reaches) sort() (err error) {
	if r.whole == nil && !r.never && r.looked >= indexAfter*int64(r.edges.E()) && r.looked > 0 {
		r.whole, err = sample.NewGraph(&chunk.Edges{V: r.edges.V, Src: r.edges.Src, Dst: r.edges.Dst})
	}
	return err
}

// into adds the edges into vertices to x.
func (r *reaches) into(x *reached, vertices []uint32) error {
	e := r.edges
	if r.whole != nil {
		for _, v := range vertices {
			first := len(x.edges)
			x.edges = append(x.edges, r.whole.Edge[r.whole.Offsets[v]:r.whole.Offsets[v+1]]...)
			slices.Sort(x.edges[first:])
		}
		return nil
	}
	if len(vertices) == 0 {
		return nil
	}
	wanted := make([]uint64, (e.V+63)/64)
	for _, v := range vertices {
		wanted[v>>6] |= 1 << (v & 63)
	}
	const piece = 1 << 18
	found, wrong := make([][]uint32, (e.E()+piece-1)/piece), make([]bool, (e.E()+piece-1)/piece)
	chunk.Each(len(found), func(i int) {
		lo := i * piece
		for k, v := range e.Dst[lo:min(lo+piece, e.E())] {
			if int(v>>6) >= len(wanted) {
				wrong[i] = true
				return
			}
			if wanted[v>>6]>>(v&63)&1 != 0 {
				found[i] = append(found[i], uint32(lo+k))
			}
		}
	})
	r.looked += int64(e.E())
	if slices.Contains(wrong, true) {
		return e.Validate()
	}
	x.edges = append(x.edges, slices.Concat(found...)...)
	return nil
}

// portion is the part of a graph that an answer depends on.
type portion struct {
	list []uint32 // the answers' vertices, ascending
	reached
	of    *dataset.Data // the whole graph
	whole *rows.Inputs  // nil: not asked for yet
}

// inDegrees gives the in-degrees in the whole graph of the vertices that are read, as m sees it.
func (x *portion) inDegrees(m *Model) func() ([]uint32, error) {
	return func() ([]uint32, error) {
		n, err := x.of.Edges.DegreesOf(x.vertices, m.SelfLoops)
		if err != nil {
			err = fmt.Errorf("%s: %w", x.of.Name, err)
		}
		return n, err
	}
}

// degrees gives the inputs of the whole graph, as m sees it, for what is not made of in-degrees. They are made once.
func (x *portion) degrees(m *Model) func() (*rows.Inputs, error) {
	return func() (*rows.Inputs, error) {
		if x.whole != nil {
			return x.whole, nil
		}
		e := x.of.Edges
		if err := e.Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", x.of.Name, err)
		}
		if m.SelfLoops {
			e = e.WithSelfLoops()
		}
		x.whole = rows.New(x.of, e, rows.Meaning{}, m.SelfLoops && m.OneLoop)
		return x.whole, nil
	}
}
