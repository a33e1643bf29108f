package chunk

// builder makes the sides of one grid. Scratch is shared between them.
type builder struct {
	e       *Edges
	want    Want
	rank    []float32 // by stored position; nil unless wanted
	buckets *buckets
	sorted  []rec // one side's edges: by cell, own row, type, stored position
	sorter  sorter
}

// side sorts every cell by its own row, lays the blocks out, and fills them.
func (b *builder) side(own sortKey) *Side {
	p := b.buckets.P
	s := &Side{P: p, Cells: make([]Cell, p*p)}
	size := int64(0)
	for o := range p {
		rows := b.buckets.Rows(o)
		for x := range p {
			recs := b.sortCell(own, o, x)
			nonEmpty, hub := countRows(recs, own)
			c := layOut(rows, nonEmpty, int64(len(recs)), b.want, b.e.DataCols)
			c.Hub, c.Off = hub, size
			size += c.Bytes
			s.Cells[o*p+x] = c
		}
	}
	s.Mem = newArena(size)
	seen := newBitset(b.buckets.Width)
	for o := range p {
		for x := range p {
			c, v := &s.Cells[o*p+x], s.View(o*p+x)
			b.fill(v, own, b.sorted[b.at(own, o, x):][:c.NNZ])
			c.Needs = countOther(v.Other, seen)
		}
	}
	return s
}

// bucket is the index of the bucket that holds cell (o,x) of a side.
func (b *builder) bucket(own sortKey, o, x int) int {
	if own == bySrc {
		o, x = x, o
	}
	return o*b.buckets.P + x
}

// at is where cell (o,x) starts in sorted: where its bucket starts.
func (b *builder) at(own sortKey, o, x int) int {
	return b.buckets.start[b.bucket(own, o, x)]
}

func (b *builder) sortCell(own sortKey, o, x int) []rec {
	k := b.bucket(own, o, x)
	lo, hi := b.buckets.start[k], b.buckets.start[k+1]
	if b.want.Type {
		b.sorter.plan(byType, b.e.Types, hi-lo)
	}
	b.sorter.plan(own, b.buckets.Rows(o), hi-lo)
	b.sorter.sort(b.sorted[lo:hi], b.buckets.recs[lo:hi])
	return b.sorted[lo:hi]
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

// fill writes sorted records into a cell.
func (b *builder) fill(v View, own sortKey, recs []rec) {
	if v.RowIDs == nil {
		fillDense(v.Ptr, recs, own)
	} else {
		fillRows(v, recs, own)
	}
	if own == byDst {
		for i := range recs {
			v.Other[i] = recs[i].src
		}
	} else {
		for i := range recs {
			v.Other[i] = recs[i].dst
		}
	}
	gather(v.Rank, b.rank, recs)
	gather(v.Type, b.e.Type, recs)
	gather(v.Weight, b.e.Weight, recs)
	if cols := b.e.DataCols; v.Data != nil {
		for i := range recs {
			copy(v.Data[i*cols:(i+1)*cols], b.e.Data[int(recs[i].e)*cols:])
		}
	}
}

// fillDense writes the row pointers of every row. ptr is zero before.
func fillDense(ptr []uint32, recs []rec, own sortKey) {
	for i := range recs {
		ptr[recs[i].own(own)+1]++
	}
	sum := uint32(0)
	for r, n := range ptr {
		sum += n
		ptr[r] = sum
	}
}

// fillRows writes the list of rows that have edges, and their pointers.
func fillRows(v View, recs []rec, own sortKey) {
	n := 0
	for i := range recs {
		if r := recs[i].own(own); n == 0 || v.RowIDs[n-1] != r {
			v.RowIDs[n], v.Ptr[n] = r, uint32(i)
			n++
		}
	}
	v.Ptr[n] = uint32(len(recs))
}

// gather writes from[stored position of record i] to dst[i], unless dst is nil.
func gather[T any](dst, from []T, recs []rec) {
	if dst == nil {
		return
	}
	for i := range recs {
		dst[i] = from[recs[i].e]
	}
}
