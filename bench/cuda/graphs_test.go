package cuda

import (
	"math/rand/v2"
	"slices"

	"sagann/dataset"
)

// A csr is a graph as a list of sources for each destination.
type csr struct {
	name       string
	ptr, other []uint32
}

// drawCSR draws edges with uniform ends or, if skewed, with ends whose probability is
// proportional to r^-½ for the vertex of rank r. With 233,000 vertices and 23.2 million edges
// the first vertex has about 48,000 edges. Ranks are in random order.
func drawCSR(name string, vertices, edges int, skewed bool) *csr {
	r := rand.New(rand.NewPCG(1, 2))
	perm := r.Perm(vertices)
	end := func() uint32 {
		u := r.Float64()
		if !skewed {
			return uint32(u * float64(vertices))
		}
		return uint32(perm[int(u*u*float64(vertices))])
	}
	g := &csr{name: name, ptr: make([]uint32, vertices+1), other: make([]uint32, edges)}
	dst := make([]uint32, edges)
	for i := range dst {
		dst[i] = end()
		g.ptr[dst[i]+1]++
	}
	for v := range vertices {
		g.ptr[v+1] += g.ptr[v]
	}
	next := slices.Clone(g.ptr)
	for _, d := range dst {
		g.other[next[d]] = end()
		next[d]++
	}
	return g
}

// sparseSpec is a graph whose features are mostly zero.
type sparseSpec struct {
	vertices, edges, columns, filled int // filled: columns drawn for each row; repeated ones count once
}

// words makes the graph. Low columns occur in most rows, like frequent words: column c of n is
// drawn with probability √((c+1)/n) - √(c/n).
func (s sparseSpec) words() (*dataset.Data, error) {
	spec := dataset.DefaultSpec()
	spec.Vertices, spec.Edges, spec.Features, spec.Classes = s.vertices, s.edges, 1, 10
	d, err := dataset.Synthetic(spec)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(3, 4))
	rows := &dataset.SparseRows{Ptr: make([]int64, 1, s.vertices+1)}
	ids := make([]uint32, s.filled)
	for range s.vertices {
		for i := range ids {
			u := r.Float64()
			ids[i] = uint32(u * u * float64(s.columns))
		}
		slices.Sort(ids)
		distinct := slices.Compact(slices.Clone(ids))
		rows.Cols = append(rows.Cols, distinct...)
		for range distinct {
			rows.Vals = append(rows.Vals, (0.5+r.Float32())/float32(s.filled))
		}
		rows.Ptr = append(rows.Ptr, int64(len(rows.Cols)))
	}
	return d, d.SetSparse(rows, s.columns)
}
