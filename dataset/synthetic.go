package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"sagann/chunk"
)

// How hard the generated task is. Features are a class centroid of length signal
// under unit noise in every direction: a model of the features alone is right in
// about half of the cases with eight classes. A share of homophily of the edges
// stays inside a community, so the mean over 20 neighbours is nearly always right.
const (
	signal    = 1.4
	homophily = 0.8
)

// Streams of the generator: each part of a graph has its own, so that another
// feature width leaves the edges as they are.
const (
	labelStream = iota + 1
	edgeStream
	featureStream
	splitStream
)

func (s *Spec) stream(n uint64) *rand.Rand { return rand.New(rand.NewPCG(s.Seed, n)) }

// Synthetic generates a graph with features, labels and a random 50/25/25 split.
// Equal specs give equal data. A community graph is a degree-corrected planted
// partition whose edges are stored both ways, one after the other (with an odd
// number of edges the last stands alone); it has no self loops but may repeat
// edges. An R-MAT graph is directed.
func Synthetic(s Spec) (*Data, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("synthetic graph: %w", err)
	}
	d := &Data{Name: "synthetic", FeatureCols: s.Features, Classes: s.Classes}
	if s.Kind == RMAT {
		d.Name = "rmat"
		d.Edges, d.Labels = rmatGraph(&s)
	} else {
		d.Edges, d.Labels = communityGraph(&s)
	}
	d.Features = communityFeatures(&s, d.Labels)
	d.split(VertexLabels, 0.5, 0.25, s.stream(splitStream))
	if s.Copies > 1 {
		d = copies(d, s.Copies)
	}
	return d, nil
}

// communityGraph draws the labels, equal in number up to one, and the edges.
func communityGraph(s *Spec) (*chunk.Edges, []int32) {
	r := s.stream(labelStream)
	order := r.Perm(s.Vertices) // the vertex at each place: community and rank follow from the place
	labels := make([]int32, s.Vertices)
	members := make([][]uint32, s.Classes)
	for place, v := range order {
		c := place % s.Classes
		labels[v] = int32(c)
		members[c] = append(members[c], uint32(v))
	}
	var all func(*rand.Rand) uint32
	inside := make([]func(*rand.Rand) uint32, s.Classes)
	if s.Skew == 0 {
		all = func(r *rand.Rand) uint32 { return r.Uint32N(uint32(s.Vertices)) }
		for c, m := range members {
			inside[c] = func(r *rand.Rand) uint32 { return m[r.IntN(len(m))] }
		}
	} else {
		weight := make([]float64, s.Vertices)
		for place, v := range order {
			weight[v] = math.Pow(float64(place+1), -s.Skew)
		}
		global := newAlias(weight)
		all = global.draw
		for c, m := range members {
			w := make([]float64, len(m))
			for i, v := range m {
				w[i] = weight[v]
			}
			table := newAlias(w)
			inside[c] = func(r *rand.Rand) uint32 { return m[table.draw(r)] }
		}
	}

	r = s.stream(edgeStream)
	e := &chunk.Edges{V: s.Vertices, Src: make([]uint32, s.Edges), Dst: make([]uint32, s.Edges)}
	for k := 0; k < s.Edges; k += 2 {
		u := all(r)
		from := all
		if r.Float64() < homophily {
			from = inside[labels[u]]
		}
		v := otherThan(u, from, r, s.Vertices)
		e.Src[k], e.Dst[k] = u, v
		if k+1 < s.Edges {
			e.Src[k+1], e.Dst[k+1] = v, u
		}
	}
	return e, labels
}

// otherThan draws until it is not u; a community of one vertex, or one that
// outweighs all others, must not hold it up, so it ends with a uniform draw.
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

// communityFeatures is the centroid of each vertex's class plus unit noise.
func communityFeatures(s *Spec, labels []int32) []float32 {
	r := s.stream(featureStream)
	center := centroids(s, r)
	x := make([]float32, s.Vertices*s.Features)
	for v, c := range labels {
		row := x[v*s.Features : (v+1)*s.Features]
		for k, m := range center[c] {
			row[k] = float32(signal*m + r.NormFloat64())
		}
	}
	return x
}

// centroids are random directions of length 1, at right angles to each other as
// long as there are dimensions left.
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

// copies repeats a graph n times; vertex v of copy c is v + c·V.
func copies(d *Data, n int) *Data {
	v := uint32(d.Edges.V)
	shifted := func(ids []uint32) []uint32 {
		out := make([]uint32, 0, n*len(ids))
		for c := range uint32(n) {
			for _, id := range ids {
				out = append(out, id+c*v)
			}
		}
		return out
	}
	return &Data{
		Name:        d.Name,
		Edges:       &chunk.Edges{V: n * d.Edges.V, Src: shifted(d.Edges.Src), Dst: shifted(d.Edges.Dst)},
		Features:    slices.Repeat(d.Features, n),
		FeatureCols: d.FeatureCols,
		Labels:      slices.Repeat(d.Labels, n),
		Classes:     d.Classes,
		Train:       shifted(d.Train), Val: shifted(d.Val), Test: shifted(d.Test),
	}
}
