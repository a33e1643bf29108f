package table

import (
	"hash/maphash"
	"sync/atomic"

	"sagann/mine/pattern"
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
	begin  [28][most]int64    // by number of edges: the entry before which no neighbour of the vertex at a position can follow
	root   map[[2]uint64]step // steps to codes of one edge, by class of its lower end and slot
	codes  map[codeKey]*code
	stop   *atomic.Bool
}

// newWalk makes a worker.
func newWalk(g *Graph, c *classes, length int, out *totals) *walk {
	return &walk{Graph: g, classes: c, allowance: newAllowance(g.Meter), class: append([]uint32(nil), c.class...), length: length,
		root: map[[2]uint64]step{}, codes: map[codeKey]*code{}, out: out, stop: out.stop}
}

// first is what rows of an edge between vertices of two classes have in common.
func (c *classes) first(from, to, kind uint32) codeKey {
	return codeKey{pattern: pattern.New(0).Add(c.labels[from]).Add(c.labels[to]).WithEdgeLabel(0, 1, c.kinds[kind])}
}

// each gives the counters up.
func (w *walk) each(f func(p pattern.Pattern, n uint64)) {
	for _, q := range w.codes {
		if q.single > 0 {
			f(q.pattern, q.single)
		}
		q.each(func(slot, n uint64) {
			if p, ok := w.grown(q, slot); ok {
				f(p, n)
			}
		})
	}
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
		key := [2]uint64{uint64(cu), uint64(kind)*uint64(w.width) + uint64(cv)}
		s, ok := w.root[key]
		if !ok {
			s = w.step(w.first(cu, cv, kind), false)
			if !s.bare() && w.take(stepBytes) {
				w.root[key] = s
			}
		}
		q := s.to
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
		w.begin[0] = [most]int64{at + 1, r.Off[v]}
		if s.swap {
			w.swap(0)
		}
		w.extend(q, 1)
		w.class[u], w.class[v] = cu, cv
	}
}

// swap has the vertices of the first edge of n change places.
func (w *walk) swap(n int) {
	w.begin[n][0], w.begin[n][1] = w.begin[n][1], w.begin[n][0]
	w.exchange()
}

// exchange is swap but for where neighbours begin.
func (w *walk) exchange() {
	u, v := w.vertex[0], w.vertex[1]
	w.vertex[0], w.vertex[1] = v, u
	w.class[u], w.class[v] = w.class[v], w.class[u]
}

// bound is the edge that an edge must exceed to follow n edges if edge number i is the first that it touches.
func (w *walk) bound(i uint8, n int) uint64 {
	b := w.edges[0]
	for _, e := range w.edges[i+1 : n] {
		b = max(b, e)
	}
	return b
}

// above is where the neighbours of x begin whose edge to x is larger than a bound: at entry lo or later. Neighbours ascend
// as their edges do.
func (w *walk) above(x uint32, lo int64, bound uint64) int64 {
	hi := w.Rows.Off[x+1]
	least, far := uint32(bound>>32), uint32(bound) // the first neighbour of x that will do, or any after it
	switch {
	case x < least:
		return hi // all of its edges are smaller
	case x == least:
		least = far + 1
	case x <= far:
		least++
	}
	if lo < hi && w.Rows.Col[lo] >= least {
		return lo
	}
	for lo < hi {
		m := int64(uint64(lo+hi) >> 1)
		if w.Rows.Col[m] >= least {
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
		if w.Apart {
			q = w.again(q, n)
		}
		w.counters(q)
	}
	block := uint64(len(w.kinds) * w.width)
	labels := uint32(len(w.labels))
	k := q.pattern.Vertices()
	begin := &w.begin[n]
	*begin = w.begin[n-1]
	for at := range k {
		x := w.vertex[at]
		from, to := w.above(x, w.begin[n-1][at], w.bound(q.intro[at], n)), w.Rows.Off[x+1]
		first, base := from, uint64(at)*block
		if counted {
			w.tally(q, base, from, to)
			continue
		}
		for ; from < to; from++ {
			y := w.Rows.Col[from]
			c := w.class[y]
			slot := base + uint64(c)
			if w.kind != nil {
				slot += uint64(w.kind[from]) * uint64(w.width)
			}
			next := w.child(q, slot)
			if next.to == nil {
				continue
			}
			w.edges[n] = edgeOf(x, y)
			begin[at] = from + 1
			if c < labels {
				w.vertex[k], w.class[y], begin[k] = y, labels+uint32(k), w.Rows.Off[y]
			}
			if next.swap {
				w.swap(n)
				w.extend(next.to, n+1)
				w.swap(n)
			} else {
				w.extend(next.to, n+1)
			}
			if c < labels {
				w.class[y] = c
			}
			if w.stop.Load() {
				return
			}
		}
		begin[at] = first
	}
}

// tally counts the rows that end with one of the entries from up to to. Slots that lead to no row are counted, too, and
// left out later.
func (w *walk) tally(q *code, base uint64, from, to int64) {
	col := w.Rows.Col[from:to]
	switch {
	case q.table != nil && w.kind == nil:
		table := q.table[base : base+uint64(w.width)]
		for _, y := range col {
			table[w.class[y]]++
		}
	case q.table != nil:
		for i, y := range col {
			q.table[base+uint64(w.kind[from+int64(i)])*uint64(w.width)+uint64(w.class[y])]++
		}
	default:
		for i, y := range col {
			slot := base + uint64(w.class[y])
			if w.kind != nil {
				slot += uint64(w.kind[from+int64(i)]) * uint64(w.width)
			}
			w.countOne(q, slot)
		}
	}
}

// unite adds the counters of codes that several walks have to those of one, each walk for a part of the codes.
func unite(list []worker) {
	if _, ok := list[0].(*walk); !ok || len(list) == 1 {
		return
	}
	seed := maphash.MakeSeed()
	var next atomic.Int64
	together(list, func(w worker) {
		i, one := uint64(next.Add(1)-1), map[codeKey]*code{}
		for _, other := range list {
			for key, q := range other.(*walk).codes {
				if maphash.Comparable(seed, key)%uint64(len(list)) != i || q.table == nil && q.single == 0 {
					continue
				}
				first := one[key]
				switch {
				case first != nil:
					first.unite(q)
				case w.take(sharedBytes):
					one[key] = q
				}
			}
		}
	})
}

// unite moves the counters of another of the same code here, as far as they lie in tables.
func (q *code) unite(other *code) {
	q.single += other.single
	other.single = 0
	if q.table == nil {
		q.table, other.table = other.table, nil
	}
	for slot, n := range other.table {
		q.table[slot] += n
	}
	other.table = nil
}
