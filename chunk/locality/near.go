package locality

import "sagann/chunk"

// Near gives the neighbours of all vertices of a graph, in passes over it.
type Near struct {
	V    int
	each func(f func(v int, in, out []uint32)) error
}

// Each calls f for every vertex, with the other ends of its in-edges and of its out-edges; both are valid
// until f returns. Vertices come in the order of their ids or, for a store, in the store's order.
func (n *Near) Each(f func(v int, in, out []uint32)) error { return n.each(f) }

// OfStore is the Near of a store. Every pass reads the store by intervals of its base grid, each edge twice.
func OfStore(s *chunk.Store) (*Near, error) {
	p, in := s.Intervals().P, s.Intervals()
	order, err := s.Order()
	if err != nil {
		return nil, err
	}
	return &Near{V: s.V(), each: func(f func(v int, in, out []uint32)) error {
		for j := range p {
			to, err := s.ReadCells(j, j+1, 0, p)
			if err != nil {
				return err
			}
			from, err := s.ReadCells(0, p, j, j+1)
			if err != nil {
				return err
			}
			lo, hi := in.Bounds(j)
			groups(to, from, order, lo, hi, f)
		}
		return nil
	}}, nil
}

// OfEdges is the Near of edges in memory.
func OfEdges(e *chunk.Edges) *Near {
	return &Near{V: e.V, each: func(f func(v int, in, out []uint32)) error {
		groups(e, e, nil, 0, e.V, f)
		return nil
	}}
}

// groups calls f for the vertices lo..hi-1 of an order. to is the edges that end in them, from the edges that
// begin in them.
func groups(to, from *chunk.Edges, order *chunk.Order, lo, hi int, f func(v int, in, out []uint32)) {
	inAt, in := grouped(to.Dst, to.Src, order, lo, hi)
	outAt, out := grouped(from.Src, from.Dst, order, lo, hi)
	for n := range hi - lo {
		v := lo + n
		if order != nil {
			v = int(order.Old[v])
		}
		f(v, in[inAt[n]:inAt[n+1]], out[outAt[n]:outAt[n+1]])
	}
}

// grouped sorts far by the position of own in an order, which is in lo..hi-1. at says where each group
// begins in list.
func grouped(own, far []uint32, order *chunk.Order, lo, hi int) (at []int, list []uint32) {
	at, list = make([]int, hi-lo+2), make([]uint32, len(own))
	place := func(v uint32) int {
		if order != nil {
			v = order.New[v]
		}
		return int(v) - lo
	}
	for _, v := range own {
		at[place(v)+2]++
	}
	for i := 2; i < len(at); i++ {
		at[i] += at[i-1]
	}
	for k, v := range own {
		i := place(v) + 1
		list[at[i]] = far[k]
		at[i]++
	}
	return at[:hi-lo+1], list
}
