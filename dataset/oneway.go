package dataset

import "sagann/chunk"

// lookedAt is how many edges OneWay looks up: where one in a thousand has its reverse, the chance to miss all of
// them is below 2 %.
const lookedAt = 4096

// OneWay tells whether no edge has its reverse, as where a file lists each tie once: of the graph's edges between
// two vertices some 4096, evenly spread, are looked up among all; it says how many those were. 0: there is no such edge.
func OneWay(e *chunk.Edges) (looked int, oneWay bool) {
	step := max(1, e.E()/lookedAt)
	wanted := map[[2]uint32]bool{}
	begins := make([]uint64, (e.V+63)/64) // a bit for each vertex at which a wanted edge begins
	for i := 0; i < e.E(); i += step {
		if u, v := e.Src[i], e.Dst[i]; u != v {
			looked++
			wanted[[2]uint32{v, u}] = true
			begins[v/64] |= 1 << (v % 64)
		}
	}
	found := chunk.First(e.E(), func(lo, hi int) int {
		for i := lo; i < hi; i++ {
			if u := e.Src[i]; begins[u/64]&(1<<(u%64)) != 0 && wanted[[2]uint32{u, e.Dst[i]}] {
				return i
			}
		}
		return -1
	})
	return looked, looked > 0 && found < 0
}
