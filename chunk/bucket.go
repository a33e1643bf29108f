package chunk

import "math/bits"

// rec is an edge on its way into cells: local rows and position in stored order.
type rec struct{ dst, src, e uint32 }

// buckets are the edges by cell: cell (destination interval d, source interval s)
// is recs[start[d*P+s]:start[d*P+s+1]], in stored order. CSC and CSR both sort
// from here, since cell (d,s) of one holds the same edges as cell (s,d) of the
// other.
type buckets struct {
	Intervals
	recs  []rec
	start []int
}

func newBuckets(e *Edges, o *Order, in Intervals) *buckets {
	b := &buckets{Intervals: in, recs: make([]rec, e.E()), start: make([]int, in.P*in.P+1)}
	counts := cellCounts(e, o, in)
	next := make([]int, in.P*in.P)
	at := 0
	for c, n := range counts {
		b.start[c], next[c] = at, at
		at += int(n)
	}
	b.start[len(counts)] = at
	newID, div := o.newIDs(), newDivider(in.Width)
	for k, src := range e.Src {
		dst := e.Dst[k]
		if newID != nil {
			src, dst = newID[src], newID[dst]
		}
		d, dl := div.split(dst)
		s, sl := div.split(src)
		c := d*in.P + s
		b.recs[next[c]] = rec{dl, sl, uint32(k)}
		next[c]++
	}
	return b
}

// cellCounts is the number of edges of each cell, index destination interval
// × P + source interval.
func cellCounts(e *Edges, o *Order, in Intervals) []int64 {
	counts := make([]int64, in.P*in.P)
	newID, div := o.newIDs(), newDivider(in.Width)
	for k, src := range e.Src {
		dst := e.Dst[k]
		if newID != nil {
			src, dst = newID[src], newID[dst]
		}
		d, _ := div.split(dst)
		s, _ := div.split(src)
		counts[d*in.P+s]++
	}
	return counts
}

// divider divides ids by the interval width with a multiplication, which costs
// a quarter of a division: q = id×ceil(2^64/width)/2^64, exact for 32-bit ids.
type divider struct {
	width uint32
	recip uint64
}

func newDivider(width int) divider {
	w := max(width, 1)
	d := divider{width: uint32(w)}
	if w > 1 {
		d.recip = ^uint64(0)/uint64(w) + 1
	}
	return d
}

// split is the interval of id and its row there.
func (d divider) split(id uint32) (interval int, row uint32) {
	if d.recip == 0 { // width 1: the reciprocal 2^64 does not fit
		return int(id), 0
	}
	q, _ := bits.Mul64(uint64(id), d.recip)
	return int(q), id - uint32(q)*d.width
}
