package chunk

import (
	"cmp"
	"slices"
)

// Balance makes the order of vertices that balances the numbers of edges in the cells
// of the base×base grid, whatever the user's numbering. Vertices are dealt to
// the intervals heaviest first, by in- plus out-degree, in snake order (0..P-1,
// then P-1..0), until an interval has the size that NewIntervals gives it. Inside
// an interval vertices keep the user's order, which keeps its locality. Only inside small
// windows they are sorted by degree (alike.go).
//
// A grid of P intervals is balanced too if P divides base, as its intervals are
// then unions of balanced ones (except for the rounding of widths).
//
// It takes O(E + V) time on all processors, and 18 bytes a vertex in addition to
// the order. The edges must be valid; base is clamped to 1..MaxIntervals.
func Balance(e *Edges, base int) *Order { return balance(e, base, true) }

// Deal is Balance with all vertices of an interval in the user's order.
func Deal(e *Edges, base int) *Order { return balance(e, base, false) }

// BalanceDegrees is Balance for edges that are not in memory. in and out are the degrees of the V
// vertices, edges is their number of edges.
func BalanceDegrees(in, out []uint32, edges, base int) *Order {
	return balanceBy(func() *bothWays { return &bothWays{in: in, out: out, edges: edges} }, len(in), base, true)
}

// DealDegrees is Deal for edges that are not in memory; see BalanceDegrees.
func DealDegrees(in, out []uint32, edges, base int) *Order {
	return balanceBy(func() *bothWays { return &bothWays{in: in, out: out, edges: edges} }, len(in), base, false)
}

func balance(e *Edges, base int, sort bool) *Order {
	return balanceBy(func() *bothWays { return degreesOf(e) }, e.V, base, sort)
}

func balanceBy(degrees func() *bothWays, v, base int, sort bool) *Order {
	in, err := NewIntervals(v, min(max(base, 1), MaxIntervals))
	if err != nil || in.P == 1 && !sort {
		return Identity(v)
	}
	d := degrees()
	sort = sort && d.uneven(in.P)
	if in.P == 1 && !sort {
		return Identity(v)
	}
	part := make([]uint16, v)
	if in.P > 1 {
		part = deal(d.byDegree(), in)
	}
	if !sort {
		o, _ := ordered(part, in.P)
		return o
	}
	d.heavyFirst(part, in.P)
	o, starts := ordered(part, 2*in.P)
	d.alike(o, starts)
	return o
}

// bothWays is a graph's degrees in both directions.
type bothWays struct {
	in, out []uint32
	edges   int
}

func degreesOf(e *Edges) *bothWays {
	return &bothWays{in: e.InDegrees(), out: e.OutDegrees(), edges: e.E()}
}

// manyEdges is the degree from which vertices are sorted by comparing. A counting sort with a counter
// for every degree up to that of a hub could take more memory than the graph.
const manyEdges = 1 << 16

// byDegree is the vertices by descending in- plus out-degree; those of equal degree keep the
// user's order. It is a counting sort by blocks of vertices.
func (b *bothWays) byDegree() []uint32 {
	vertices := len(b.in)
	degree := func(v int) int { return int(b.in[v]) + int(b.out[v]) }
	limit := min(manyEdges, 2*b.edges+1) // degrees below it are counted
	blocks := pieces(vertices, 4*limit)
	counts, hubs := make([][]uint32, blocks), make([][]uint32, blocks)
	Each(blocks, func(k int) {
		n := make([]uint32, limit)
		for v := cut(vertices, blocks, k); v < cut(vertices, blocks, k+1); v++ {
			if d := degree(v); d < limit {
				n[d]++
			} else {
				hubs[k] = append(hubs[k], uint32(v))
			}
		}
		counts[k] = n
	})
	sorted := make([]uint32, 0, vertices)
	for _, h := range hubs {
		sorted = append(sorted, h...)
	}
	slices.SortStableFunc(sorted, func(a, b uint32) int { return cmp.Compare(degree(int(b)), degree(int(a))) })
	at := uint32(len(sorted))
	sorted = sorted[:vertices]
	for d := limit - 1; d >= 0; d-- {
		for k := range counts {
			n := counts[k][d]
			counts[k][d] = at
			at += n
		}
	}
	Each(blocks, func(k int) {
		next := counts[k]
		for v := cut(vertices, blocks, k); v < cut(vertices, blocks, k+1); v++ {
			if d := degree(v); d < limit {
				sorted[next[d]] = uint32(v)
				next[d]++
			}
		}
	})
	return sorted
}

// deal gives each vertex an interval: the sorted vertices in snake order over
// the intervals that still have room.
func deal(sorted []uint32, in Intervals) []uint16 {
	part := make([]uint16, in.V)
	room := make([]int, in.P)
	open := make([]uint16, 0, in.P) // intervals with room, ascending
	for i := range room {
		if room[i] = in.Rows(i); room[i] > 0 {
			open = append(open, uint16(i))
		}
	}
	for turn := 0; len(sorted) > 0; {
		// No interval fills up in the next turns: as many as the fullest one has room for.
		n, turns := len(open), in.V
		for _, i := range open {
			turns = min(turns, room[i])
		}
		now := sorted[:min(len(sorted), turns*n)]
		Ranges(len(now), func(lo, hi int) {
			for k := lo; k < hi; k++ {
				t, j := turn+k/n, k%n
				if t&1 == 1 {
					j = n - 1 - j
				}
				part[now[k]] = open[j]
			}
		})
		sorted, turn = sorted[len(now):], turn+turns
		keep := open[:0]
		for _, i := range open {
			if room[i] -= turns; room[i] > 0 {
				keep = append(keep, i)
			}
		}
		open = keep
	}
	return part
}

// ordered numbers the vertices part by part, in the user's order inside each, and
// returns where the parts begin.
func ordered(part []uint16, parts int) (*Order, []int) {
	v := len(part)
	o := &Order{New: make([]uint32, v), Old: make([]uint32, v)}
	blocks := pieces(v, 16*parts)
	next := make([]int, blocks*parts) // by block, then part: counts, then new ids
	Each(blocks, func(k int) {
		n := next[k*parts : (k+1)*parts]
		for _, i := range part[cut(v, blocks, k):cut(v, blocks, k+1)] {
			n[i]++
		}
	})
	starts, at := make([]int, parts+1), 0
	for i := range parts {
		starts[i] = at
		for k := range blocks {
			n := next[k*parts+i]
			next[k*parts+i] = at
			at += n
		}
	}
	starts[parts] = v
	Each(blocks, func(k int) {
		next := next[k*parts : (k+1)*parts]
		for old := cut(v, blocks, k); old < cut(v, blocks, k+1); old++ {
			n := next[part[old]]
			next[part[old]]++
			o.New[old], o.Old[n] = uint32(n), uint32(old)
		}
	})
	return o, starts
}

// CellSkew is the most edges that a cell of the p×p grid has under order o (nil
// for the identity), and the mean over all p² cells. The edges and the order
// must be valid; p is clamped to 1..MaxIntervals.
func CellSkew(e *Edges, o *Order, p int) (most int64, mean float64) {
	in, err := NewIntervals(e.V, min(max(p, 1), MaxIntervals))
	if err != nil {
		return 0, 0
	}
	for _, n := range cellCounts(e, o, in) {
		most = max(most, n)
	}
	return most, float64(e.E()) / float64(in.P*in.P)
}
