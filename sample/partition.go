package sample

import "fmt"

// partitionPasses is the largest number of passes of Partition over the vertices. It ends earlier when a
// pass moves at most one vertex in a thousand.
const partitionPasses = 40

// Partition divides the vertices into clusters with many edges inside them and about equally many
// vertices: at most a tenth more than the mean, plus one. Element v of the result is the cluster of
// vertex v, from 0 to clusters-1. Partition makes a few passes over the vertices in breadth-first
// order. It puts each vertex into the cluster with the largest number of its neighbours times
// 1 - size/limit (linear deterministic greedy: Stanton and Kliot, "Streaming Graph Partitioning for
// Large Distributed Graphs", 2012; Nishimura and Ugander, "Restreaming Graph Partitioning", 2013). It
// takes 20 bytes per vertex. The result depends only on the graph and the number of clusters, which
// must be from 1 to the number of vertices.
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

// partitioner is the state of Partition.
type partitioner struct {
	g     *Graph
	of    []uint32 // the cluster of each vertex
	size  []int    // number of vertices of each cluster
	most  int      // largest size of a cluster
	moved int      // vertices that the current pass has moved
	open  int      // cluster for vertices without placed neighbours, until it is full
	near  []int32  // number of neighbours of the current vertex by cluster; all 0 between vertices
}

// put puts u into the best cluster.
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
		for p.size[p.open] >= p.most { // ends, as clusters·most is more than the number of vertices
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

// fillEmpty gives each empty cluster a vertex from a cluster that has more than one.
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

// breadthFirst lists all vertices in breadth-first order, component by component.
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
