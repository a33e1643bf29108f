package chunk

// Balance is the one re-encoding of a graph: it equalises the edges of the cells
// of the base×base grid, whatever the user's numbering. Vertices are dealt over
// the intervals heaviest first, by in- plus out-degree, in snake order (0..P-1,
// then P-1..0), until an interval has the size that NewIntervals gives it. Inside
// an interval vertices keep the user's order, so that locality there survives.
//
// A grid of another P profits too when P divides base, as its intervals are
// then unions of balanced ones (up to the rounding of widths).
//
// It takes O(E + V) time. The edges must be valid; base is forced into
// 1..MaxIntervals.
func Balance(e *Edges, base int) *Order {
	in, err := NewIntervals(e.V, min(max(base, 1), MaxIntervals))
	if err != nil || in.P == 1 {
		return Identity(e.V)
	}
	return ordered(deal(byDegree(e), in), in)
}

// byDegree is the vertices by falling in- plus out-degree; equals keep the
// user's order.
func byDegree(e *Edges) []uint32 {
	degree := make([]uint64, e.V)
	most := uint64(0)
	for k, s := range e.Src {
		degree[s]++
		degree[e.Dst[k]]++
	}
	for _, d := range degree {
		most = max(most, d)
	}
	// Counting sort: most is at most 2E, so the counters are linear in E.
	start := make([]uint32, most+2)
	for _, d := range degree {
		start[most-d+1]++
	}
	for i := 1; i < len(start); i++ {
		start[i] += start[i-1]
	}
	sorted := make([]uint32, e.V)
	for v, d := range degree {
		sorted[start[most-d]] = uint32(v)
		start[most-d]++
	}
	return sorted
}

// deal gives each vertex an interval: the sorted vertices in snake order over
// the intervals that still have room.
func deal(sorted []uint32, in Intervals) []uint16 {
	part := make([]uint16, in.V)
	room := make([]int, in.P)
	for i := range room {
		room[i] = in.Rows(i)
	}
	open := make([]uint16, 0, in.P) // intervals with room, ascending
	for i, r := range room {
		if r > 0 {
			open = append(open, uint16(i))
		}
	}
	for up := true; len(sorted) > 0; up = !up {
		full := false
		for k := range open {
			if len(sorted) == 0 {
				break
			}
			i := open[k]
			if !up {
				i = open[len(open)-1-k]
			}
			part[sorted[0]] = i
			sorted = sorted[1:]
			room[i]--
			full = full || room[i] == 0
		}
		if full {
			keep := open[:0]
			for _, i := range open {
				if room[i] > 0 {
					keep = append(keep, i)
				}
			}
			open = keep
		}
	}
	return part
}

// ordered numbers the vertices interval by interval, in the user's order inside
// each. Every interval has been given exactly its rows.
func ordered(part []uint16, in Intervals) *Order {
	o := &Order{New: make([]uint32, in.V), Old: make([]uint32, in.V)}
	next := make([]int, in.P)
	for i := range next {
		next[i], _ = in.Bounds(i)
	}
	for v, i := range part {
		n := next[i]
		next[i]++
		o.New[v], o.Old[n] = uint32(n), uint32(v)
	}
	return o
}

// CellSkew is the most edges that a cell of the p×p grid has under order o (nil
// for the identity), and the mean over all p² cells. The edges and the order
// must be valid; p is forced into 1..MaxIntervals.
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
