package dataset

import "sagann/chunk"

// lookedAt is how many edges OneWay looks up. If one in a thousand edges has its reverse, the chance to miss all
// of them is below 2 %.
const lookedAt = 4096

// OneWay reports whether it looks as if no edge has its reverse, as in a file that lists each undirected edge once.
// It looks for the reverses of about 4096 edges, evenly spread, that are not self loops. looked is how many
// edges it looked up, 0 if there are only self loops.
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
