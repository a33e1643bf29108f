package dataset

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"sagann/chunk"
)

// Pairs are pairs of vertices, from Src[k] to Dst[k].
type Pairs struct {
	Src, Dst []uint32
	Time     []float64 // when each pair is asked for: it sees edges before this time alone; nil: at any time
	Type     []uint32  // of the edge that is asked for; nil: pairs have no types
}

// Len is the number of pairs.
func (p *Pairs) Len() int { return len(p.Src) }

// With is the pairs of p, and behind them those of q.
func (p *Pairs) With(q *Pairs) *Pairs {
	return &Pairs{Src: slices.Concat(p.Src, q.Src), Dst: slices.Concat(p.Dst, q.Dst), Time: slices.Concat(p.Time, q.Time), Type: slices.Concat(p.Type, q.Type)}
}

// add appends a pair.
func (p *Pairs) add(u, v uint32) { p.Src, p.Dst = append(p.Src, u), append(p.Dst, v) }

// Links are the edges to predict in link prediction.
type Links struct {
	Train, Val, Test Pairs    // edges; those of Val and Test are not in the graph that passes messages
	NotVal, NotTest  Pairs    // pairs without an edge; of SplitLinks as many as in Val and Test
	Types            int      // of pairs; 0: they have none
	Reverses         [][2]int // relations, or types of edges, that were taken for each other's reverses, beside those whose names say so
	known            *NonEdges
	past             *NotYet // of LinksOfPast, in place of known
}

// NotKnown is the pairs that are neither edges of the graph nor in Train, to draw negative samples from; nil of LinksOfPast.
func (l *Links) NotKnown() *NonEdges { return l.known }

// NotYet draws negative samples at the times of pairs; nil of links without times.
func (l *Links) NotYet() *NotYet { return l.past }

// LinkShares say how SplitLinks divides the edges.
type LinkShares struct {
	Val, Test float64 // of all edges, above 0, together below 1
	// Disjoint is the share of the training edges that are predicted and pass no messages. 0: all
	// training edges do both.
	Disjoint float64
}

// SplitLinks divides the edges of d for link prediction. The result is d with only the edges that pass
// messages, and with the edges to predict as Targets.Links. An edge and its reverse, where both exist, are one pair: they
// go to the same part, one of the two directions, chosen at random, is predicted, and both are hidden. Self loops only pass messages.
// Pairs without an edge are drawn uniformly from the pairs that have no edge in either direction and that could have one: the
// first vertex is the source of some edge of d, the second the target of some edge; in a bipartite graph the two
// are on different sides (see NonEdges). So a vertex without edges is in no pair. Equal seeds give equal splits.
func SplitLinks(d *Data, s LinkShares, seed uint64) (*Data, error) {
	fail := func(format string, a ...any) (*Data, error) {
		return nil, fmt.Errorf("%s: "+format, append([]any{d.Name}, a...)...)
	}
	if !(s.Val > 0 && s.Test > 0 && s.Val+s.Test < 1 && s.Disjoint >= 0 && s.Disjoint < 1) {
		return fail("shares %v and %v of the edges: each must be above 0, together below 1; %v of the training edges: from 0 to below 1", s.Val, s.Test, s.Disjoint)
	}
	e := d.Edges
	edges := indexEdges(e.V, e.Src, e.Dst)
	ids := edges.pairs(e) // the edges to divide
	r := rand.New(rand.NewPCG(seed, linkStream))
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	a, b := int(s.Val*float64(len(ids))), int(s.Test*float64(len(ids)))
	rest := len(ids) - a - b
	alone := int(s.Disjoint * float64(rest))
	if a == 0 || b == 0 || rest-alone < 1 || s.Disjoint > 0 && alone == 0 {
		alone := fmt.Sprintf("%d of them without messages", alone)
		if s.Disjoint == 0 {
			alone = "all of them with messages"
		}
		return fail("%d edges are too few: %.3g %% for validation make %d, %.3g %% for testing %d, and %d are left for training, %s", len(ids), 100*s.Val, a, 100*s.Test, b, rest, alone)
	}
	l, hidden := &Links{}, make([]bool, len(edges.to)) // hidden edges pass no messages
	turn := rand.New(rand.NewPCG(seed, turnStream))
	for i, k := range ids {
		u, v := e.Src[k], e.Dst[k]
		to := &l.Train
		switch {
		case i < a:
			to = &l.Val
		case i < a+b:
			to = &l.Test
		}
		if s.Disjoint > 0 && i >= a+b+alone {
			continue // a self loop only passes messages
		}
		back := edges.find(v, u)
		hide := i < a+b || s.Disjoint > 0
		hidden[edges.find(u, v)] = hide
		if back >= 0 {
			hidden[back] = hide
			if turn.Uint64()&1 == 1 {
				u, v = v, u
			}
		}
		to.add(u, v)
	}
	ends := endsOf(edges)
	free := ends.complement(e.V, e.Src, e.Dst)
	if free.Count() == 0 {
		return fail("every pair of vertices has an edge that could have one: there is none without to tell edges from")
	}
	l.NotVal, l.NotTest = free.draw(r, a), free.draw(r, b)
	out := *d
	out.Edges = selected(e, func(k int) bool { return !hidden[edges.find(e.Src[k], e.Dst[k])] })
	predictLinks(&out, l, ends)
	return &out, nil
}

// predictLinks makes l the links to predict of d, whose edges are those that pass messages. ends are those of all edges.
func predictLinks(d *Data, l *Links, ends *linkEnds) {
	d.EdgeLabels, d.EdgeSplit, d.Targets.Edge, d.Targets.EdgeSets = nil, Split{}, Numbers{}, Numbers{}
	l.known = ends.complement(d.Edges.V, slices.Concat(d.Edges.Src, l.Train.Src), slices.Concat(d.Edges.Dst, l.Train.Dst))
	d.Targets.Links, d.Targets.Given = l, nil
}

// pairs lists the edges of e that stand for its pairs of different vertices: the first of repeated edges and, of the two
// directions between two vertices, the one from the smaller number to the larger.
func (x *edgeIndex) pairs(e *chunk.Edges) []uint32 {
	var ids []uint32
	seen := make([]bool, len(x.to))
	for k, u := range e.Src {
		v := e.Dst[k]
		if u == v || u > v && x.find(v, u) >= 0 {
			continue
		}
		if at := x.find(u, v); !seen[at] {
			seen[at] = true
			ids = append(ids, uint32(k))
		}
	}
	return ids
}

// linkStream makes the random numbers of SplitLinks differ from others with the same seed.
const linkStream = 0x6c696e6b

// turnStream makes those that choose the direction of a pair differ from these.
const turnStream = 0x7475726e

func checkLinks(d *Data) error {
	v := d.Edges.V
	if k := d.Vertices.Kinds; k != nil && k.PairV > 0 {
		v = k.PairV
	}
	if s := d.Targets.Given; s != nil {
		if err := s.check(v); err != nil {
			return err
		}
	}
	l := d.Targets.Links
	if l == nil {
		return nil
	}
	all := LinkSplit{Train: l.Train, Val: l.Val, Test: l.Test, NotVal: l.NotVal, NotTest: l.NotTest}
	if err := all.check(v); err != nil {
		return err
	}
	for _, s := range []struct {
		name     string
		has, not *Pairs
	}{{"training", &l.Train, &l.Train}, {"validation", &l.Val, &l.NotVal}, {"test", &l.Test, &l.NotTest}} {
		if none := s.has.Len() == 0; none && s.name != "validation" || none != (s.not.Len() == 0) {
			return fmt.Errorf("the %s split of links is empty, or has no pairs without an edge", s.name)
		}
	}
	if l.known == nil && l.past == nil {
		return errors.New("links to predict are made by SplitLinks")
	}
	return nil
}

// Check returns an error if a pair has an id that is not below v, or only one end.
func (p *Pairs) Check(v int) error {
	if len(p.Src) != len(p.Dst) {
		return fmt.Errorf("pairs have %d first and %d second vertices", len(p.Src), len(p.Dst))
	}
	if p.Time != nil && len(p.Time) != len(p.Src) {
		return fmt.Errorf("%d pairs have %d times", len(p.Src), len(p.Time))
	}
	for k := range p.Src {
		if p.Time != nil && p.Time[k] != p.Time[k] {
			return fmt.Errorf("pair %d has the time NaN", k)
		}
		if int(p.Src[k]) >= v || int(p.Dst[k]) >= v {
			return fmt.Errorf("pair %d is (%d, %d): ids must be below %d", k, p.Src[k], p.Dst[k], v)
		}
	}
	return nil
}

// edgeIndex has the distinct edges of each vertex in order.
type edgeIndex struct {
	start []int    // V+1
	to    []uint32 // ascending within a vertex
}

func indexEdges(v int, src, dst []uint32) *edgeIndex {
	start := make([]int, v+1)
	for _, u := range src {
		start[u+1]++
	}
	for i := range v {
		start[i+1] += start[i]
	}
	at, to := slices.Clone(start), make([]uint32, len(src))
	for k, u := range src {
		to[at[u]] = dst[k]
		at[u]++
	}
	x := &edgeIndex{start: make([]int, v+1)}
	n := 0
	for u := range v {
		row := to[start[u]:start[u+1]]
		slices.Sort(row)
		n += copy(to[n:], slices.Compact(row))
		x.start[u+1] = n
	}
	x.to = to[:n]
	return x
}

func (x *edgeIndex) row(u uint32) []uint32 { return x.to[x.start[u]:x.start[u+1]] }

// find is the index of edge (u, v) in to, -1 if there is none.
func (x *edgeIndex) find(u, v uint32) int {
	if i, ok := slices.BinarySearch(x.row(u), v); ok {
		return x.start[u] + i
	}
	return -1
}

// selected are the edges k of e for which keep(k) is true, with their values.
func selected(e *chunk.Edges, keep func(k int) bool) *chunk.Edges {
	out := &chunk.Edges{V: e.V, Types: e.Types, DataCols: e.DataCols}
	for k := range e.Src {
		if !keep(k) {
			continue
		}
		out.Src, out.Dst = append(out.Src, e.Src[k]), append(out.Dst, e.Dst[k])
		if e.Weight != nil {
			out.Weight = append(out.Weight, e.Weight[k])
		}
		if e.Type != nil {
			out.Type = append(out.Type, e.Type[k])
		}
		if e.Time != nil {
			out.Time = append(out.Time, e.Time[k])
		}
		out.Data = append(out.Data, e.Data[k*e.DataCols:(k+1)*e.DataCols]...)
	}
	return out
}
