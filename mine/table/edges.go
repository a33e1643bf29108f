package table

import (
	"sync/atomic"

	"sagann/mine/run"
)

// walk is one worker that makes rows of edges.
type walk struct {
	*Graph
	*classes
	allowance
	class []uint32 // its own copy
	out   *totals

	length int        // edges of a row
	edges  [28]uint64 // of the row: lower end and higher end
	vertex [most]uint32
	root   map[[2]uint32]*code // codes of one edge, by class of its lower end and slot
	stop   *atomic.Bool
}

// newWalk makes a worker.
func newWalk(g *Graph, c *classes, length int, out *totals) *walk {
	return &walk{Graph: g, classes: c, allowance: newAllowance(g.Meter), class: append([]uint32(nil), c.class...), length: length,
		root: map[[2]uint32]*code{}, out: out, stop: out.stop}
}

func edgeOf(x, y uint32) uint64 {
	if x < y {
		return uint64(x)<<32 | uint64(y)
	}
	return uint64(y)<<32 | uint64(x)
}

// from makes the rows whose first edge has the lower end u.
func (w *walk) from(u uint32) {
	r, labels := w.Rows, uint32(len(w.labels))
	cu := w.class[u]
	if cu >= labels {
		return
	}
	for at := r.Off[u] + int64(r.Mid[u]); at < r.Off[u+1] && !w.stop.Load(); at++ {
		v := r.Col[at]
		cv := w.class[v]
		if cv >= labels {
			continue
		}
		kind := uint32(0)
		if w.kind != nil {
			kind = w.kind[at]
		}
		key := [2]uint32{cu, kind*uint32(w.width) + cv}
		q := w.root[key]
		if q == nil {
			q = w.first(cu, cv, kind)
			if q.bare = !w.take(codeBytes); !q.bare {
				w.root[key] = q
			}
		}
		switch {
		case w.length > 1:
		case q.bare:
			w.out.add(q.pattern, run.Total{Lo: 1})
			continue
		default:
			q.single++
			continue
		}
		w.edges[0], w.vertex[0], w.vertex[1] = edgeOf(u, v), u, v
		w.class[u], w.class[v] = labels, labels+1
		w.extend(q, 1)
		w.class[u], w.class[v] = cu, cv
	}
}

// bound is the edge that an edge must exceed to follow n edges if edge number i is the first that it touches.
func (w *walk) bound(i uint8, n int) uint64 {
	b := w.edges[0]
	for _, e := range w.edges[i+1 : n] {
		b = max(b, e)
	}
	return b
}

// above is where the neighbours of x begin whose edge to x is larger than a bound. Neighbours ascend
// as their edges do.
func (w *walk) above(x uint32, bound uint64) int64 {
	lo, hi := w.Rows.Off[x], w.Rows.Off[x+1]
	for lo < hi {
		m := int64(uint64(lo+hi) >> 1)
		if edgeOf(x, w.Rows.Col[m]) > bound {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return lo
}

// extend makes the rows that begin with the n edges of the row, whose code is q.
func (w *walk) extend(q *code, n int) {
	if n == w.length {
		return
	}
	counted := n+1 == w.length
	if counted {
		w.counters(q)
	}
	block := uint32(len(w.kinds) * w.width)
	labels := uint32(len(w.labels))
	for at := range q.pattern.Vertices() {
		x := w.vertex[at]
		from, to := w.above(x, w.bound(q.intro[at], n)), w.Rows.Off[x+1]
		base := uint32(at) * block
		if counted {
			w.tally(q, base, from, to)
			continue
		}
		for ; from < to; from++ {
			y := w.Rows.Col[from]
			c := w.class[y]
			slot := base + c
			if w.kind != nil {
				slot += w.kind[from] * uint32(w.width)
			}
			next := w.child(q, slot)
			if next == nil {
				continue
			}
			w.edges[n] = edgeOf(x, y)
			if c >= labels {
				w.extend(next, n+1)
			} else {
				k := q.pattern.Vertices()
				w.vertex[k], w.class[y] = y, labels+uint32(k)
				w.extend(next, n+1)
				w.class[y] = c
			}
			if w.stop.Load() {
				return
			}
		}
	}
}

// tally counts the rows that end with one of the entries from up to to. Slots that lead to no row are counted, too, and
// left out later.
func (w *walk) tally(q *code, base uint32, from, to int64) {
	col := w.Rows.Col[from:to]
	switch {
	case q.table != nil && w.kind == nil:
		table := q.table[base : int(base)+w.width]
		for _, y := range col {
			table[w.class[y]]++
		}
	case q.table != nil:
		for i, y := range col {
			q.table[base+w.kind[from+int64(i)]*uint32(w.width)+w.class[y]]++
		}
	default:
		for i, y := range col {
			slot := base + w.class[y]
			if w.kind != nil {
				slot += w.kind[from+int64(i)] * uint32(w.width)
			}
			w.countOne(q, slot)
		}
	}
}
