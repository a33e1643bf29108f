package sample

import "fmt"

// partitionPasses is how often Partition goes over the vertices at most; it ends when a pass moves one in a thousand or fewer.
const partitionPasses = 40

// Partition puts the vertices into clusters that have many edges within and about equally many vertices, at most a tenth
// more than the mean: cluster v of the result, from 0 to clusters-1, is that of vertex v. It goes over the vertices,
// breadth first, a few times, and puts each where most of its neighbours are, the less the fuller a cluster is
// (Stanton and Kliot, "Streaming Graph Partitioning for Large Distributed Graphs", 2012; Nishimura and Ugander,
// "Restreaming Graph Partitioning", 2013). It takes 20 bytes a vertex and depends on the graph alone.
func Partition(g *Graph, clusters int) ([]uint32, error) {
	v := g.Vertices()
	if clusters < 1 || clusters > v {
		return nil, fmt.Errorf("%d clusters of %d vertices: from 1 to %[2]d", clusters, v)
	}
	p := &partitioner{g: g, of: make([]uint32, v), size: make([]int, clusters), near: make([]int32, clusters)}
	p.most = v/clusters + v/clusters/10 + 1
	for i := range p.of {
		p.of[i] = NoVertex
	}
	order := breadthFirst(g)
	for range partitionPasses {
		p.open, p.moved = 0, 0
		for _, u := range order {
			p.put(u)
		}
		if p.moved <= v/1000 {
			break
		}
	}
	p.fillEmpty(order)
	return p.of, nil
}

// partitioner is what passes share.
type partitioner struct {
	g     *Graph
	of    []uint32
	size  []int
	most  int // vertices of a cluster
	moved int
	open  int     // the cluster of vertices without neighbours, while it has room
	near  []int32 // neighbours of the vertex in hand, by cluster; zeros in between
}

// put puts u where it fits best.
func (p *partitioner) put(u uint32) {
	old := p.of[u]
	if old != NoVertex {
		p.size[old]--
	}
	far, _ := p.g.row(u)
	best, gain := NoVertex, 0.0
	for _, w := range far {
		c := p.of[w]
		if w == u || c == NoVertex {
			continue
		}
		p.near[c]++
		x := float64(p.near[c]) * (1 - float64(p.size[c])/float64(p.most))
		if p.size[c] < p.most && (best == NoVertex || x > gain || x == gain && c < best) {
			best, gain = c, x
		}
	}
	for _, w := range far {
		if c := p.of[w]; c != NoVertex {
			p.near[c] = 0
		}
	}
	if best == NoVertex {
		for p.size[p.open] >= p.most { // some cluster has room, as all together have
			p.open = (p.open + 1) % len(p.size)
		}
		best = uint32(p.open)
	}
	if best != old {
		p.moved++
	}
	p.of[u] = best
	p.size[best]++
}

// fillEmpty gives clusters without vertices one from the largest.
func (p *partitioner) fillEmpty(order []uint32) {
	next := 0
	for c, n := range p.size {
		for ; n == 0; next++ {
			if from := p.of[order[next]]; p.size[from] > 1 {
				p.size[from]--
				p.of[order[next]], p.size[c], n = uint32(c), 1, 1
			}
		}
	}
}

// breadthFirst lists the vertices so that neighbours come soon after each other.
func breadthFirst(g *Graph) []uint32 {
	list, seen := make([]uint32, 0, g.Vertices()), make([]bool, g.Vertices())
	next := 0
	for v := range seen {
		if !seen[v] {
			seen[v] = true
			list = append(list, uint32(v))
		}
		for ; next < len(list); next++ {
			far, _ := g.row(list[next])
			for _, w := range far {
				if !seen[w] {
					seen[w] = true
					list = append(list, w)
				}
			}
		}
	}
	return list
}
