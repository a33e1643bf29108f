package table

import (
	"context"
	"math/bits"
	"slices"
	"sync"
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
}

// visit is one worker that makes rows of vertices.
type visit struct {
	*Graph
	*classes
	length int // vertices of a row
	left   int // counters that it may still take
	vertex [most]uint32
	in     []bool  // in the row
	near   []uint8 // positions of the row's vertices that are neighbours, as bits
	root   []*group
	stop   *atomic.Bool
}

func newVisit(g *Graph, c *classes, length int, stop *atomic.Bool) *visit {
	return &visit{Graph: g, classes: c, length: length, left: tables, in: make([]bool, g.Rows.V()), near: make([]uint8, g.Rows.V()),
		root: make([]*group, len(c.labels)), stop: stop}
}

// from makes the rows whose first vertex is u, the least of all.
func (w *visit) from(u uint32) {
	c := w.class[u]
	if int(c) >= len(w.labels) {
		return
	}
	if w.root[c] == nil {
		w.root[c] = &group{pattern: pattern.New(0).Add(w.labels[c]), next: map[ending]*group{}}
	}
	w.push(u, 0)
	w.extend(w.root[c], 1)
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
				q.count[e]++
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
func (c *classes) follow(q *group, e ending) *group {
	n := q.next[e]
	if n == nil {
		n = &group{pattern: q.pattern.Add(c.labels[e.class]), next: map[ending]*group{}}
		for rest := e.near; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros8(rest)
			n.pattern = n.pattern.WithEdgeLabel(i, q.pattern.Vertices(), c.kinds[e.kinds[i]])
		}
		q.next[e] = n
	}
	return n
}

// counters gives the code of n vertices a table, if edges have no labels and there is memory for one.
func (w *visit) counters(q *group, n int) {
	if q.table != nil || q.count != nil {
		return
	}
	if size := len(w.labels) << n; w.kind == nil && size <= w.left {
		w.left -= size
		q.table = make([]uint64, size)
	} else {
		q.count = map[ending]uint64{}
	}
}

// CountVertices counts the connected sets of k vertices, from 2 on, by the canonical pattern that they induce.
func (g *Graph) CountVertices(ctx context.Context, k, workers int) (map[pattern.Pattern]run.Total, error) {
	c := classify(g)
	var stop atomic.Bool
	var mu sync.Mutex
	var visits []*visit
	err := g.deal(ctx, workers, &stop, func() func(uint32) {
		w := newVisit(g, c, k, &stop)
		mu.Lock()
		defer mu.Unlock()
		visits = append(visits, w)
		return w.from
	})
	if err != nil {
		return nil, err
	}
	out := map[pattern.Pattern]run.Total{}
	for _, w := range visits {
		for _, q := range w.root {
			if q != nil {
				c.collect(q, k, out)
			}
		}
	}
	return out, nil
}

// collect adds the counters of a code, and of those that go on from it, to the patterns' counts.
func (c *classes) collect(q *group, k int, out map[pattern.Pattern]run.Total) {
	add := func(e ending, n uint64) {
		p := c.follow(q, e).pattern.Canonical()
		t := out[p]
		t.Add(n)
		out[p] = t
	}
	labels := len(c.labels)
	for i, n := range q.table {
		if n != 0 {
			add(ending{class: uint32(i % labels), near: uint8(i / labels)}, n)
		}
	}
	for e, n := range q.count {
		add(e, n)
	}
	if q.pattern.Vertices()+1 < k {
		for _, next := range q.next {
			c.collect(next, k, out)
		}
	}
}
