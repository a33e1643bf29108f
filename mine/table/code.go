package table

import (
	"sagann/mine/pattern"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// Graph is what tables are made of.
type Graph struct {
	Rows  *rows.Rows // by the user's numbers; vertices without a label take no part
	Kinds []int32    // labels of edges, by entry of Rows.Col; nil: none
	Apart bool       // rows of edges share no beginnings: each is made anew from its first edge before it is extended. For comparison
	Meter *run.Meter // of the memory for codes of rows, counters and counts; nil: no bound
}

const most = pattern.MaxVertices

// classes number the labels of vertices and edges. The class of a vertex is the number of its label; while
// a vertex is in the row, it is the number of labels plus its position there, and without a label it is the
// number of labels plus most.
type classes struct {
	labels []int32 // by number
	class  []uint32
	kinds  []int32  // labels of edges by number
	kind   []uint32 // by entry of Col: number of the edge's label; nil: one kind
	width  int      // classes
}

func classify(g *Graph) *classes {
	c := &classes{class: make([]uint32, g.Rows.V()), kinds: []int32{pattern.AnyLabel}}
	number := map[int32]uint32{}
	if g.Rows.Label == nil {
		c.labels = []int32{pattern.AnyLabel}
	}
	for v, l := range g.Rows.Label {
		if l < 0 {
			continue
		}
		i, ok := number[l]
		if !ok {
			i = uint32(len(c.labels))
			number[l], c.labels = i, append(c.labels, l)
		}
		c.class[v] = i
	}
	for v, l := range g.Rows.Label {
		if l < 0 {
			c.class[v] = uint32(len(c.labels) + most)
		}
	}
	c.width = len(c.labels) + most + 1
	if g.Kinds != nil {
		c.kinds, c.kind = nil, make([]uint32, len(g.Kinds))
		number := map[int32]uint32{}
		for at, k := range g.Kinds {
			i, ok := number[k]
			if !ok {
				i = uint32(len(c.kinds))
				number[k], c.kinds = i, append(c.kinds, k)
			}
			c.kind[at] = i
		}
	}
	return c
}

// code is the quick code of rows: a pattern whose vertices are numbered as they come in the row, but for the ends of the first
// edge, which come in the order that a row with this code was met in first: the rows that follow do not depend on it. A slot says how a
// row goes on: position, kind of the edge and class of the vertex at its far end.
type code struct {
	codeKey
	next   map[uint64]step   // by slot, if there is no list
	list   []step            // the same, by slot
	count  map[uint64]uint64 // rows that end there, if there is no table
	table  []uint64          // the same, by slot
	single uint64            // rows of a single edge with this code, if such are counted
	bare   bool              // it has no counters, and nothing else refers to it: there was no room
}

// codeKey is what rows of a code have in common.
type codeKey struct {
	pattern pattern.Pattern
	intro   [most]uint8 // by position: the first edge of the row at that vertex; 0 at the first two
}

// step leads to a code: nil if no row goes on so. With swap the vertices of the first edge change places.
type step struct {
	to    *code
	swap  bool
	known bool
}

func (s step) bare() bool { return s.to != nil && s.to.bare }

// slots is how many slots a code has.
func (c *classes) slots(q *code) int { return q.pattern.Vertices() * len(c.kinds) * c.width }

// lists is the steps in lists that a worker may have.
const lists = 1 << 20

// tables is the memory for counters by slot that a worker may take, in counters.
const tables = 1 << 24

// SharedBytes is the memory that all workers share.
func (g *Graph) SharedBytes() int64 { return 4 * int64(g.Rows.V()+len(g.Kinds)) }

// WorkerBytes is the memory of a worker, without codes and counters.
func (g *Graph) WorkerBytes() int64 { return 4 * int64(g.Rows.V()) }

// counters gives the code a table, if there is memory for one.
func (w *walk) counters(q *code) {
	if q.table != nil || q.count != nil || q.bare {
		return
	}
	if q.table = w.table(w.slots(q)); q.table == nil {
		q.count = map[uint64]uint64{}
	}
}

// countOne counts a row that ends at a slot of a code without a table.
func (w *walk) countOne(q *code, slot uint64) {
	n, ok := q.count[slot]
	if ok || !q.bare && w.take(counterBytes) {
		q.count[slot] = n + 1
	} else if p, ok := w.grown(q, slot); ok {
		w.out.add(p, run.Total{Lo: 1})
	}
}

// each calls f with the slots that rows ended at.
func (q *code) each(f func(slot uint64, n uint64)) {
	for slot, n := range q.table {
		if n != 0 {
			f(uint64(slot), n)
		}
	}
	for slot, n := range q.count {
		f(slot, n)
	}
	q.table, q.count = nil, nil
}

// grown is the pattern of the rows that go on with a slot. ok is false if no row does: such an edge is in the row
// already, or belongs to another position.
func (c *classes) grown(q *code, slot uint64) (p pattern.Pattern, ok bool) {
	n := q.pattern.Vertices()
	at, kind, class := int(slot)/c.width/len(c.kinds), int(slot)/c.width%len(c.kinds), int(slot)%c.width
	switch far := class - len(c.labels); {
	case far == most || far < 0 && n == most:
		return p, false
	case far < 0:
		return q.pattern.Add(c.labels[class]).WithEdgeLabel(at, n, c.kinds[kind]), true
	case q.pattern.Adjacent(at, far) || q.intro[far] < q.intro[at]:
		return p, false
	default:
		return q.pattern.WithEdgeLabel(at, far, c.kinds[kind]), true
	}
}

// child is the step of the rows that go on with a slot.
func (w *walk) child(q *code, slot uint64) step {
	var next step
	if q.list != nil {
		next = q.list[slot]
	} else {
		next = q.next[slot]
	}
	if next.known {
		return next
	}
	if p, ok := w.grown(q, slot); ok {
		key := codeKey{p, q.intro}
		if p.Vertices() > q.pattern.Vertices() {
			key.intro[p.Vertices()-1] = uint8(q.pattern.Edges())
		}
		next = w.step(key, q.bare)
	}
	if q.bare || next.bare() {
		return next
	}
	next.known = true
	if q.list == nil && len(q.next) == 0 {
		q.list = w.steps(w.slots(q))
	}
	if q.list != nil {
		q.list[slot] = next
	} else if w.take(stepBytes) {
		q.next[slot] = next
	}
	return next
}

// step leads to the code with a key, and makes it if there is none.
func (w *walk) step(key codeKey, bare bool) step {
	if q := w.codes[key]; q != nil {
		return step{to: q}
	}
	if q := w.codes[codeKey{key.pattern.Relabel(pattern.Perm{1, 0, 2, 3, 4, 5, 6, 7}), key.intro}]; q != nil {
		return step{to: q, swap: true}
	}
	q := &code{codeKey: key, next: map[uint64]step{}, bare: bare || !w.take(codeBytes)}
	if !q.bare {
		w.codes[key] = q
	}
	return step{to: q}
}
