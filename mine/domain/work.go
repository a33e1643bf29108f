package domain

import (
	"context"
	"math"
	"math/rand/v2"
	"sort"
	"time"

	"sagann/mine/rows"
	"sagann/mine/run"
)

// The seconds that a census takes on the thread of plan.Core for a pair and for three types at a vertex, for a type that is added to those at the far end of an
// edge, for a path, for a counter in a map, and for a pattern.
const (
	pairRate    = 7e-9
	threeRate   = 5.3e-9
	farRate     = 2.3e-9
	pathRate    = 3.5e-9
	mapRate     = 1.5e-7
	patternRate = 1.5e-6
)

// CensusSeconds is how long a census of g of up to so many edges and vertices is expected to take on one thread of this machine: stars and paths as there are types of
// neighbours, triangles as finding those of some vertices takes now. ordered is the same graph by degree.
func CensusSeconds(ctx context.Context, g *Graph, ordered *rows.Rows, kinds *rows.Kinds, edges, vertices int, seed uint64) (seconds float64, err error) {
	most := mostOf(g, edges, vertices)
	near, types := typesOf(g)
	pairs, threes, far, paths := 0.0, 0.0, 0.0, 0.0
	for _, l := range near {
		for _, n := range l {
			t := float64(n)
			pairs += t * (t + 1) / 2
			threes += t * (t + 1) * (t + 2) / 6
		}
	}
	if edges > 2 && vertices > 3 {
		far, paths = pathsOf(g, near, types)
	} else {
		threes = 0
	}
	patterns := float64(len(g.Edges)) + met(most.wedges, pairs) + met(most.stars, threes) + met(most.paths, paths)
	if types > mostSums/max(types, 1) {
		seconds = mapRate * (threes + paths)
	}
	seconds += pairRate*pairs + threeRate*threes + farRate*far + pathRate*paths
	if edges > 2 {
		taken, each, err := timeTriangles(ctx, g, ordered, kinds, seed)
		if err != nil {
			return 0, err
		}
		patterns += met(most.triangles, each)
		return (seconds+patternRate*patterns)*run.Speed() + taken, nil
	}
	return (seconds + patternRate*patterns) * run.Speed(), nil
}

// met is how many of so many patterns are expected to be met when one is met so often.
func met(patterns run.Total, times float64) float64 {
	n, _ := patterns.Big().Float64()
	return n * -math.Expm1(-times/max(n, 1))
}

// typesOf is, by label and vertex, how many types of neighbours there are, and how many types in all.
func typesOf(g *Graph) (near [][]uint32, types int) {
	seen := map[endType]bool{}
	near = make([][]uint32, len(g.Labels))
	for i := range near {
		near[i] = make([]uint32, len(g.Labels[i].Vertices))
	}
	for key, a := range g.arcs {
		seen[endType{key.kind, key.to}] = true
		for x := range a.set().All() {
			near[key.from][x]++
		}
	}
	return near, len(seen)
}

// pathsOf is how many types are added up at the far ends of middle edges, and how many pairs of a type at a vertex and one of those at the far ends.
func pathsOf(g *Graph, near [][]uint32, types int) (far, paths float64) {
	for key, a := range g.arcs {
		if key.from > key.to {
			continue
		}
		k := 0
		for x := range a.set().All() {
			sum := 0.0
			for _, y := range a.col[a.off[k]:a.off[k+1]] {
				sum += float64(near[key.to][y])
			}
			k++
			far += sum
			paths += float64(near[key.from][x]) * float64(types) * -math.Expm1(-sum/float64(types))
		}
	}
	return far, paths
}

// The sample of timeTriangles: vertices, the time in which the first pass ends, and passes.
const (
	triangleRoots  = 1 << 12
	triangleTime   = 20 * time.Millisecond
	trianglePasses = 4
)

// timeTriangles is the seconds that finding all triangles is expected to take, and how many there are, by those from the first ends of random edges. Of each end
// the least time counts: what is more was spent waiting for a processor.
func timeTriangles(ctx context.Context, g *Graph, r *rows.Rows, kinds *rows.Kinds, seed uint64) (seconds, triangles float64, err error) {
	if r.Edges() == 0 {
		return 0, 0, nil
	}
	t := finding{rows: r, index: indexOf(g, r), kinds: kinds, found: map[corners]uint64{}, count: make([]uint32, len(g.Labels)), meter: run.NewMeter(0)}
	d := rand.New(rand.NewPCG(seed, 0))
	var roots []uint32
	var least []float64
	for pass := range trianglePasses {
		begun := time.Now()
		for i := 0; i == 0 || pass == 0 && i < triangleRoots && time.Since(begun) < triangleTime || pass > 0 && i < len(roots); i++ {
			if pass == 0 {
				at := d.Int64N(int64(len(r.Col)))
				u := uint32(sort.Search(r.V(), func(v int) bool { return r.Off[v+1] > at }))
				roots, least = append(roots, min(u, r.Col[at])), append(least, math.Inf(1))
			}
			from := time.Now()
			t.from(roots[i])
			least[i] = min(least[i], time.Since(from).Seconds())
		}
		if ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
		if pass > 0 {
			continue
		}
		found := 0.0
		for _, n := range t.found {
			found += float64(n)
		}
		above := 0.0
		for _, u := range roots {
			above += float64(len(r.Above(u)))
		}
		triangles = found / above * float64(r.Edges())
	}
	for i, u := range roots {
		seconds += least[i] / float64(len(r.Above(u)))
	}
	return seconds / float64(len(roots)) * float64(r.Edges()), triangles, nil
}
