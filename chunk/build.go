package chunk

// builder makes the sides of one grid. The records and the scratch of the
// workers are shared between them.
type builder struct {
	e       *Edges
	in      Intervals
	newID   []uint32 // nil: the identity
	want    Want
	rank    []float32 // by stored position; nil unless wanted
	memory  Memory
	recs    []rec    // E: the edges of the side in the making
	give    func()   // frees recs
	sorters []sorter // one a worker
}

func newBuilder(e *Edges, o *Order, in Intervals, w Want, m Memory) (*builder, error) {
	b := &builder{e: e, in: in, newID: o.newIDs(), want: w, memory: m, sorters: make([]sorter, processors())}
	b.recs, b.give = scratch[rec](m, e.E())
	for i := range b.sorters {
		b.sorters[i].types = e.Type
	}
	var err error
	if w.Rank {
		b.rank, err = b.ranks()
	}
	return b, err
}

// recorded makes the wanted sides by sorting records.
func recorded(e *Edges, o *Order, in Intervals, w Want, m Memory) (sides []built, err error) {
	b, err := newBuilder(e, o, in, w, m)
	defer b.give()
	if err != nil {
		return nil, err
	}
	if w.CSC {
		sides = append(sides, b.side(byDst))
	}
	if w.CSR {
		sides = append(sides, b.side(bySrc))
	}
	return sides, nil
}

// built is a side, with counts that are known while it is made.
type built struct {
	side     *Side
	nonEmpty []int // of each cell: own rows that have edges
}

// bucketRows are counts over a sorted bucket.
type bucketRows struct {
	nonEmpty int   // rows that have edges
	hub      int64 // most edges of a row
}

// side deals the edges into buckets, sorts each by its own row, lays the blocks
// out, and fills them.
func (b *builder) side(own sortKey) built {
	k := newBuckets(b.e, b.newID, b.in, own, b.recs)
	rows := make([]bucketRows, k.P*k.P*k.subs)
	eachOf(len(b.sorters), len(rows), func(worker, i int) {
		b.sort(&b.sorters[worker], k, i)
		rows[i].nonEmpty, rows[i].hub = countRows(k.at(i), own)
	})
	r, first := k.cells(rows, b.want, b.e.DataCols, b.memory)
	eachOf(len(b.sorters), len(rows), func(_, i int) { b.fill(r.side.View(i/k.subs), k, i, first[i]) })
	return r
}

// sort orders bucket i by type, when wanted, inside own row.
func (b *builder) sort(s *sorter, k *buckets, i int) {
	recs := k.at(i)
	if b.want.Type {
		s.plan(byType, b.e.Types, len(recs))
	}
	// Rows of a bucket agree in all bits but the lowest.
	s.plan(k.own, min(k.Width, 1<<k.shift), len(recs))
	s.inPlace(recs)
}

// countRows is the number of different own rows in sorted records and the
// longest run of one row.
func countRows(recs []rec, own sortKey) (rows int, hub int64) {
	for lo := 0; lo < len(recs); {
		r := recs[lo].own(own)
		hi := lo + 1
		for hi < len(recs) && recs[hi].own(own) == r {
			hi++
		}
		rows++
		hub = max(hub, int64(hi-lo))
		lo = hi
	}
	return rows, hub
}

func (r *rec) own(k sortKey) uint32 {
	if k == bySrc {
		return r.src
	}
	return r.dst
}

// fill writes sorted bucket i into its cell. first is the entry of its first row
// when rows are listed.
func (b *builder) fill(v View, k *buckets, i, first int) {
	cell, sub := i/k.subs, i%k.subs
	lo, recs := k.start[i]-k.start[cell*k.subs], k.at(i)
	hi := lo + len(recs)
	if v.RowIDs == nil {
		rowLo, rowHi := k.rows(cell/k.P, sub)
		fillDense(v.Ptr[rowLo:rowHi], recs, k.own, rowLo, lo)
	} else {
		fillRows(v.RowIDs[first:], v.Ptr[first:], recs, k.own, lo)
	}
	if sub == k.subs-1 {
		v.Ptr[len(v.Ptr)-1] = uint32(hi)
	}
	if v.Packed != nil {
		var room [1 << 10]uint32
		for at := 0; at < len(recs); at += len(room) {
			piece := recs[at:min(len(recs), at+len(room))]
			copyFar(room[:], piece, k.own)
			pack(v.Packed, v.Bits, lo+at, room[:len(piece)])
		}
	} else {
		copyFar(v.Other[lo:hi], recs, k.own)
	}
	gather(v.Rank, b.rank, recs, lo)
	gather(v.Type, b.e.Type, recs, lo)
	gather(v.Weight, b.e.Weight, recs, lo)
	if cols := b.e.DataCols; v.Data != nil {
		for i := range recs {
			copy(v.Data[(lo+i)*cols:(lo+i+1)*cols], b.e.Data[int(recs[i].e)*cols:])
		}
	}
}

// copyFar copies the other ends of records.
func copyFar(to []uint32, recs []rec, own sortKey) {
	if own == byDst {
		for i := range recs {
			to[i] = recs[i].src
		}
		return
	}
	for i := range recs {
		to[i] = recs[i].dst
	}
}

// fillDense writes where each row of a bucket starts; its rows start at row, its
// edges at edge.
func fillDense(ptr []uint32, recs []rec, own sortKey, row, edge int) {
	next := 0
	for i := range recs {
		for r := int(recs[i].own(own)) - row; next <= r; next++ {
			ptr[next] = uint32(edge + i)
		}
	}
	for ; next < len(ptr); next++ {
		ptr[next] = uint32(edge + len(recs))
	}
}

// fillRows lists the rows of a bucket and where each starts.
func fillRows(ids, ptr []uint32, recs []rec, own sortKey, edge int) {
	n := 0
	for i := range recs {
		if r := recs[i].own(own); n == 0 || ids[n-1] != r {
			ids[n], ptr[n] = r, uint32(edge+i)
			n++
		}
	}
}

// gather writes from[stored position of record i] to dst[at+i], unless dst is nil.
func gather[T any](dst, from []T, recs []rec, at int) {
	if dst == nil {
		return
	}
	for i := range recs {
		dst[at+i] = from[recs[i].e]
	}
}

// ranks is the position of each edge among the in-edges of its destination, in
// stored order.
func (b *builder) ranks() ([]float32, error) {
	if err := b.e.ranksExact(); err != nil {
		return nil, err
	}
	all := Intervals{V: b.in.V, P: 1, Width: b.in.V}
	k := newBuckets(b.e, nil, all, byDst, b.recs)
	rank := make([]float32, b.e.E())
	Each(k.subs, func(i int) {
		lo, hi := k.rows(0, i)
		next := make([]uint32, hi-lo)
		for _, r := range k.at(i) {
			rank[r.e] = float32(next[int(r.dst)-lo])
			next[int(r.dst)-lo]++
		}
	})
	return rank, nil
}
