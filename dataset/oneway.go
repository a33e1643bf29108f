package dataset

import (
	"runtime"

	"sagann/chunk"
)

// lookedAt is how many edges LookAtEdges looks up. If one in a thousand edges has its reverse, the chance to miss all
// of them is below 2 %.
const lookedAt = 4096

// EdgeLook is what some edges of a graph show: a sample, or all of them if there are fewer than a few thousand.
type EdgeLook struct {
	Looked   int // edges looked up that are not self loops
	Reversed int // those of them whose reverses are edges, too
	Repeated int // those of them that stand in the graph more than once
}

// OneWay reports whether it looks as if no edge has its reverse, as in a file that lists each undirected edge once.
func (l EdgeLook) OneWay() bool { return l.Looked > 0 && l.Reversed == 0 }

// LookAtEdges looks up about 4096 edges of e, evenly spread.
func LookAtEdges(e *chunk.Edges) (l EdgeLook) {
	type pair [2]uint32
	step := max(1, e.E()/lookedAt)
	places := map[pair]struct{}{} // the edges looked up
	wanted := make([]uint64, (e.V+63)/64)
	for i := 0; i < e.E(); i += step {
		if u, v := e.Src[i], e.Dst[i]; u != v {
			places[pair{u, v}] = struct{}{}
			wanted[u/64] |= 1 << (u % 64)
			wanted[v/64] |= 1 << (v % 64)
		}
	}
	parts := runtime.GOMAXPROCS(0)
	counts := make([]map[pair]int, parts) // of edges and of their reverses, in each part of the list
	chunk.Each(parts, func(p int) {
		counts[p] = map[pair]int{}
		for i := p * e.E() / parts; i < (p+1)*e.E()/parts; i++ {
			u, v := e.Src[i], e.Dst[i]
			if wanted[u/64]&(1<<(u%64)) == 0 || wanted[v/64]&(1<<(v%64)) == 0 {
				continue
			}
			_, is := places[pair{u, v}]
			if _, back := places[pair{v, u}]; is || back {
				counts[p][pair{u, v}]++
			}
		}
	})
	all := map[pair]int{}
	for _, some := range counts {
		for p, n := range some {
			all[p] += n
		}
	}
	for p := range places {
		l.Looked++
		if all[pair{p[1], p[0]}] > 0 {
			l.Reversed++
		}
		if all[p] > 1 {
			l.Repeated++
		}
	}
	return l
}
