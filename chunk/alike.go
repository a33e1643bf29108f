package chunk

import (
	"slices"
	"sync/atomic"
)

// Rows that share a warp of a GPU wait for the longest of them, and a kernel for the last
// of its rows. So, inside an interval, the vertices of very many edges come first, and the
// others are sorted by degree in windows of the user's order (a sorting scope, as SELL-C-σ
// has it): in-degrees, which gathers forward follow, fall over a window, out-degrees, which
// gathers backward follow, over short runs of it. On a symmetric graph they are the same.
// Beyond a window the user's locality survives.

const (
	alikeWindow = 1024 // vertices; more of them make rows hardly more alike
	alikeRun    = 64   // vertices, so that both directions have rows alike
	// Vertices are heavy that have more edges one way than heavyFactor times the mean, and
	// than heavyCell in each of an interval's cells.
	heavyFactor = 2
	heavyCell   = 8
	// unevenMost bounds degrees whose squares are summed.
	unevenMost = 1 << 20
)

// uneven tells whether degrees say how many edges rows have in one of p cells: at least a
// quarter of the variance there is theirs, the rest is chance. Where most is chance, as in
// large grids of uniform graphs, or all rows are alike, as in meshes, sorting is for nothing.
func (b *bothWays) uneven(p int) bool {
	return slices.ContainsFunc([][]uint32{b.in, b.out}, func(degree []uint32) bool {
		var squares atomic.Uint64
		Ranges(len(degree), func(lo, hi int) {
			sum := uint64(0)
			for _, n := range degree[lo:hi] {
				n := uint64(min(n, unevenMost))
				sum += n * n
			}
			squares.Add(sum)
		})
		v := float64(max(1, len(degree)))
		mean := float64(b.edges) / v
		return mean > 0 && 3*(float64(squares.Load())/v-mean*mean) >= float64(p)*mean
	})
}

// heavyFirst cuts each part i in two: 2i for the heavy vertices, 2i+1 for the others.
func (b *bothWays) heavyFirst(part []uint16, p int) {
	limit := uint32(min(unevenMost, max(heavyFactor*b.edges/max(1, len(part)), heavyCell*p)))
	Ranges(len(part), func(lo, hi int) {
		for v := lo; v < hi; v++ {
			part[v] *= 2
			if max(b.in[v], b.out[v]) <= limit {
				part[v]++
			}
		}
	})
}

// alike sorts the parts of o that begin at starts, heavy and light in turn: the heavy as a
// whole, the light by windows.
func (b *bothWays) alike(o *Order, starts []int) {
	var windows []int // their first new ids
	for i, lo := range starts[:len(starts)-1] {
		hi, step := starts[i+1], alikeWindow
		if i%2 == 0 {
			step = max(1, hi-lo)
		}
		for ; lo < hi; lo += step {
			windows = append(windows, lo)
		}
	}
	windows = append(windows, len(o.Old))
	scratch := make([][]uint64, processors()) // by worker
	eachOf(len(scratch), len(windows)-1, func(worker, i int) {
		lo := windows[i]
		ids := o.Old[lo:windows[i+1]]
		scratch[worker] = slices.Grow(scratch[worker][:0], len(ids))
		keys := scratch[worker][:len(ids)]
		falling(ids, keys, b.in)
		for run := range slices.Chunk(ids, alikeRun) {
			falling(run, keys, b.out)
		}
		for k, old := range ids {
			o.New[old] = uint32(lo + k)
		}
	})
}

// falling sorts vertices by falling degree; equals are in the user's order.
func falling(ids []uint32, keys []uint64, degree []uint32) {
	keys = keys[:len(ids)]
	for k, v := range ids {
		keys[k] = uint64(^degree[v])<<32 | uint64(v)
	}
	slices.Sort(keys)
	for k := range ids {
		ids[k] = uint32(keys[k])
	}
}
