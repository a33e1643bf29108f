package sample

// filter is a set of vertices by the last bits of their ids: it may tell of others, too, that it has them. Its bits lie in a processor's first
// caches, where a table by vertex does not, and most edges of a graph lead from vertices that a batch does not have.
type filter struct {
	bits []uint64 // all 0 while the set is empty
	mask uint32
}

// perMember is how many bits a set has for each of its vertices, so of 64 others it tells of one.
const perMember = 64

// room makes room for a set of n vertices of a graph of so many. The set must be empty.
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

// clear takes vertices out, which are all that there are.
func (f *filter) clear(vertices ...uint32) {
	for _, v := range vertices {
		f.bits[v&f.mask>>6] = 0
	}
}

// edges adds to list the places, among all edges of g, of those into v from vertices of the set, whose numbers are not 0.
func (f *filter) edges(list []int64, g *Graph, v uint32, numbers []int32) []int64 {
	lo, bits, mask := g.Offsets[v], f.bits, f.mask
	for i, u := range g.Far[lo:g.Offsets[v+1]] {
		if bits[u&mask>>6]>>(u&63)&1 != 0 && numbers[u] != 0 {
			list = append(list, lo+int64(i))
		}
	}
	return list
}
