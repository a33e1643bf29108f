package chunk

import (
	"cmp"
	"fmt"
	"slices"
)

// Symmetric is a copy of the edges with a reverse edge for every edge that has none. Reverse edges are
// appended in stored order, with the same weight, type, data and time. Repeated
// edges are paired one by one: the k-th edge from s to d with the k-th from d to s. So
// afterwards both directions occur equally often, and a symmetric graph is unchanged. If edges have times, only edges of one time are paired.
// Self loops are their own reverse.
//
// The edges must be valid and fewer than 2^32. O(E + V) time.
func (e *Edges) Symmetric() *Edges {
	alone := e.unpaired()
	r := e.grow(len(alone))
	for _, k := range alone {
		r.Src, r.Dst = append(r.Src, e.Dst[k]), append(r.Dst, e.Src[k])
		if e.Weight != nil {
			r.Weight = append(r.Weight, e.Weight[k])
		}
		if e.Type != nil {
			r.Type = append(r.Type, e.Type[k])
		}
		if e.Time != nil {
			r.Time = append(r.Time, e.Time[k])
		}
		if c := e.DataCols; c > 0 {
			r.Data = append(r.Data, e.Data[int(k)*c:int(k+1)*c]...)
		}
	}
	return r
}

// unpaired lists the edges that have no reverse, ascending.
func (e *Edges) unpaired() []uint32 {
	n := e.E()
	if int64(n) > MaxVertices {
		panic(fmt.Sprintf("chunk: Symmetric of %d edges, at most %d", n, int64(MaxVertices)))
	}
	// Sort by (lower end, higher end), so that both directions of a pair are
	// neighbours, in stored order.
	recs, sorted := make([]rec, n), make([]rec, n)
	for k, s := range e.Src {
		d := e.Dst[k]
		recs[k] = rec{dst: min(s, d), src: max(s, d), e: uint32(k)}
	}
	var s sorter
	s.plan(bySrc, e.V, n)
	s.plan(byDst, e.V, n)
	s.sort(sorted, recs)

	isAlone := make([]bool, n)
	count := 0
	for lo := 0; lo < n; {
		hi := lo
		for hi < n && sorted[hi].dst == sorted[lo].dst && sorted[hi].src == sorted[lo].src {
			hi++
		}
		if loop := sorted[lo].dst == sorted[lo].src; !loop {
			count += e.markSurplusAt(sorted[lo:hi], isAlone)
		}
		lo = hi
	}
	alone := make([]uint32, 0, count)
	for k, a := range isAlone {
		if a {
			alone = append(alone, uint32(k))
		}
	}
	return alone
}

// markSurplusAt is markSurplus for all edges of a pair of vertices or, if edges have times, for those of each time.
func (e *Edges) markSurplusAt(pair []rec, isAlone []bool) (n int) {
	if e.Time == nil {
		return markSurplus(e, pair, isAlone)
	}
	slices.SortStableFunc(pair, func(a, b rec) int { return cmp.Compare(e.Time[a.e], e.Time[b.e]) })
	for lo, hi := 0, 0; lo < len(pair); lo = hi {
		for hi = lo; hi < len(pair) && e.Time[pair[hi].e] == e.Time[pair[lo].e]; hi++ {
		}
		n += markSurplus(e, pair[lo:hi], isAlone)
	}
	return n
}

// markSurplus marks the surplus edges of a pair of vertices: the last ones of the more frequent
// direction. It returns their number.
func markSurplus(e *Edges, pair []rec, isAlone []bool) int {
	up := 0 // edges from the lower to the higher end
	for _, r := range pair {
		if e.Src[r.e] == r.dst {
			up++
		}
	}
	paired := min(up, len(pair)-up)
	ups, downs, n := 0, 0, 0
	for _, r := range pair {
		met := &downs
		if e.Src[r.e] == r.dst {
			met = &ups
		}
		if *met >= paired {
			isAlone[r.e] = true
			n++
		}
		*met++
	}
	return n
}
