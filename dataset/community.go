package dataset

import (
	"math"
	"math/rand/v2"

	"sagann/chunk"
)

// The difficulty of the generated task. The features of a vertex are its class's centroid, of length
// signal, plus unit noise in every direction: with eight classes, a model that uses only features is
// right in about half of the cases. The share homophily of the edges
// stays inside a community, so the mean over 20 neighbours is nearly always right.
const (
	signal    = 1.4
	homophily = 0.8
)

// communityGraph draws the edges. Class c has the places c, c+Classes, …, so the sizes of
// classes differ by at most one.
func communityGraph(s *Spec, at []uint32, labels []int32) *chunk.Edges {
	all := func(r *rand.Rand) uint32 { return r.Uint32N(uint32(s.Vertices)) }
	inside := func(r *rand.Rand, c int) uint32 { return at[c+s.Classes*r.IntN(s.members(c))] }
	if s.Skew > 0 {
		global, classes := s.tables(at)
		all = global.draw
		inside = func(r *rand.Rand, c int) uint32 { return at[c+s.Classes*int(classes[c].draw(r))] }
	}
	e := &chunk.Edges{V: s.Vertices, Src: make([]uint32, s.Edges), Dst: make([]uint32, s.Edges)}
	s.eachBlock(edgeStream, s.Edges, blockEdges, func(r *rand.Rand, lo, hi int) {
		for k := lo; k < hi; k += 2 {
			u := all(r)
			from := all
			if r.Float64() < homophily {
				c := int(labels[u])
				from = func(r *rand.Rand) uint32 { return inside(r, c) }
			}
			v := otherThan(u, from, r, s.Vertices)
			e.Src[k], e.Dst[k] = u, v
			if k+1 < hi {
				e.Src[k+1], e.Dst[k+1] = v, u
			}
		}
	})
	return e
}

// members is the number of vertices of class c.
func (s *Spec) members(c int) int { return (s.Vertices - c + s.Classes - 1) / s.Classes }

// tables makes the tables that draw in proportion to expected degrees: a vertex from all vertices,
// and for each class a place in that class.
func (s *Spec) tables(at []uint32) (all *alias, classes []*alias) {
	weight := make([]float64, s.Vertices) // by place
	chunk.Ranges(len(weight), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			weight[i] = math.Pow(float64(i+1), -s.Skew)
		}
	})
	classes = make([]*alias, s.Classes)
	chunk.Each(s.Classes+1, func(c int) { // the table of all vertices takes longest, so it is first
		if c--; c < 0 {
			w := make([]float64, s.Vertices)
			for place, v := range at {
				w[v] = weight[place]
			}
			all = newAlias(w)
			return
		}
		w := make([]float64, s.members(c))
		for i := range w {
			w[i] = weight[c+i*s.Classes]
		}
		classes[c] = newAlias(w)
	})
	return all, classes
}

// otherThan draws a vertex that is not u. If 16 draws give u, as in a community of one vertex or with
// a vertex that outweighs all others, it draws uniformly from all other vertices.
func otherThan(u uint32, draw func(*rand.Rand) uint32, r *rand.Rand, vertices int) uint32 {
	for range 16 {
		if v := draw(r); v != u {
			return v
		}
	}
	v := r.Uint32N(uint32(vertices - 1))
	if v >= u {
		v++
	}
	return v
}

// communityFeatures fills the rows with the centroid of each vertex's class plus unit
// noise.
func communityFeatures(s *Spec, labels []int32, to func(v int) []float32) {
	r := s.stream(featureStream)
	center := centroids(s, r)
	s.eachBlock(featureStream, s.Vertices, blockRows, func(block *rand.Rand, lo, hi int) {
		if lo == 0 { // the first block continues the stream that the centroids began
			block = r
		}
		for v := lo; v < hi; v++ {
			row := to(v)
			for k, m := range center[labels[v]] {
				row[k] = float32(signal*m + block.NormFloat64())
			}
		}
	})
}

// centroids are random unit vectors. As many of them as there are dimensions are orthogonal to each
// other.
func centroids(s *Spec, r *rand.Rand) [][]float64 {
	center := make([][]float64, s.Classes)
	for c := range center {
		x := make([]float64, s.Features)
		for k := range x {
			x[k] = r.NormFloat64()
		}
		if c < s.Features {
			for _, y := range center[:c] {
				p := dot(x, y)
				for k := range x {
					x[k] -= p * y[k]
				}
			}
		}
		length := math.Sqrt(dot(x, x))
		for k := range x {
			x[k] /= length
		}
		center[c] = x
	}
	return center
}

func dot(x, y []float64) float64 {
	s := 0.0
	for k := range x {
		s += x[k] * y[k]
	}
	return s
}
