package pattern

import (
	"cmp"
	"slices"
)

// Times is a multiple of a pattern's maps.
type Times struct {
	Times   int64
	Pattern Pattern // canonical
}

// Injective writes the number of injective maps of p to any graph as a sum. A map keeps
// edges, and an injective one sends different vertices to different ones; p has as many as
// its subgraphs times its automorphisms. Every map is an injective one of the quotient in
// which vertices that go to the same one are the same, so injective(p) = maps(p) less
// injective(q) of all proper quotients q. They are taken apart in the same way as long as
// countable says that their maps, too, can be counted; rest are injective maps of the others.
// p has edges only.
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

// quotients calls yield with every proper quotient of p: its vertices are the parts of a
// partition into sets without an edge inside, and two are neighbours if some of theirs are.
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

// merge is the quotient by the parts that vertices are in.
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
