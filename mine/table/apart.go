package table

import "slices"

// again makes the row, of n edges, anew from its first edge, as if it shared no beginning with the row before. q is its code. It is for comparison, see
// Graph.Apart.
func (w *walk) again(q *code, n int) *code {
	labels := uint32(len(w.labels))
	k := q.pattern.Vertices()
	for _, v := range w.vertex[:k] {
		w.class[v] = w.classes.class[v]
	}
	u, v := uint32(w.edges[0]>>32), uint32(w.edges[0])
	s := w.root[[2]uint64{uint64(w.class[u]), uint64(w.kindOf(u, v))*uint64(w.width) + uint64(w.class[v])}]
	if s.to == nil {
		s = w.step(w.first(w.class[u], w.class[v], w.kindOf(u, v)), false)
	}
	w.vertex[0], w.vertex[1] = u, v
	w.class[u], w.class[v] = labels, labels+1
	if s.swap {
		w.exchange()
	}
	q, k = s.to, 2
	for _, e := range w.edges[1:n] {
		x, y := uint32(e>>32), uint32(e)
		if at := w.class[x]; at < labels || w.class[y] >= labels && q.intro[w.class[y]-labels] < q.intro[at-labels] {
			x, y = y, x
		}
		c := w.class[y]
		s = w.child(q, (uint64(w.class[x]-labels)*uint64(len(w.kinds))+uint64(w.kindOf(x, y)))*uint64(w.width)+uint64(c))
		if c < labels {
			w.vertex[k], w.class[y] = y, labels+uint32(k)
			k++
		}
		if s.swap {
			w.exchange()
		}
		q = s.to
	}
	for i, v := range w.vertex[:k] {
		w.begin[n-1][i] = w.Rows.Off[v]
	}
	return q
}

// kindOf is the number of the label of the edge between two neighbours.
func (w *walk) kindOf(u, v uint32) uint32 {
	if w.kind == nil {
		return 0
	}
	at, _ := slices.BinarySearch(w.Rows.Of(u), v)
	return w.kind[w.Rows.Off[u]+int64(at)]
}
