package pattern

import (
	"cmp"
	"slices"
)

// Times is a term of a sum: a factor times the number of maps of a pattern.
type Times struct {
	Times   int64
	Pattern Pattern // canonical
}

// Injective writes the number of injective maps of p into any graph as a sum: of numbers of maps,
// and of numbers of injective maps (rest). p has edges only, no labels or marks.
//
// A map (graph homomorphism) sends edges to edges. An injective map also sends different vertices
// to different vertices. The number of injective maps is the number of subgraphs times that of
// automorphisms. Merge the vertices of p that a map sends to the same vertex: the map is then an
// injective map of this quotient of p. So injective(p) = maps(p) - Σ injective(q) over all proper
// quotients q. Injective replaces injective(q) by the same rule wherever countable(q) says that
// maps of q can be counted; the other injective(q) go to rest.
func (p Pattern) Injective(countable func(Pattern) bool) (maps, rest []Times) {
	canonical := map[Pattern]Pattern{}
	times := map[Pattern]int64{p.Canonical(): 1}
	for n := p.n; n > 0; n-- {
		var now []Pattern
		for q := range times {
			if q.n == n && times[q] != 0 {
				now = append(now, q)
			}
		}
		slices.SortFunc(now, func(a, b Pattern) int { return cmp.Compare(a.String(), b.String()) })
		for _, q := range now {
			if !countable(q) {
				rest = append(rest, Times{times[q], q})
				continue
			}
			maps = append(maps, Times{times[q], q})
			q.quotients(func(s Pattern) {
				c, ok := canonical[s]
				if !ok {
					c = s.Canonical()
					canonical[s] = c
				}
				times[c] -= times[q]
			})
		}
	}
	return maps, rest
}

// quotients calls yield with every proper quotient of p. The vertices of a quotient are the parts
// of a partition of p's vertices into sets without an edge inside. Two parts are adjacent if some
// edge of p joins them.
func (p Pattern) quotients(yield func(Pattern)) {
	var part [MaxVertices]int
	var grow func(i, parts int)
	grow = func(i, parts int) {
		if i == p.n {
			if parts < p.n {
				yield(p.merge(&part, parts))
			}
			return
		}
	next:
		for k := range parts + 1 {
			for j := range i {
				if part[j] == k && p.Adjacent(i, j) {
					continue next
				}
			}
			part[i] = k
			grow(i+1, max(parts, k+1))
		}
	}
	grow(0, 0)
}

// merge is the quotient in which vertex i becomes vertex part[i].
func (p Pattern) merge(part *[MaxVertices]int, parts int) Pattern {
	q := New(parts)
	for i := range p.n {
		for j := range i {
			if p.Adjacent(i, j) {
				q = q.WithEdge(part[i], part[j])
			}
		}
	}
	return q
}
