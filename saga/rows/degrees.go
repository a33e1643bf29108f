package rows

import (
	"fmt"
	"math"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/device"
	"sagann/net"
)

// OfDegrees tells whether input name is made of the edges of a relation, and not of the vertices of a type.
func OfDegrees(name string) bool {
	switch name {
	case dataflow.InDegree, dataflow.OutDegree, InvDegree, RsqrtDegree, RsqrtOutDegree, RsqrtWeight:
		return true
	}
	return false
}

// ofInDegrees tells whether input name is made of in-degrees.
func ofInDegrees(name string) bool {
	return name == dataflow.InDegree || name == InvDegree || name == RsqrtDegree
}

// degreeSource are the inputs that are made of the degrees of vertices, or of the weights of their edges.
func (in *Inputs) degreeSource(name string) (Source, error) {
	if in.Whole != nil && OfDegrees(name) && !ofInDegrees(name) {
		whole, err := in.Whole()
		if err != nil {
			return Source{}, err
		}
		return whole.degreeSource(name)
	}
	var of func(degree uint32) float32
	switch name {
	case RsqrtWeight:
		return in.rsqrtWeights()
	case dataflow.InDegree, dataflow.OutDegree:
		of = func(n uint32) float32 { return float32(n) }
	case InvDegree:
		of = func(n uint32) float32 { return 1 / float32(max(n, 1)) }
	case RsqrtDegree, RsqrtOutDegree:
		of = func(n uint32) float32 {
			if n == 0 {
				return 0
			}
			return float32(1 / math.Sqrt(float64(n)))
		}
	default:
		return Source{}, fmt.Errorf("saga: no vertex input %q", name)
	}
	deg, err := in.degrees(name == dataflow.OutDegree || name == RsqrtOutDegree)
	return Source{One: func(v int) float32 { return of(deg[v]) }}, err
}

// rsqrtWeights are the inverse square roots of the sums of weights of in-edges, 0 where a sum is 0.
func (in *Inputs) rsqrtWeights() (Source, error) {
	sums, err := in.inWeights()
	if err != nil {
		return Source{}, err
	}
	for v, x := range sums {
		if x < 0 {
			return Source{}, fmt.Errorf("saga: the weights of the edges into vertex %s of %s add up to %v, which has no square root to normalise by", in.Data.ID(v), in.Data.Name, float32(x))
		}
	}
	return Source{One: func(v int) float32 {
		if sums[v] == 0 {
			return 0
		}
		return float32(1 / math.Sqrt(sums[v]))
	}}, nil
}

// degrees are the in-degrees, or with out the out-degrees, of all vertices. Of shards they are right only for
// the rank's own vertices, unless they were shared.
func (in *Inputs) degrees(out bool) ([]uint32, error) {
	switch {
	case in.Degrees != nil && !out:
		return in.Degrees()
	case in.shared[out] != nil:
		return in.shared[out], nil
	case in.Data.Shard != nil:
		return in.Data.Shard.Degrees(out)
	case out:
		return in.Edges.OutDegrees(), nil
	}
	return in.Edges.InDegrees(), nil
}

// inWeights are the sums of the weights of the in-edges of all vertices. Of shards they are right only for the rank's own
// vertices, unless they were shared.
func (in *Inputs) inWeights() ([]float64, error) {
	if in.sums != nil {
		return in.sums, nil
	}
	sums := make([]float64, in.Edges.V)
	if x := in.Data.Shard; x == nil {
		in.Edges.AddInWeights(sums)
	} else if err := x.AddInWeights(sums, in.oneLoop); err != nil {
		return nil, err
	}
	return sums, nil
}

// EdgeCount is the number of edges of the whole graph, as the model sees them.
func (in *Inputs) EdgeCount() int {
	if x := in.Data.Shard; x != nil {
		return x.E
	}
	return in.Edges.E()
}

// ShardErr is the error, if any, of reading features from a shard.
func (in *Inputs) ShardErr() error {
	if in.Data.Shard == nil {
		return nil
	}
	return in.Data.Shard.Err()
}

// ShardEdges are the edges into the rank's vertices, or with out those out of them, of data in shards; nil: none.
func (in *Inputs) ShardEdges(out bool) (*chunk.Edges, error) {
	e, err := in.Data.Shard.Edges(out)
	if e != nil && in.oneLoop {
		e = e.OneLoop()
	}
	return e, err
}

// Share gives all ranks of g the degrees and the sums of weights of all vertices of data in shards, as far as inputs
// that are read need them. All ranks call it.
func (in *Inputs) Share(g *net.Group, reads func(name string) bool) error {
	for _, c := range []struct {
		name string
		out  bool
	}{{RsqrtDegree, false}, {dataflow.OutDegree, true}} {
		if !reads(c.name) {
			continue
		}
		all, err := in.Data.Shard.Degrees(c.out)
		if err = shareVertices(in, g, all, err); err != nil {
			return err
		}
		if in.shared == nil {
			in.shared = map[bool][]uint32{}
		}
		in.shared[c.out] = all
	}
	if !reads(RsqrtWeight) {
		return nil
	}
	all, err := in.inWeights()
	err = shareVertices(in, g, all, err)
	in.sums = all
	return err
}

// shareVertices has each rank give the others its values in all, which has one for every vertex. If a rank has an error,
// every rank returns one. All ranks call it.
func shareVertices[T uint32 | float64](in *Inputs, g *net.Group, all []T, err error) error {
	x := in.Data.Shard
	if err := g.Agree("degrees", err); err != nil {
		return err
	}
	for r := range g.Ranks() {
		var mine []T
		x.EachVertex(r, func(v uint32) { mine = append(mine, all[v]) })
		if err := g.Bcast("degrees", device.Bytes(mine), r); err != nil {
			return err
		}
		i := 0
		x.EachVertex(r, func(v uint32) { all[v], i = mine[i], i+1 })
	}
	return nil
}
