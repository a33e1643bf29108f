package dataset

import "sagann/chunk"

// shardEnd says of the vertices at one end of a relation which of their type they are.
type shardEnd struct {
	v     int // vertices of the type
	order *chunk.Order
	run   chunk.Run
	wide  int // of the widest interval
}

// vertex is the vertex with number n among all intervals.
func (s *shardEnd) vertex(n uint32) uint32 {
	return s.order.Old[(int(n)/s.wide-s.run.First)*s.run.Width+int(n)%s.wide]
}

// number is the reverse of vertex.
func (s *shardEnd) number(v uint32) uint32 {
	n := int(s.order.New[v])
	return uint32((s.run.First+n/s.run.Width)*s.wide + n%s.run.Width)
}

// has tells whether interval i is of the type.
func (s *shardEnd) has(i int) bool { return i >= s.run.First && i < s.run.First+s.run.N }

// end is the sources of a relation or, without out, its destinations.
func (x *Shard) end(out bool) *shardEnd {
	if out {
		return &x.ends[0]
	}
	return &x.ends[1]
}

// inType are the vertices with the numbers ids, at the sources (out) or the destinations; without types the ids.
func (x *Shard) inType(ids []uint32, out bool) []uint32 {
	if x.ends == nil {
		return ids
	}
	end, list := x.end(out), make([]uint32, len(ids))
	for i, n := range ids {
		list[i] = end.vertex(n)
	}
	return list
}
