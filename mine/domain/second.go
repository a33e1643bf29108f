package domain

import (
	"sagann/mine/lattice"
	"sagann/mine/pattern"
)

// Size is what is known of a size of patterns before it is searched.
type Size struct {
	Candidates int
	Domains    int64   // the most bytes of their domains
	Patterns   int64   // the most bytes of the patterns, if all are frequent
	Vertices   float64 // in the domains that searches begin with, all together
}

// mostSecond is how many frequent edges Second grows; more are sampled.
const mostSecond = 1 << 9

// Second is the size that grows from the frequent edges. Of very many edges it looks at some.
func (g *Graph) Second(q Question) (x Size) {
	level := g.first()
	edges, all := make([]lattice.Edge, len(level)), make([]pattern.Pattern, len(level))
	sizes := make([][2]float64, len(level))
	for i, e := range g.Edges {
		edges[i], all[i] = e.Edge, level[i].Pattern
		for v, s := range level[i].Domains {
			sizes[i][v] = float64(s.len())
		}
	}
	grower, l := lattice.NewGrower(edges, q.Vertices, q.Edges, q.Induced), lattice.NewLevel(all)
	var s lattice.Scratch
	take := min(len(all), mostSecond)
	for i := range take {
		for _, c := range grower.Children(l, i*len(all)/take, &s) {
			x.Candidates++
			x.Patterns += nextBytes + q.keeps(&Found{Pattern: c.Pattern})
			for v := range c.Pattern.Vertices() {
				least, size := int64(-1), 0.0
				for _, p := range c.Parents {
					if v == int(p.Gone) {
						continue
					}
					if n := level[p.Index].Domains[p.To[v]].Bytes(); least < 0 || n < least {
						least = n
					}
					if n := sizes[p.Index][p.To[v]]; size == 0 || n < size {
						size = n
					}
				}
				x.Domains += max(least, 0)
				x.Vertices += size
			}
		}
	}
	if take < len(all) {
		scale := float64(len(all)) / float64(take)
		return Size{int(float64(x.Candidates) * scale), int64(float64(x.Domains) * scale), int64(float64(x.Patterns) * scale), x.Vertices * scale}
	}
	return x
}
