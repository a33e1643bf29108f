package table

import (
	"fmt"
	"math"

	"sagann/mine/pattern"
)

// Code is a quick code as kernels see it: numbers of vertices and edges, by position the edge that the vertex came with and the positions of its neighbours as
// bits, and the positions of the ends of the edges in their order.
type Code struct {
	Vertices, Edges uint32
	Intro, Near     [most]uint8
	From, To        [28]uint8
}

// ordered is a code with the ends of its edges in their order: kernels know how a row goes on by these.
type ordered struct {
	codeKey
	ends [28][2]uint8
}

// Codes numbers quick codes of rows that are made elsewhere, by a GPU. Codes of rows of each number of edges are numbered from 0.
type Codes struct {
	*classes
	Labels, Kinds uint32 // how many there are of vertices and edges

	size []codeList // by edges
}

type codeList struct {
	list   []ordered
	number map[ordered]uint32
}

// CodesOf is the codes of the rows of g, of fewer than so many edges.
func CodesOf(g *Graph, edges int) (*Codes, error) {
	c := &Codes{classes: classify(g), size: make([]codeList, edges)}
	c.Labels, c.Kinds = uint32(len(c.labels)), uint32(len(c.kinds))
	if n := uint64(most) * uint64(len(c.kinds)) * uint64(c.width); n > math.MaxUint32 {
		return nil, fmt.Errorf("%d labels of vertices and %d of edges: a GPU counts rows of fewer than %d pairs of them", len(c.labels), len(c.kinds), math.MaxUint32/most)
	}
	return c, nil
}

// Fork is codes of the same graph for another GPU.
func (c *Codes) Fork() *Codes {
	next := *c
	next.size = make([]codeList, len(c.size))
	return &next
}

// Classes is the class of each vertex: the number of its label, and more than Labels without one. KindOf is the number of the label of each entry of the rows, nil
// if there is one.
func (c *Codes) Classes() []uint32 { return c.class }

// KindOf is the number of each entry's label; nil: there is one.
func (c *Codes) KindOf() []uint32 { return c.kind }

// Slots is how many slots a code of rows of so many edges has at most: (position · kinds + kind) · (labels + 9) + class. The class of a vertex
// that is in the row is the number of labels plus its position there.
func (c *Codes) Slots(edges int) int64 {
	return int64(min(edges+1, most)) * int64(len(c.kinds)) * int64(c.width)
}

// Len is how many codes of rows of so many edges there are.
func (c *Codes) Len(edges int) int { return len(c.size[edges].list) }

// Forget forgets the codes of rows of so many edges and of more.
func (c *Codes) Forget(edges int) { clear(c.size[edges:]) }

// Records are the codes of rows of so many edges from one on.
func (c *Codes) Records(edges, from int) (list []Code) {
	for i := range c.size[edges].list[from:] {
		list = append(list, c.size[edges].list[from+i].record(edges))
	}
	return list
}

func (q *ordered) record(edges int) Code {
	n := q.pattern.Vertices()
	out := Code{Vertices: uint32(n), Edges: uint32(edges), Intro: q.intro}
	for i := range n {
		for j := range n {
			if q.pattern.Adjacent(i, j) {
				out.Near[i] |= 1 << j
			}
		}
	}
	for i, e := range q.ends[:edges] {
		out.From[i], out.To[i] = e[0], e[1]
	}
	return out
}

// Step is the code of rows of so many edges that go on from a code of one less with a slot; of one edge: from the class of its lower end. If swap, the vertices
// of the first edge change places.
func (c *Codes) Step(edges int, from, slot uint32) (to uint32, swap bool) {
	var next ordered
	kind, class := int(slot)/c.width%len(c.kinds), slot%uint32(c.width)
	if edges == 1 {
		next = ordered{codeKey: c.first(from, class, uint32(kind))}
		next.ends[0] = [2]uint8{0, 1}
	} else {
		next = c.size[edges-1].list[from]
		n := next.pattern.Vertices()
		at, far := int(slot)/c.width/len(c.kinds), n
		next.pattern, _ = c.grown(&code{codeKey: next.codeKey}, uint64(slot))
		if next.pattern.Vertices() > n {
			next.intro[n] = uint8(edges - 1)
		} else {
			far = int(class) - len(c.labels)
		}
		next.ends[edges-1] = ends(at, far)
	}
	all := &c.size[edges]
	if i, ok := all.number[next]; ok {
		return i, false
	}
	if i, ok := all.number[next.turned(edges)]; ok {
		return i, true
	}
	if all.number == nil {
		all.number = map[ordered]uint32{}
	}
	i := uint32(len(all.list))
	all.number[next], all.list = i, append(all.list, next)
	return i, false
}

func ends(a, b int) [2]uint8 { return [2]uint8{uint8(min(a, b)), uint8(max(a, b))} }

// turned is the code whose first two vertices have changed places.
func (o ordered) turned(edges int) ordered {
	o.pattern = o.pattern.Relabel(pattern.Perm{1, 0, 2, 3, 4, 5, 6, 7})
	place := func(a uint8) int {
		if a < 2 {
			a = 1 - a
		}
		return int(a)
	}
	for i, e := range o.ends[:edges] {
		o.ends[i] = ends(place(e[0]), place(e[1]))
	}
	return o
}
