package chunk

import "math/bits"

// rec is an edge while it is sorted into cells: its local rows and its position in stored order.
type rec struct{ dst, src, e uint32 }

// buckets divide the edges of one side by cell and, inside a cell, by range of own
// rows: bucket k of cell (o,x) has the edges whose own row is in
// k<<shift .. (k+1)<<shift-1, in stored order. A bucket is small enough to be
// sorted in a processor's cache, and buckets are sorted in parallel.
type buckets struct {
	Intervals
	own   sortKey
	subs  int // buckets of a cell
	shift uint
	recs  []rec
	start []int // bucket b of all, (o*P+x)*subs+k, is recs[start[b]:start[b+1]]
}

// manyBuckets bounds the number of buckets, as edges are written to all of them at once. bucketEdges
// is the number of edges that a bucket should have.
const (
	manyBuckets = 4096
	bucketEdges = 1 << 15
)

// newBuckets deals the edges, in new ids (nil for the identity), into buckets of
// the side with the given own end. recs is used as memory: E of them.
func newBuckets(e *Edges, newID []uint32, in Intervals, own sortKey, recs []rec) *buckets {
	b := bucketsFor(e, in)
	b.own, b.recs = own, recs
	b.deal(e, newID)
	return &b
}

// bucketsFor are buckets that no edge was dealt into.
func bucketsFor(e *Edges, in Intervals) buckets {
	b := buckets{Intervals: in}
	want := min(e.E()/bucketEdges, manyBuckets) / (in.P * in.fars())
	for b.shift = 32; b.shift > 0 && b.subsFor(b.shift-1) <= max(want, 1); b.shift-- {
	}
	b.subs = b.subsFor(b.shift)
	return b
}

// subsFor is the number of ranges of 1<<shift rows in an interval.
func (b *buckets) subsFor(shift uint) int { return max(1, (b.Width+1<<shift-1)>>shift) }

// deal is a stable counting sort: blocks of edges are counted and then moved, in
// parallel. The result does not depend on the number of blocks.
func (b *buckets) deal(e *Edges, newID []uint32) {
	n, blocks := b.counters(e)
	at := make([]uint32, blocks*n) // by block, then bucket: counts, then places
	div := newDivider(b.Width)
	Each(blocks, func(k int) {
		count := at[k*n : (k+1)*n]
		b.tiles(e, newID, cut(e.E(), blocks, k), cut(e.E(), blocks, k+1), func(_ int, own, other []uint32) {
			for i := range own {
				o, row := div.split(own[i])
				x, _ := div.split(other[i])
				x, _ = b.far(x, 0)
				count[b.bucket(o, x, row)]++
			}
		})
	})
	b.begin(at)
	Each(blocks, func(k int) {
		next := at[k*n : (k+1)*n]
		b.tiles(e, newID, cut(e.E(), blocks, k), cut(e.E(), blocks, k+1), func(first int, own, other []uint32) {
			for i := range own {
				o, row := div.split(own[i])
				x, far := b.far(div.split(other[i]))
				to := &next[b.bucket(o, x, row)]
				r := rec{dst: row, src: far, e: uint32(first + i)}
				if b.own == bySrc {
					r.dst, r.src = far, row
				}
				b.recs[*to] = r
				*to++
			}
		})
	})
}

// counters is the number of buckets, and the number of blocks of edges. Each block has counters of its own
// for all buckets; there are few enough blocks for the counters not to take more memory than the edges.
func (b *buckets) counters(e *Edges) (n, blocks int) {
	n = b.P * b.P * b.subs
	return n, max(1, min(pieces(e.E(), 1<<16), e.E()/(8*n)))
}

// begin sets where buckets start, and replaces the counts of all blocks by where each
// block begins to write into each bucket.
func (b *buckets) begin(at []uint32) {
	n := b.P * b.P * b.subs
	b.start = make([]int, n+1)
	sum := 0
	for i := range n {
		b.start[i] = sum
		for k := i; k < len(at); k += n {
			c := at[k]
			at[k] = uint32(sum)
			sum += int(c)
		}
	}
	b.start[n] = sum
}

// bucket is the bucket of an own row of cell (o,x).
func (b *buckets) bucket(o, x int, row uint32) int { return (o*b.P+x)*b.subs + int(row>>b.shift) }

// tiles calls f for the edges lo..hi-1, a few at a time, with the new ids of their own
// and other ends. Looking up many ids before they are used lets loads overlap.
func (b *buckets) tiles(e *Edges, newID []uint32, lo, hi int, f func(first int, own, other []uint32)) {
	ownIDs, otherIDs := e.Dst, e.Src
	if b.own == bySrc {
		ownIDs, otherIDs = e.Src, e.Dst
	}
	if newID == nil {
		f(lo, ownIDs[lo:hi], otherIDs[lo:hi])
		return
	}
	const tile = 1 << 10
	var own, other [tile]uint32
	for ; lo < hi; lo += tile {
		n := min(tile, hi-lo)
		lookUp(own[:n], ownIDs[lo:], newID)
		lookUp(other[:n], otherIDs[lo:], newID)
		f(lo, own[:n], other[:n])
	}
}

func lookUp(dst, ids, table []uint32) {
	for i := range dst {
		dst[i] = table[ids[i]]
	}
}

// cells lays out the cells of a side, and returns where each bucket's rows begin in the
// row list of its cell.
func (b *buckets) cells(rows []bucketRows, w Want, dataCols int, m Memory) (r built, first []int) {
	r = built{&Side{P: b.P, Cells: make([]Cell, b.P*b.P)}, make([]int, b.P*b.P)}
	size := int64(0)
	for i := range r.side.Cells {
		hub := int64(0)
		for _, n := range rows[i*b.subs : (i+1)*b.subs] {
			r.nonEmpty[i] += n.nonEmpty
			hub = max(hub, n.hub)
		}
		nnz := b.start[(i+1)*b.subs] - b.start[i*b.subs]
		c := layOut(b.Rows(i/b.P), r.nonEmpty[i], int64(nnz), w, dataCols, b.FarWidth(i%b.P))
		c.Hub, c.Off = hub, size
		size += c.Bytes
		r.side.Cells[i] = c
	}
	r.side.Mem = newArena(size)
	if m.Fresh != nil {
		m.Fresh(r.side.Mem)
	}
	// The rows of a bucket begin where those of the bucket before it end.
	first = make([]int, len(rows))
	for i := range rows {
		if i%b.subs > 0 {
			first[i] = first[i-1] + rows[i-1].nonEmpty
		}
	}
	return r, first
}

// rows is the range lo <= own row < hi of bucket k of a cell of own interval o.
func (b *buckets) rows(o, k int) (lo, hi int) {
	n := b.Rows(o)
	return min(k<<b.shift, n), min((k+1)<<b.shift, n)
}

// at is the records of bucket i.
func (b *buckets) at(i int) []rec { return b.recs[b.start[i]:b.start[i+1]] }

// cellCounts is the number of edges of each cell, index destination interval
// × P + source interval.
func cellCounts(e *Edges, o *Order, in Intervals) []int64 {
	n := in.P * in.P
	blocks := max(1, min(pieces(e.E(), 1<<16), e.E()/(8*n)))
	count := make([]int64, blocks*n)
	newID, div := o.newIDs(), newDivider(in.Width)
	Each(blocks, func(k int) {
		count := count[k*n : (k+1)*n]
		for i := cut(e.E(), blocks, k); i < cut(e.E(), blocks, k+1); i++ {
			src, dst := e.Src[i], e.Dst[i]
			if newID != nil {
				src, dst = newID[src], newID[dst]
			}
			d, _ := div.split(dst)
			s, _ := div.split(src)
			count[d*in.P+s]++
		}
	})
	for i := n; i < len(count); i++ {
		count[i%n] += count[i]
	}
	return count[:n:n]
}

// divider divides ids by the interval width with a multiplication, which takes
// a quarter of the time of a division: q = id×ceil(2^64/width)/2^64, exact for 32-bit ids.
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
