package sampled

import (
	"cmp"
	"fmt"
	"math"

	"sagann/bench/measure"
	"sagann/chunk"
	"sagann/dataset"
)

// graphSizes are the sizes of the graph.
type graphSizes struct {
	vertices, edges, features, classes, train int
	named                                     bool // they are those of --shape
}

// sizes are those of a named shape, of products without one, but for what flags change.
func (g *graphFlags) sizes() (graphSizes, error) {
	s, err := measure.ShapeOf(cmp.Or(g.Shape, "products"))
	if err == nil && !measure.Seeds(s) {
		err = fmt.Errorf("--shape %s: there are %s", g.Shape, measure.Shapes(measure.Seeds))
	}
	return graphSizes{cmp.Or(g.Vertices, s.Vertices), cmp.Or(g.Edges, int(s.Edges)), cmp.Or(g.Features, s.Features), cmp.Or(g.Classes, s.Classes),
		cmp.Or(g.Train, s.Train), g.Shape != ""}, err
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
			a, b := end(measure.Mixed(uint64(2*i))), end(measure.Mixed(uint64(2*i+1)))
			if e.of.named && a == b { // the real graphs have no self loops; a hub would get dozens here
				b = (b + 1) % uint32(v)
			}
			g.Src[i], g.Dst[i], g.Src[half+i], g.Dst[half+i] = a, b, b, a
		}
	})
	d := &dataset.Data{Name: "a shape", Edges: g, FeatureCols: e.of.features, Classes: e.of.classes, Features: make([]float32, v*e.of.features), Labels: make([]int32, v)}
	chunk.Ranges(v, func(lo, hi int) {
		for i := lo * e.of.features; i < hi*e.of.features; i++ {
			d.Features[i] = float32(measure.Mixed(uint64(i)|1<<60)>>40)/(1<<23) - 1
		}
		for i := lo; i < hi; i++ {
			d.Labels[i] = int32(measure.Mixed(uint64(i)|1<<61) % uint64(e.of.classes))
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
