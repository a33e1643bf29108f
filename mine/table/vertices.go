package table

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"sagann/mine/pattern"
	"sagann/mine/run"
)

// ending says how a row of vertices goes on: the class of the vertex, the positions of its neighbours as bits, and
// the kinds of the edges to them.
type ending struct {
	class uint32
	near  uint8
	kinds [most]uint32
}

// group is the code of rows of vertices: the pattern that they induce, numbered as they come.
type group struct {
	pattern pattern.Pattern
	next    map[ending]*group
	count   map[ending]uint64
	table   []uint64 // the same without kinds, by near, then class
	bare    bool     // as of code
}

// visit is one worker that makes rows of vertices.
type visit struct {
	*Graph
	*classes
	allowance
	length int // vertices of a row
	out    *totals
	vertex [most]uint32
	in     []bool  // in the row
	near   []uint8 // positions of the row's vertices that are neighbours, as bits
	root   []*group
	stop   *atomic.Bool
}

func newVisit(g *Graph, c *classes, length int, out *totals) *visit {
	return &visit{Graph: g, classes: c, allowance: newAllowance(g.Meter), length: length, in: make([]bool, g.Rows.V()), near: make([]uint8, g.Rows.V()),
		root: make([]*group, len(c.labels)), out: out, stop: out.stop}
}

// from makes the rows whose first vertex is u, the least of all.
func (w *visit) from(u uint32) {
	c := w.class[u]
	if int(c) >= len(w.labels) {
		return
	}
	q := w.root[c]
	if q == nil {
		q = &group{pattern: pattern.New(0).Add(w.labels[c]), next: map[ending]*group{}, bare: !w.take(groupBytes)}
		if !q.bare {
			w.root[c] = q
		}
	}
	w.push(u, 0)
	w.extend(q, 1)
	w.pop(u, 0)
}

func (w *visit) push(v uint32, at int) {
	w.vertex[at], w.in[v] = v, true
	for _, y := range w.Rows.Of(v) {
		w.near[y] |= 1 << at
	}
}

func (w *visit) pop(v uint32, at int) {
	w.in[v] = false
	for _, y := range w.Rows.Of(v) {
		w.near[y] &^= 1 << at
	}
}

// extend makes the rows that begin with the n vertices of the row, whose code is q.
func (w *visit) extend(q *group, n int) {
	if n == w.length {
		return
	}
	counted := n+1 == w.length
	if counted {
		w.counters(q, n)
	}
	for at := range n {
		bound := w.vertex[0]
		for _, v := range w.vertex[at+1 : n] {
			bound = max(bound, v)
		}
		row := w.Rows.Of(w.vertex[at])
		from, _ := slices.BinarySearch(row, bound+1)
		for _, y := range row[from:] {
			c := w.class[y]
			if int(c) >= len(w.labels) || bits.TrailingZeros8(w.near[y]) != at || w.in[y] {
				continue
			}
			if counted && q.table != nil {
				q.table[uint32(w.near[y])*uint32(len(w.labels))+c]++
				continue
			}
			e := w.ending(y)
			if counted {
				if n, ok := q.count[e]; ok || !q.bare && w.take(endingBytes) {
					q.count[e] = n + 1
				} else {
					w.out.add(w.grownBy(q, e), run.Total{Lo: 1})
				}
				continue
			}
			next := w.follow(q, e)
			w.push(y, n)
			w.extend(next, n+1)
			w.pop(y, n)
			if w.stop.Load() {
				return
			}
		}
	}
}

// ending is how the row goes on with y.
func (w *visit) ending(y uint32) ending {
	e := ending{class: w.class[y], near: w.near[y]}
	for rest := e.near; w.kind != nil && rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros8(rest)
		x := w.vertex[i]
		k, _ := slices.BinarySearch(w.Rows.Of(x), y)
		e.kinds[i] = w.kind[w.Rows.Off[x]+int64(k)]
	}
	return e
}

// follow is the code of the rows that go on with an ending.
func (w *visit) follow(q *group, e ending) *group {
	n := q.next[e]
	if n == nil {
		n = &group{pattern: w.grownBy(q, e), next: map[ending]*group{}, bare: q.bare || !w.take(groupBytes)}
		if !n.bare {
			q.next[e] = n
		}
	}
	return n
}

// grownBy is the pattern of the rows that go on with an ending.
func (c *classes) grownBy(q *group, e ending) pattern.Pattern {
	p := q.pattern.Add(c.labels[e.class])
	for rest := e.near; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros8(rest)
		p = p.WithEdgeLabel(i, q.pattern.Vertices(), c.kinds[e.kinds[i]])
	}
	return p
}

// counters gives the code of n vertices a table, if edges have no labels and there is memory for one.
func (w *visit) counters(q *group, n int) {
	if q.table != nil || q.count != nil || q.bare {
		return
	}
	if w.kind == nil {
		q.table = w.table(len(w.labels) << n)
	}
	if q.table == nil {
		q.count = map[ending]uint64{}
	}
}

// each gives the counters up.
func (w *visit) each(f func(p pattern.Pattern, n uint64)) {
	for _, q := range w.root {
		if q != nil {
			w.eachOf(q, f)
		}
	}
}

// eachOf gives the counters of a code up, and of those that go on from it.
func (w *visit) eachOf(q *group, f func(p pattern.Pattern, n uint64)) {
	labels := len(w.labels)
	for i, n := range q.table {
		if n != 0 {
			f(w.grownBy(q, ending{class: uint32(i % labels), near: uint8(i / labels)}), n)
		}
	}
	for e, n := range q.count {
		f(w.grownBy(q, e), n)
	}
	q.table, q.count = nil, nil
	for _, next := range q.next {
		w.eachOf(next, f)
	}
}
