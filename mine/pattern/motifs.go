package pattern

import (
	"cmp"
	"fmt"
	"slices"
)

// MaxMotif is the largest number of vertices for which Motifs lists all patterns.
const MaxMotif = 6

// Motifs lists the connected patterns of k vertices, 2 to MaxMotif, without labels and
// marks, each once and in canonical form: by number of edges, then by the degrees in
// ascending order, then by text. There are 1, 2, 6, 21 and 112.
func Motifs(k int) ([]Pattern, error) {
	if k < 2 || k > MaxMotif {
		return nil, fmt.Errorf("motifs of %d vertices: the number is 2 to %d", k, MaxMotif)
	}
	all := []Pattern{New(2).WithEdge(0, 1)}
	for n := 3; n <= k; n++ {
		seen := map[Pattern]bool{}
		for _, p := range all {
			// Every connected pattern has a vertex whose removal leaves it connected.
			for around := 1; around < 1<<(n-1); around++ {
				q := p
				q.n = n
				for i := range n - 1 {
					if around>>i&1 == 1 {
						q = q.WithEdge(i, n-1)
					}
				}
				seen[q.Canonical()] = true
			}
		}
		all = all[:0]
		for p := range seen {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(a.Edges(), b.Edges()), slices.Compare(a.degrees(), b.degrees()), cmp.Compare(a.String(), b.String()))
	})
	return all, nil
}

// degrees are the degrees in ascending order.
func (p Pattern) degrees() []int {
	d := make([]int, p.n)
	for i := range d {
		d[i] = p.Degree(i)
	}
	slices.Sort(d)
	return d
}
