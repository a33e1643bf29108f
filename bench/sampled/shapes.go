package main

import (
	"fmt"
	"math"

	"sagann/chunk"
	"sagann/dataset"
)

// shapes are the sizes of the graphs in the FastGL paper, and of a small test: vertices, edges in both directions,
// features, classes, training vertices. The paper's products has 200 features.
var shapes = map[string][5]int{
	"reddit":   {232_965, 114_615_892, 602, 41, 153_431},
	"products": {2_449_029, 123_718_280, 200, 47, 196_615},
	"mag":      {10_100_000, 300_000_000, 100, 8, 196_615},
	"papers":   {111_059_956, 1_615_685_872, 128, 172, 1_200_000},
	"tiny":     {20_000, 400_000, 32, 8, 5_000},
}

// graphSizes are the sizes of the graph.
type graphSizes struct {
	vertices, edges, features, classes, train int
	named                                     bool // they are those of a named shape
}

// shape sets the sizes of the graph to those of a named shape.
func (e *epochs) shape(name string) error {
	s, ok := shapes[name]
	if !ok {
		return fmt.Errorf("shape %s: there are mag, papers, products, reddit and tiny", name)
	}
	e.of = graphSizes{s[0], s[1], s[2], s[3], s[4], true}
	return nil
}

// skew is the power with which the ends of edges are drawn: low numbers have the most edges.
const skew = 1.6

// graph draws edges by a power law, each in both directions. The vertices of high degree are scattered over the ids.
func (e *epochs) graph() *dataset.Data {
	v, half := e.of.vertices, e.of.edges/2
	g := &chunk.Edges{V: v, Src: make([]uint32, 2*half), Dst: make([]uint32, 2*half)}
	end := func(r uint64) uint32 {
		x := min(uint64(float64(v)*math.Pow(float64(r>>11)/(1<<53), skew)), uint64(v-1))
		return uint32(x * 2654435761 % uint64(v))
	}
	chunk.Ranges(half, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			a, b := end(mixed(uint64(2*i))), end(mixed(uint64(2*i+1)))
			if e.of.named && a == b { // the real graphs have no self loops; a hub would get dozens here
				b = (b + 1) % uint32(v)
			}
			g.Src[i], g.Dst[i], g.Src[half+i], g.Dst[half+i] = a, b, b, a
		}
	})
	d := &dataset.Data{Name: "a shape", Edges: g, FeatureCols: e.of.features, Classes: e.of.classes, Features: make([]float32, v*e.of.features), Labels: make([]int32, v)}
	chunk.Ranges(v, func(lo, hi int) {
		for i := lo * e.of.features; i < hi*e.of.features; i++ {
			d.Features[i] = float32(mixed(uint64(i)|1<<60)>>40)/(1<<23) - 1
		}
		for i := lo; i < hi; i++ {
			d.Labels[i] = int32(mixed(uint64(i)|1<<61) % uint64(e.of.classes))
		}
	})
	for k := range e.of.train { // training vertices are scattered over the ids
		at, next := uint32(uint64(k)*uint64(v)/uint64(e.of.train)), uint32(uint64(k+1)*uint64(v)/uint64(e.of.train))
		if d.Train = append(d.Train, at); k%4 == 0 && next-at > 2 {
			d.Val, d.Test = append(d.Val, at+1), append(d.Test, at+2)
		}
	}
	return d
}

// mixed is splitmix64.
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
