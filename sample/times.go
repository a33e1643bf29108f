package sample

import (
	"cmp"
	"math"
	"slices"

	"sagann/chunk"
)

// sortTimes copies the times of edges into the rows, and sorts the places of each row by time, then by edge number.
func (g *Graph) sortTimes(e *chunk.Edges) {
	if e.Time == nil {
		return
	}
	g.Time, g.byTime, g.first = make([]float64, e.E()), make([]uint32, e.E()), math.Inf(1)
	for _, x := range e.Time {
		if !math.IsInf(x, -1) {
			g.first = min(g.first, x)
		}
	}
	chunk.Ranges(e.V, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			from, to := g.Offsets[v], g.Offsets[v+1]
			times, places, edges := g.Time[from:to], g.byTime[from:to], g.Edge[from:to]
			for i, k := range edges {
				times[i], places[i] = e.Time[k], uint32(i)
			}
			slices.SortFunc(places, func(a, b uint32) int {
				return cmp.Or(cmp.Compare(times[a], times[b]), cmp.Compare(edges[a], edges[b]))
			})
		}
	})
}

// past are the places of the row of v with times up to one, in the order of their times.
func (g *Graph) past(v uint32, until float64) []uint32 {
	from, to := g.Offsets[v], g.Offsets[v+1]
	times, places := g.Time[from:to], g.byTime[from:to]
	n, _ := slices.BinarySearchFunc(places, until, func(i uint32, t float64) int {
		if times[i] <= t {
			return -1
		}
		return 1
	})
	return places[:n]
}

// timeOf is the time of the edge at index i of Far, from the earliest time of the graph on; 0 for edges that are always there, and without times.
func (g *Graph) timeOf(i int64) float32 {
	if g.Time == nil || math.IsInf(g.Time[i], -1) {
		return 0
	}
	return float32(g.Time[i] - g.first)
}

// numberOf is number k of the data of the edge at index i of Far.
func (g *Graph) numberOf(i, k int64) float32 { return g.data[int64(g.Edge[i])*int64(g.cols)+k] }
