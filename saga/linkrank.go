package saga

import (
	"errors"
	"slices"

	"sagann/chunk"
	"sagann/dataset"
)

// Filtered ranking of links (Bordes et al., 2013): the score of an edge among those of all pairs that have one of its ends, without the pairs
// that are edges themselves.

// RankLinks ranks edges of d by the checkpoint of a LinkTask at path, each twice: rank 2k of edge k is among the pairs from every
// vertex to its target, rank 2k+1 among those from its source to every vertex, of the same type. The vertices are all of the type at that
// end; known pairs are left out. The best rank is 1; of equal scores it is the mean of the places that they share. Errors are those of
// ScoreLinks.
func RankLinks(m Model, d *dataset.Data, c Config, path string, edges, known *dataset.Pairs) ([]float64, error) {
	if edges.Time != nil {
		return nil, errors.New("saga: links by time are not ranked: each sees other edges")
	}
	if err := fitPairs(known, d); err != nil {
		return nil, err
	}
	s, _, err := scorerOf(m, d, c, path, edges)
	if err != nil {
		return nil, err
	}
	return s.ranks(edges, dataset.PairEnds(d), known), nil
}

// ranks are the ranks of edges by RankLinks: sources and targets of pairs are those of ends.
func (s *scorer) ranks(edges *dataset.Pairs, ends [2]dataset.Span, known *dataset.Pairs) []float64 {
	v := len(s.z) / s.c
	filters := [2]*neighbours{neighboursOf(v, known.Dst, known.Src, known.Type), neighboursOf(v, known.Src, known.Dst, known.Type)}
	out := make([]float64, 2*edges.Len())
	chunk.Ranges(len(out), func(lo, hi int) {
		k := s.work()
		skip := make([]uint32, v) // by vertex: 1 + the number of the rank that leaves it out
		for i := lo; i < hi; i++ {
			u, w, typ := edges.Src[i/2], edges.Dst[i/2], typeOf(edges, i/2)
			own, end := w, 0
			if i%2 == 1 {
				own, end = u, 1
			}
			score := func(x uint32) float64 {
				if end == 0 {
					return s.score(x, own, typ, k)
				}
				return s.score(own, x, typ, k)
			}
			f := filters[end]
			for at := f.start[own]; at < f.start[own+1]; at++ {
				if f.types == nil || f.types[at] == typ {
					skip[f.list[at]] = uint32(i) + 1
				}
			}
			is := [2]uint32{u, w}[end]
			mine, above, alike := score(is), 0, 0
			for x := ends[end].First; x < ends[end].End; x++ {
				if x == is || skip[x] == uint32(i)+1 {
					continue
				}
				switch y := score(x); {
				case y > mine:
					above++
				case y == mine:
					alike++
				}
			}
			out[i] = 1 + float64(above) + float64(alike)/2
		}
	})
	return out
}

// neighbours lists, for each vertex, the others of its pairs, with the types of the pairs if they have some.
type neighbours struct {
	start       []int
	list, types []uint32
}

func neighboursOf(v int, from, to, types []uint32) *neighbours {
	n := &neighbours{start: make([]int, v+1), list: make([]uint32, len(to)), types: slices.Clone(types)}
	for _, u := range from {
		n.start[u+1]++
	}
	for i := range v {
		n.start[i+1] += n.start[i]
	}
	at := slices.Clone(n.start)
	for k, u := range from {
		if n.list[at[u]] = to[k]; types != nil {
			n.types[at[u]] = types[k]
		}
		at[u]++
	}
	return n
}
