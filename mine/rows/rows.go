package rows

import (
	"fmt"
	"slices"

	"sagann/chunk"
)

// Rows are the neighbours of all vertices of an undirected graph without loops and
// repeated edges. It does not change once it is made.
type Rows struct {
	Off   []int64  // V+1: the neighbours of v are Col[Off[v]:Off[v+1]], ascending
	Col   []uint32 // two entries an edge
	Mid   []uint32 // V: how many neighbours of v are below v
	ID    []uint32 // V: the user's number; nil where it is v
	Label []int32  // V, or nil; -1: without a label
	// MaxDegree is the length of the longest row, MaxAbove of the longest part above Mid.
	MaxDegree, MaxAbove int

	// Vertices of high degree (hubs) also have their neighbours as bits: those of vertex v are
	// Bits[(Hub[v]-1)*Words:Hub[v]*Words], unless Hub[v] is 0.
	Hub   []uint32 // nil: there are no hubs
	Bits  []uint64
	Words int // 64-bit words for V bits
}

// V is the number of vertices.
func (r *Rows) V() int { return len(r.Off) - 1 }

// Edges is the number of undirected edges.
func (r *Rows) Edges() int64 { return int64(len(r.Col)) / 2 }

// Of is the neighbours of v, ascending.
func (r *Rows) Of(v uint32) []uint32 { return r.Col[r.Off[v]:r.Off[v+1]] }

// Above is the neighbours of v that come after v.
func (r *Rows) Above(v uint32) []uint32 {
	return r.Col[r.Off[v]+int64(r.Mid[v]) : r.Off[v+1]]
}

// Below is the neighbours of v that come before v.
func (r *Rows) Below(v uint32) []uint32 {
	return r.Col[r.Off[v] : r.Off[v]+int64(r.Mid[v])]
}

// Degree is the number of neighbours of v.
func (r *Rows) Degree(v uint32) int { return int(r.Off[v+1] - r.Off[v]) }

// HubBits is the neighbours of v as bits; nil if v is not a hub.
func (r *Rows) HubBits(v uint32) []uint64 {
	if r.Hub == nil || r.Hub[v] == 0 {
		return nil
	}
	h := int(r.Hub[v])
	return r.Bits[(h-1)*r.Words : h*r.Words]
}

// User is the number that the user gave v.
func (r *Rows) User(v uint32) uint32 {
	if r.ID == nil {
		return v
	}
	return r.ID[v]
}

// Bytes is the memory that the rows take.
func (r *Rows) Bytes() int64 {
	return 8*int64(len(r.Off)+len(r.Bits)) + 4*int64(len(r.Col)+len(r.Mid)+len(r.ID)+len(r.Label)+len(r.Hub))
}

// Dropped counts the entries of a list of edges that are not in the rows.
type Dropped struct {
	Loops   int64 // from a vertex to itself
	Repeats int64 // equal to an earlier entry
}

// DirectedError says that an edge has no reverse.
type DirectedError struct{ From, To uint32 }

// Error names the edge.
func (e *DirectedError) Error() string {
	return fmt.Sprintf("the graph is directed: there is an edge from %d to %d but none back", e.From, e.To)
}

// FromEdges makes the rows of the graph whose edges are listed in both directions. Weights
// and types are not read. Loops and repeated entries are dropped and counted. An
// edge without its reverse is a *DirectedError. The edges must have passed Validate.
func FromEdges(e *chunk.Edges) (*Rows, Dropped, error) {
	n := e.V
	var d Dropped
	var out []uint32
	off, ok := ascending(e)
	if ok {
		out = slices.Clone(e.Dst)
	} else {
		off = make([]int64, n+1)
		for i, u := range e.Src {
			if u == e.Dst[i] {
				d.Loops++
			} else {
				off[u+1]++
			}
		}
		sum(off)
		out = make([]uint32, off[n])
		at := slices.Clone(off[:n])
		for i, u := range e.Src {
			if v := e.Dst[i]; u != v {
				out[at[u]] = v
				at[u]++
			}
		}
		// Reversing all edges twice sorts the rows, as turn visits rows in ascending order.
		in, inOff := turn(out, off)
		kept, keptOff := unique(in, inOff)
		d.Repeats = int64(len(in)) - int64(len(kept))
		out, off = turn(kept, keptOff)
	}
	mid, err := undirected(out, off)
	if err != nil {
		return nil, d, err
	}
	r := &Rows{Off: off, Col: out, Mid: mid}
	r.finish()
	return r, d, nil
}

// ascending returns where rows begin if the edges are sorted by source, then destination,
// without loops and repeated entries, as most data sets have them.
func ascending(e *chunk.Edges) (off []int64, ok bool) {
	off = make([]int64, e.V+1)
	row, last := 0, uint64(0)
	for i, u := range e.Src {
		v := e.Dst[i]
		edge := uint64(u)<<32 | uint64(v)
		if u == v || edge <= last { // the first is above 0, which is a loop
			return nil, false
		}
		for last = edge; row < int(u); row++ {
			off[row+1] = int64(i)
		}
	}
	for ; row < e.V; row++ {
		off[row+1] = int64(len(e.Src))
	}
	return off, true
}

// undirected returns for each vertex how many of its neighbours are below it, or an error if an edge
// has no reverse. Rows are ascending and without loops. The edges (u, v) with u < v are met in
// ascending order of u, so they must match the beginning of row v entry by entry.
func undirected(col []uint32, off []int64) (mid []uint32, err error) {
	mid = make([]uint32, len(off)-1)
	for u := range mid {
		row := col[off[u]+int64(mid[u]) : off[u+1]]
		if len(row) > 0 && row[0] < uint32(u) {
			return nil, &DirectedError{uint32(u), row[0]}
		}
		for _, v := range row {
			at := off[v] + int64(mid[v]) // the entry that must be u
			switch {
			case at == off[v+1] || col[at] > uint32(u):
				return nil, &DirectedError{uint32(u), v}
			case col[at] < uint32(u):
				return nil, &DirectedError{v, col[at]}
			}
			mid[v]++
		}
	}
	return mid, nil
}

// sum turns the lengths of rows, that of row i at i+1, into offsets.
func sum(off []int64) {
	for i := 1; i < len(off); i++ {
		off[i] += off[i-1]
	}
}

// turn reverses all edges. Rows of the result are ascending.
func turn(col []uint32, off []int64) ([]uint32, []int64) {
	n := len(off) - 1
	to := make([]int64, n+1)
	for _, v := range col {
		to[v+1]++
	}
	sum(to)
	at := slices.Clone(to[:n])
	out := make([]uint32, len(col))
	for u := range n {
		for _, v := range col[off[u]:off[u+1]] {
			out[at[v]] = uint32(u)
			at[v]++
		}
	}
	return out, to
}

// unique drops repeated entries of sorted rows, in place.
func unique(col []uint32, off []int64) ([]uint32, []int64) {
	n := len(off) - 1
	to := make([]int64, n+1)
	k := int64(0)
	for u := range n {
		last := int64(-1)
		for _, v := range col[off[u]:off[u+1]] {
			if int64(v) != last {
				col[k] = v
				k++
			}
			last = int64(v)
		}
		to[u+1] = k
	}
	return col[:k], to
}

// finish computes the fields that follow from Off, Col and Mid.
func (r *Rows) finish() {
	n := r.V()
	hubs, least := 0, hubDegree(n)
	for v := range n {
		degree := r.Degree(uint32(v))
		r.MaxDegree = max(r.MaxDegree, degree)
		r.MaxAbove = max(r.MaxAbove, degree-int(r.Mid[v]))
		if degree >= least {
			hubs++
		}
	}
	r.Words = (n + 63) / 64
	if hubs == 0 {
		return
	}
	r.Hub, r.Bits = make([]uint32, n), make([]uint64, hubs*r.Words)
	h := uint32(0)
	for v := range n {
		if row := r.Of(uint32(v)); len(row) >= least {
			h++
			r.Hub[v] = h
			set := r.HubBits(uint32(v))
			for _, w := range row {
				set[w>>6] |= 1 << (w & 63)
			}
		}
	}
}

// hubDegree is the least degree of a hub. From n/32 neighbours on, n bits take no more bytes than
// the row. Shorter rows than 32 gain nothing.
func hubDegree(n int) int { return max(n/32, 32) }

// ByDegree is the graph r, whose vertices have the user's numbers, with vertices numbered
// by ascending degree, equal ones as before. Labels move along.
func (r *Rows) ByDegree() *Rows {
	n := r.V()
	start := make([]int64, r.MaxDegree+2)
	for v := range n {
		start[r.Degree(uint32(v))+1]++
	}
	sum(start)
	by, rank := make([]uint32, n), make([]uint32, n)
	for v := range n {
		d := r.Degree(uint32(v))
		by[start[d]], rank[v] = uint32(v), uint32(start[d])
		start[d]++
	}
	s := &Rows{Off: make([]int64, n+1), Col: make([]uint32, len(r.Col)), Mid: make([]uint32, n), ID: by}
	for k, v := range by {
		s.Off[k+1] = s.Off[k] + int64(r.Degree(v))
	}
	at := slices.Clone(s.Off[:n])
	for k, v := range by {
		s.Mid[k] = uint32(at[k] - s.Off[k]) // so far only neighbours below k were entered
		for _, w := range r.Of(v) {
			to := rank[w]
			s.Col[at[to]] = uint32(k)
			at[to]++
		}
	}
	if r.Label != nil {
		s.Label = make([]int32, n)
		for k, v := range by {
			s.Label[k] = r.Label[v]
		}
	}
	s.finish()
	return s
}

// Has reports whether u and v are neighbours.
func (r *Rows) Has(u, v uint32) bool {
	if r.Degree(u) < r.Degree(v) {
		u, v = v, u
	}
	if set := r.HubBits(u); set != nil {
		return set[v>>6]>>(v&63)&1 == 1
	}
	row := r.Of(v) // the shorter one
	lo, hi := 0, len(row)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if row[m] < u {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo < len(row) && row[lo] == u
}
