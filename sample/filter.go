package sample

// filter is an approximate set of vertices, by the last bits of their ids. It can report vertices that
// are not in the set, but misses none. Its bits fit in the L1 or L2 cache, unlike a table by vertex. It
// pays as the sources of most edges are not in the batch.
type filter struct {
	bits []uint64 // all 0 while the set is empty
	mask uint32
}

// perMember is the number of bits per vertex of the set. So it wrongly reports at most about 1 of 64
// other vertices.
const perMember = 64

// room sizes the set for n of the graph's vertices. The set must be empty.
func (f *filter) room(n, vertices int) {
	bits := 64
	for bits < perMember*n && bits < vertices {
		bits *= 2
	}
	if words := bits / 64; words > len(f.bits) {
		f.bits = make([]uint64, words)
	}
	f.mask = uint32(bits - 1)
}

func (f *filter) add(v uint32) { f.bits[v&f.mask>>6] |= 1 << (v & 63) }

// clear empties the set. vertices must be all its members, over one call or several.
func (f *filter) clear(vertices ...uint32) {
	for _, v := range vertices {
		f.bits[v&f.mask>>6] = 0
	}
}

// edges appends to list the indexes in Graph.Far of the edges into v whose sources are in the set,
// that is, have a number other than 0 in numbers.
func (f *filter) edges(list []int64, g *Graph, v uint32, numbers []int32) []int64 {
	lo, bits, mask := g.Offsets[v], f.bits, f.mask
	for i, u := range g.Far[lo:g.Offsets[v+1]] {
		if bits[u&mask>>6]>>(u&63)&1 != 0 && numbers[u] != 0 {
			list = append(list, lo+int64(i))
		}
	}
	return list
}
