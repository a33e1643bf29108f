package chunk

import (
	"slices"
	"sync/atomic"
)

// This file sorts the vertices of an interval so that neighbouring rows have similar lengths. On a GPU,
// rows that share a warp wait for the longest of them, and a kernel ends with its last row. So
// heavy vertices, those with very many edges, come first. The others are sorted by degree inside
// windows of the user's order (the sorting scope of the SELL-C-σ format), so the user's locality is kept
// beyond a window. Over a window in-degrees descend: they are the lengths of rows in forward gathers.
// Over short runs of a window out-degrees descend: the lengths in backward gathers. On a symmetric graph
// the two are the same.

const (
	alikeWindow = 1024 // vertices of a window; larger windows hardly improve the order
	alikeRun    = 64   // vertices of a run
	// A vertex is heavy if, in one direction, it has more than heavyFactor times the mean number of
	// edges, and more than heavyCell for each of the interval's cells.
	heavyFactor = 2
	heavyCell   = 8
	// unevenMost bounds the degrees in the sum of squares of uneven.
	unevenMost = 1 << 20
)

// uneven reports whether sorting by degree is of use. The length of a row in one of p cells varies with
// the vertex's degree and by chance; degrees must make up at least a quarter of the
// variance. Sorting is useless if chance makes up most of it, as in large grids of uniform graphs, or if
// all rows have the same length, as in meshes.
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

// alike sorts the parts of o that begin at starts: parts of heavy and of other vertices alternate.
// Heavy vertices are sorted as a whole, the others by windows.
func (b *bothWays) alike(o *Order, starts []int) {
	var windows []int // the first new id of each window
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

// falling sorts vertices by descending degree; those of equal degree stay in the user's order.
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
