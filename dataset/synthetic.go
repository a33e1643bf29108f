package dataset

import (
	"fmt"
	"math/rand/v2"

	"sagann/chunk"
)

// Streams of the random generator. Each part of a graph has its own stream, so that, for example, another
// feature width does not change the edges.
const (
	labelStream = iota + 1
	edgeStream
	featureStream
	splitStream
)

func (s *Spec) stream(n uint64) *rand.Rand { return rand.New(rand.NewPCG(s.Seed, n)) }

// Edges and feature rows are drawn in blocks on all processors, each block from a stream of its own. So
// the graph does not depend on the number of processors. Changing the sizes of blocks changes
// the graph of a seed.
const (
	blockEdges = 1 << 20 // even, so that both directions of an edge are in one block
	blockRows  = 1 << 15
)

// eachBlock cuts 0..n-1 into blocks of size size and calls f for each. The first block draws from the
// stream itself, the others from streams that are hashes of it and their number.
func (s *Spec) eachBlock(stream uint64, n, size int, f func(r *rand.Rand, lo, hi int)) {
	chunk.Each((n+size-1)/size, func(b int) {
		of := stream
		if b > 0 {
			of = mix(stream | uint64(b)<<8)
		}
		f(s.stream(of), b*size, min((b+1)*size, n))
	})
}

// mix is a bijective hash of 64 bits: flipping a bit of x flips about half of the result's bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Synthetic generates a graph with features, labels and a random 50/25/25 split, on
// all processors. Equal specs give equal data. A community graph is a
// degree-corrected planted partition. Both directions of an edge are stored one after
// the other (with an odd number of edges the last one has no reverse). It has no self
// loops but may repeat edges. An R-MAT graph is directed.
//
// Beside the result it takes 4 bytes a vertex, 5 more for the split and, with Skew, 48 more.
func Synthetic(s Spec) (*Data, error) {
	d, err := SyntheticLate(s)
	if err == nil {
		d.HoldFeatures()
	}
	return d, err
}

// SyntheticLate is Synthetic with features that are made when they are laid out
// (Data.Late.Make). The numbers are the same.
func SyntheticLate(s Spec) (*Data, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("synthetic graph: %w", err)
	}
	var d *Data
	parts := &Data{Edges: &chunk.Edges{V: s.Vertices}}
	chunk.Each(2, func(i int) { // drawing the split runs on one processor, so it runs beside all else
		if i == 0 {
			parts.split(VertexLabels, 0.5, 0.25, s.stream(splitStream))
		} else {
			d = s.graph()
		}
	})
	d.Train, d.Val, d.Test = parts.Train, parts.Val, parts.Test
	if s.Copies > 1 {
		d = copies(d, s.Copies)
	}
	return d, nil
}

// graph generates one copy, without its split.
func (s *Spec) graph() *Data {
	d := &Data{Name: "synthetic", FeatureCols: s.Features, Classes: s.Classes}
	at := s.places()
	if s.Kind == RMAT {
		d.Name = "rmat"
		d.Labels = s.label(at, func(place int) int { return place * s.Classes / s.Vertices })
		d.Edges = rmatGraph(s, at)
	} else {
		d.Labels = s.label(at, func(place int) int { return place % s.Classes })
		d.Edges = communityGraph(s, at, d.Labels)
	}
	labels := d.Labels
	d.Late.Make = func(row func(v int) []float32) { communityFeatures(s, labels, row) }
	return d
}

// HoldFeatures makes the features now, if Late.Make would make them later, and sets Features. There are none in Late then.
func (d *Data) HoldFeatures() {
	if d.Features != nil || d.Late.Make == nil {
		return
	}
	x := make([]float32, d.Edges.V*d.FeatureCols)
	d.Late.Make(func(v int) []float32 { return x[v*d.FeatureCols : (v+1)*d.FeatureCols] })
	d.Features, d.Late = x, LateFeatures{}
}

// places is a random order: the vertex at each place. The community and the rank of a vertex follow from
// its place.
func (s *Spec) places() []uint32 {
	at := chunk.Identity(s.Vertices).New
	s.stream(labelStream).Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
	return at
}

func (s *Spec) label(at []uint32, class func(place int) int) []int32 {
	labels := make([]int32, len(at))
	chunk.Ranges(len(at), func(lo, hi int) {
		for place := lo; place < hi; place++ {
			labels[at[place]] = int32(class(place))
		}
	})
	return labels
}

// copies repeats a graph n times; vertex v of copy c is v + c·V.
func copies(d *Data, n int) *Data {
	v := uint32(d.Edges.V)
	shifted := func(ids []uint32) []uint32 {
		out := make([]uint32, n*len(ids))
		for c := range n {
			to := out[c*len(ids) : (c+1)*len(ids)]
			chunk.Ranges(len(ids), func(lo, hi int) {
				for k := lo; k < hi; k++ {
					to[k] = ids[k] + uint32(c)*v
				}
			})
		}
		return out
	}
	return &Data{
		Name:        d.Name,
		Edges:       &chunk.Edges{V: n * d.Edges.V, Src: shifted(d.Edges.Src), Dst: shifted(d.Edges.Dst)},
		FeatureCols: d.FeatureCols,
		Late: LateFeatures{Make: func(row func(v int) []float32) {
			one := make([]float32, d.Edges.V*d.FeatureCols)
			at := func(v int) []float32 { return one[v*d.FeatureCols : (v+1)*d.FeatureCols] }
			d.Late.Make(at)
			chunk.Ranges(d.Edges.V, func(lo, hi int) {
				for v := lo; v < hi; v++ {
					for c := range n {
						copy(row(v+c*d.Edges.V), at(v))
					}
				}
			})
		}},
		Labels:  repeat(d.Labels, n),
		Classes: d.Classes,
		Train:   shifted(d.Train), Val: shifted(d.Val), Test: shifted(d.Test),
	}
}

func repeat[T any](x []T, n int) []T {
	out := make([]T, n*len(x))
	for c := range n {
		to := out[c*len(x) : (c+1)*len(x)]
		chunk.Ranges(len(x), func(lo, hi int) { copy(to[lo:hi], x[lo:hi]) })
	}
	return out
}
