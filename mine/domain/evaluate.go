package domain

import (
	"cmp"
	"math/bits"
	"slices"

	"sagann/mine/lattice"
	"sagann/mine/pattern"
)

const most = pattern.MaxVertices

// worker evaluates one candidate after the other.
type worker struct {
	g       *Graph
	least   uint32
	exact   bool // domains are exact; otherwise only whether they have the least size
	induced bool

	// The candidate.
	n     int
	label [most]int32 // index
	near  [most]uint8
	arcs  [most][most]*arc
	peers [most][most]uint8 // by vertices v and u: the neighbours of v along edges as that to u, u among them
	orbit [most]uint8

	sets  [most][]uint64 // domains; what is known to be in no embedding is dropped
	known [most][]uint64 // by orbit: what is known to be in an embedding
	count [most]uint32   // sizes of sets
	sure  [most]uint32   // sizes of known
	room  [2*most + 1][]uint64
	list  []uint32
	walk  walk
	image [most]uint32
	steps [most]step
	last  func(p pattern.Pattern) bool // its domains are not needed
}

func (g *Graph) worker(q *Question) *worker {
	return &worker{g: g, least: uint32(min(q.Least, 1<<32-1)), exact: !q.AtLeast, walk: walk{alone: alone}, induced: q.Induced, last: q.isLast}
}

// begin describes the candidate.
func (w *worker) begin(p pattern.Pattern) {
	w.n = p.Vertices()
	for v := range w.n {
		w.label[v], w.near[v] = w.g.find(p.Label(v)), 0
	}
	for v := range w.n {
		for u := range w.n {
			if p.Adjacent(v, u) {
				w.near[v] |= 1 << u
				w.arcs[v][u] = w.g.arcs[arcKey{w.label[v], w.label[u], p.EdgeLabel(v, u)}]
			}
		}
		w.peers[v] = peers(w.near[v], &w.arcs[v])
	}
}

// words is memory for bits of the vertices of label number l; several calls with different i do not share it.
func (w *worker) words(i int, l int32) []uint64 {
	n := (len(w.g.Labels[l].Vertices) + 63) / 64
	if cap(w.room[i]) < n {
		w.room[i] = make([]uint64, n)
	}
	return w.room[i][:n]
}

// evaluate finds the domains of a candidate and its support; ok is false if that is below the least.
func (w *worker) evaluate(c *lattice.Candidate, parents []Found) (f Found, ok bool) {
	w.begin(c.Pattern)
	if !w.meet(c, parents) || !w.consistent() {
		return f, false
	}
	w.orbit = c.Pattern.Orbits()
	if sure := w.sureOf(c.Pattern); sure != 1<<w.n-1 && !w.search(sure) {
		return f, false
	}
	f.Pattern, f.Support = c.Pattern, int64(slices.Min(w.count[:w.n]))
	if w.last(c.Pattern) {
		return f, true
	}
	f.Domains = make([]Set, w.n)
	for v := range w.n {
		if low := int(w.orbit[v]); low < v {
			f.Domains[v] = f.Domains[low]
		} else {
			f.Domains[v] = pack(w.sets[v], size(w.sets[v]))
		}
	}
	return f, true
}

// meet sets the domains to what the parents' domains have in common. Where there was no room to keep a parent's,
// the ends of the pattern's edges take their place.
func (w *worker) meet(c *lattice.Candidate, parents []Found) bool {
	var begun uint8
	lost := false
	for _, p := range c.Parents {
		domains := parents[p.Index].Domains
		if domains == nil {
			lost = true
			continue
		}
		for v := range w.n {
			switch {
			case v == int(p.Gone):
			case begun>>v&1 == 0:
				begun |= 1 << v
				w.sets[v] = w.words(v, w.label[v])
				domains[p.To[v]].load(w.sets[v])
			default:
				w.list = domains[p.To[v]].meet(w.sets[v], w.list)
			}
		}
	}
	for v := 0; lost && v < w.n; v++ {
		for u := range w.n {
			if w.near[v]>>u&1 == 0 {
				continue
			}
			if begun>>v&1 == 0 {
				begun |= 1 << v
				w.sets[v] = w.words(v, w.label[v])
				w.arcs[v][u].set().load(w.sets[v])
			} else {
				w.list = w.arcs[v][u].set().meet(w.sets[v], w.list)
			}
		}
	}
	for v := range w.n {
		if w.count[v] = size(w.sets[v]); w.count[v] < w.least {
			return false
		}
	}
	return true
}

// sureOf is the vertices, as bits, whose domains semi-joins alone make exact. In a tree whose vertices have different labels these are all: every
// vertex of the graph that is left in a domain has an embedding. Of two vertices of one label it must be sure that an embedding can put
// different vertices of the graph there: if they are adjacent; if edges of different labels lead there from one vertex; if they are ends, which share a domain; if they
// are two peers, for the vertices that are nearer to what is between them than to either.
func (w *worker) sureOf(p pattern.Pattern) uint8 {
	if p.Edges() != w.n-1 || w.induced && w.n > 2 {
		return 0
	}
	sure := uint8(1<<w.n - 1)
	for v := range w.n {
		for u := range v {
			if w.label[u] != w.label[v] || w.near[u]>>v&1 == 1 {
				continue
			}
			between := w.near[u] & w.near[v]
			if between == 0 {
				return 0
			}
			group := w.peers[bits.TrailingZeros8(between)][u]
			switch {
			case group>>v&1 == 0 || w.near[u] == between && w.near[v] == between:
			case bits.OnesCount8(group) > 2:
				return 0
			default:
				sure &^= w.beyond(u, between) | w.beyond(v, between)
			}
		}
	}
	return sure
}

// beyond is the vertices that are connected with u without those of cut, as bits.
func (w *worker) beyond(u int, cut uint8) uint8 {
	met := uint8(1 << u)
	for todo := met; todo != 0; {
		v := bits.TrailingZeros8(todo)
		more := w.near[v] &^ (met | cut)
		met, todo = met|more, todo&^(1<<v)|more
	}
	return met
}

// search looks for an embedding of every vertex in every domain, unless one is known or it is sure that there is one. It reports
// whether all domains have the least size.
func (w *worker) search(sure uint8) bool {
	var roots []int // one for each orbit, the smallest domain first
	for v := range w.n {
		if int(w.orbit[v]) == v {
			w.known[v] = w.words(most+v, w.label[v])
			if sure>>v&1 == 1 {
				copy(w.known[v], w.sets[v])
				w.sure[v] = w.count[v]
				continue
			}
			roots = append(roots, v)
			clear(w.known[v])
			w.sure[v] = 0
		}
	}
	slices.SortStableFunc(roots, func(a, b int) int { return cmp.Compare(w.count[a], w.count[b]) })
	for _, v := range roots {
		if (w.exact || w.sure[v] < w.least) && !w.searchFrom(v) {
			return false
		}
	}
	for v := range w.n {
		low := w.orbit[v]
		if w.count[v] = w.sure[low]; w.count[v] < w.least {
			return false
		}
		if w.exact {
			w.sets[v] = w.known[low]
		}
	}
	return true
}

// searchFrom looks for embeddings of the vertices in the domain of v.
func (w *worker) searchFrom(v int) bool {
	w.plan(v)
	s := w.square(v)
	set, known, left := w.sets[v], w.known[v], w.count[v]
	for i := range set {
		for m := set[i] &^ known[i]; m != 0; {
			low := m & -m
			w.image[v] = uint32(i<<6 + bits.TrailingZeros64(low))
			if w.find(v, s) {
				w.mark()
				if !w.exact && w.sure[v] >= w.least {
					return true
				}
			} else {
				for u := range w.n {
					if int(w.orbit[u]) == v {
						w.sets[u][i] &^= low
					}
				}
				if left--; left < w.least {
					return false
				}
			}
			m = m &^ low &^ known[i] // the embedding may have marked others of this word
		}
	}
	return true
}

// mark notes that the vertices of image have an embedding.
func (w *worker) mark() {
	for u := range w.n {
		low, x := w.orbit[u], w.image[u]
		if word := &w.known[low][x>>6]; *word>>(x&63)&1 == 0 {
			*word |= 1 << (x & 63)
			w.sure[low]++
		}
	}
}
