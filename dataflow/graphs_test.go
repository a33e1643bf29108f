package dataflow_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"sagann/chunk"
)

// Every random graph has three edge types, a weight and two numbers an edge.
const (
	graphTypes    = 3
	graphDataCols = 2
)

// graphSpec determines a random graph.
type graphSpec struct {
	vertices, edges int
	live            int    // the first so many vertices have edges
	extra           string // edges more: a hub "in" or "out", "repeat"ed edges, "loops"; "none"
	seed            uint64
}

// drawGraph draws a directed multigraph of 1 to 24 vertices: self loops, repeated edges,
// isolated vertices and a hub are all likely. Once in a while it is so large that kernels
// work on an interval in several pieces.
func drawGraph(t *rapid.T) graphSpec {
	s := graphSpec{vertices: rapid.IntRange(1, 24).Draw(t, "vertices")}
	if rapid.IntRange(0, 9).Draw(t, "large") == 7 {
		s.vertices = rapid.IntRange(100, 700).Draw(t, "vertices")
	}
	s.edges = rapid.IntRange(0, 4*s.vertices).Draw(t, "edges")
	s.seed = drawSeed(t, "edge seed")
	s.live = rapid.IntRange(1, s.vertices).Draw(t, "vertices with edges")
	s.extra = rapid.SampledFrom([]string{"none", "in", "out", "repeat", "loops"}).Draw(t, "extra")
	return s
}

// graph makes the graph.
func (s graphSpec) graph() *chunk.Edges {
	v, r := s.vertices, newRandom(s.seed, "")
	g := &chunk.Edges{V: v, Types: graphTypes, DataCols: graphDataCols, // not nil without edges
		Type: []uint32{}, Weight: []float32{}, Data: []float32{}}
	add := func(s, d int) { g.Src, g.Dst = append(g.Src, uint32(s)), append(g.Dst, uint32(d)) }
	for range s.edges {
		add(r.IntN(s.live), r.IntN(s.live))
	}
	switch s.extra {
	case "in":
		for range 70 {
			add(r.IntN(v), s.live/2)
		}
	case "out":
		for range 70 {
			add(s.live/2, r.IntN(v))
		}
	case "repeat":
		for i := range s.edges / 2 {
			add(int(g.Src[i]), int(g.Dst[i]))
		}
	case "loops":
		for i := range s.live {
			add(i, i)
		}
	}
	for range g.Src {
		g.Type = append(g.Type, uint32(r.IntN(graphTypes)))
		g.Weight = append(g.Weight, r.number())
		g.Data = append(g.Data, r.number(), r.number())
	}
	return g
}

// ring is a graph of v vertices, each with an edge to the next and one two further on.
func ring(v int) *chunk.Edges {
	g := &chunk.Edges{V: v, Types: graphTypes, DataCols: graphDataCols}
	r := newRandom(1, "ring")
	for i := range 2 * v {
		g.Src, g.Dst = append(g.Src, uint32(i%v)), append(g.Dst, uint32((i+1+i/v)%v))
		g.Type, g.Weight = append(g.Type, uint32(i%graphTypes)), append(g.Weight, r.number())
		g.Data = append(g.Data, r.number(), r.number())
	}
	return g
}

// describe prints a graph for the report of a failure.
func describe(g *chunk.Edges) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d vertices, %d edges:", g.V, g.E())
	for e := range g.Src {
		fmt.Fprintf(&b, " %d-%d", g.Src[e], g.Dst[e])
	}
	return b.String()
}

// degrees counts in-edges and out-edges.
func degrees(g *chunk.Edges) (in, out []float32) {
	in, out = make([]float32, g.V), make([]float32, g.V)
	for e := range g.Src {
		in[g.Dst[e]]++
		out[g.Src[e]]++
	}
	return in, out
}
