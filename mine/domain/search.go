package domain

import (
	"math/bits"
	"slices"
)

// step places one vertex of the pattern in a search.
type step struct {
	vertex int
	back   []link // edges to vertices placed before, at least one
	same   []int  // vertices placed before that could be the same vertex of the graph
	apart  []int  // vertices placed before that must not be adjacent
}

// link is an edge to a vertex placed before.
type link struct {
	vertex   int
	to, from *arc // from that vertex to the step's, and back
}

// plan makes the steps of a search that begins with root.
func (w *worker) plan(root int) {
	used := uint8(1) << root
	for k, v := range order(&w.near, w.n, root) {
		if k == 0 || k >= w.n {
			continue
		}
		best := int(v)
		s := &w.steps[k]
		s.vertex, s.back, s.same, s.apart = best, s.back[:0], s.same[:0], s.apart[:0]
		for rest := used; rest != 0; rest &= rest - 1 {
			j := bits.TrailingZeros8(rest)
			switch {
			case w.near[best]>>j&1 == 1:
				s.back = append(s.back, link{j, w.arcs[j][best], w.arcs[best][j]})
				continue
			case w.label[j] == w.label[best]:
				s.same = append(s.same, j)
			}
			if w.induced {
				s.apart = append(s.apart, j)
			}
		}
		used |= 1 << best
	}
}

// extend looks for an embedding that continues image up to step k, and leaves the first it finds there. It gives up when walk.left is below 0.
func (w *worker) extend(k int) bool {
	if k == w.n {
		return true
	}
	s := &w.steps[k]
	base := 0
	row := s.back[0].to.row(w.image[s.back[0].vertex])
	for i := 1; i < len(s.back); i++ {
		if r := s.back[i].to.row(w.image[s.back[i].vertex]); len(r) < len(row) {
			base, row = i, r
		}
	}
	set := w.sets[s.vertex]
next:
	for _, y := range row {
		if w.walk.left--; w.walk.left < 0 {
			return false
		}
		if set[y>>6]>>(y&63)&1 == 0 {
			continue
		}
		for _, j := range s.same {
			if w.image[j] == y {
				continue next
			}
		}
		for i := range s.back {
			if i != base && !s.back[i].joins(w.image[s.back[i].vertex], y) {
				continue next
			}
		}
		for _, j := range s.apart {
			if w.adjacent(j, w.image[j], s.vertex, y) {
				continue next
			}
		}
		w.image[s.vertex] = y
		if w.extend(k + 1) {
			return true
		}
	}
	return false
}

// joins reports whether the link's arc leads from x to y.
func (l *link) joins(x, y uint32) bool {
	row, far := l.to.row(x), y
	if r := l.from.row(y); len(r) < len(row) {
		row, far = r, x
	}
	_, found := slices.BinarySearch(row, far)
	return found
}

// adjacent reports whether vertices x and y, in the domains of v and u, have any edge.
func (w *worker) adjacent(v int, x uint32, u int, y uint32) bool {
	return w.g.rows.Has(w.g.Labels[w.label[v]].Vertices[x], w.g.Labels[w.label[u]].Vertices[y])
}
