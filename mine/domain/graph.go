package domain

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"sagann/mine/lattice"
	"sagann/mine/pattern"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// Graph is the part of a graph that frequent patterns can use, by labels: labels of at least as many vertices as
// the least support, and edges whose pattern is frequent.
type Graph struct {
	Labels []Label // ascending
	Edges  []Frequent
	rows   *rows.Rows
	arcs   map[arcKey]*arc
	list   []*arc // in the order of their keys
	bytes  int64
}

// Bytes is the memory of the graph by labels.
func (g *Graph) Bytes() int64 { return g.bytes }

// WorkerBytes is the memory that a worker of Mine takes.
func (g *Graph) WorkerBytes() int64 {
	n := int64(0)
	for _, l := range g.Labels {
		n = max(n, int64(len(l.Vertices)))
	}
	return 3 * most * 8 * ((n + 63) / 64)
}

// Label is the vertices of one label, by descending degree. Their places in the list are their
// numbers in domains.
type Label struct {
	Value    int32 // pattern.AnyLabel if the graph has no labels
	Vertices []uint32
}

// Frequent is a frequent pattern of one edge.
type Frequent struct {
	lattice.Edge
	Support int64
}

// place is where a vertex is: the index of its label, or -1, and its number within the label.
type place struct {
	label int32
	at    uint32
}

// New makes the graph by labels, for patterns of at least the least support, which is positive. kinds are the
// labels of edges, by entry of r.Col; nil: none. r has the vertices by the user's numbers. If the graph and a worker
// take more than room bytes, the error is a *run.RoomError; room 0: no bound.
func New(ctx context.Context, r *rows.Rows, kinds []int32, least int64, workers int, room int64) (*Graph, error) {
	g := &Graph{rows: r, arcs: map[arcKey]*arc{}}
	places := g.label(least)
	byLabel := make([][]*arc, len(g.Labels))
	// First which arcs there are and how large, then those of frequent edges with their neighbours.
	each(ctx, len(g.Labels), workers, func(i int) {
		byLabel[i] = count(r, kinds, places, &g.Labels[i], int32(i), len(g.Labels), least)
	})
	for _, arcs := range byLabel {
		for _, a := range arcs {
			g.arcs[a.key] = a
		}
	}
	for _, arcs := range byLabel {
		for _, a := range arcs {
			if back := g.arcs[a.key.back()]; back == nil {
				delete(g.arcs, a.key)
			}
		}
	}
	g.bytes = 16 * int64(r.V()) // places, and the vertices of labels
	for _, a := range g.arcs {
		g.bytes += a.bytes(len(g.Labels[a.key.from].Vertices))
	}
	if need := g.bytes + g.WorkerBytes(); room > 0 && need > room {
		return nil, &run.RoomError{Need: need}
	}
	each(ctx, len(g.Labels), workers, func(i int) {
		arcs := slices.DeleteFunc(byLabel[i], func(a *arc) bool { return g.arcs[a.key] == nil })
		byLabel[i] = arcs
		fill(r, kinds, places, &g.Labels[i], len(g.Labels), arcs)
	})
	for _, arcs := range byLabel {
		for _, a := range arcs {
			a.number = int32(len(g.list))
			g.list = append(g.list, a)
		}
	}
	for key, a := range g.arcs {
		if key.from <= key.to {
			n := min(a.members, g.arcs[key.back()].members)
			e := lattice.Edge{A: g.Labels[key.from].Value, B: g.Labels[key.to].Value, Kind: key.kind}
			g.Edges = append(g.Edges, Frequent{e, int64(n)})
		}
	}
	slices.SortFunc(g.Edges, func(a, b Frequent) int {
		return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B), cmp.Compare(a.Kind, b.Kind))
	})
	return g, ctx.Err()
}

// label sorts the vertices into labels and returns where each is.
func (g *Graph) label(least int64) []place {
	r := g.rows
	count := map[int32]int64{}
	for v := range r.V() {
		count[labelOf(r, v)]++
	}
	for value, n := range count {
		if n >= least && (value >= 0 || r.Label == nil) {
			g.Labels = append(g.Labels, Label{Value: value, Vertices: make([]uint32, 0, n)})
		}
	}
	slices.SortFunc(g.Labels, func(a, b Label) int { return cmp.Compare(a.Value, b.Value) })
	index := map[int32]int32{}
	for i, l := range g.Labels {
		index[l.Value] = int32(i)
	}
	places := make([]place, r.V())
	for _, v := range byDegree(r) {
		i, ok := index[labelOf(r, int(v))]
		if !ok {
			places[v].label = -1
			continue
		}
		l := &g.Labels[i]
		places[v] = place{i, uint32(len(l.Vertices))}
		l.Vertices = append(l.Vertices, v)
	}
	return places
}

func labelOf(r *rows.Rows, v int) int32 {
	if r.Label == nil {
		return pattern.AnyLabel
	}
	return r.Label[v]
}

// byDegree lists the vertices by descending degree, equal ones as they are numbered.
func byDegree(r *rows.Rows) []uint32 {
	start := make([]uint32, r.MaxDegree+2)
	for v := range r.V() {
		start[r.MaxDegree-r.Degree(uint32(v))+1]++
	}
	for i := 1; i < len(start); i++ {
		start[i] += start[i-1]
	}
	by := make([]uint32, r.V())
	for v := range r.V() {
		d := r.MaxDegree - r.Degree(uint32(v))
		by[start[d]] = uint32(v)
		start[d]++
	}
	return by
}

// find is the index of a label.
func (g *Graph) find(value int32) int32 {
	i, _ := slices.BinarySearchFunc(g.Labels, value, func(l Label, v int32) int { return cmp.Compare(l.Value, v) })
	return int32(i)
}

// each calls work with 0 to n-1, each once, from several goroutines, until ctx is done.
func each(ctx context.Context, n, workers int, work func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	wg.Wait()
}

// Vertices lists the vertices of a label in the order of their numbers in domains.
func (g *Graph) Vertices(label int32) []uint32 { return g.Labels[g.find(label)].Vertices }
