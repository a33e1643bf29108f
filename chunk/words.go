package chunk

import "math/bits"

// word is an edge while it is sorted into cells, if only its two ends are wanted. The low bits
// are its row in the other interval, the high bits its own row inside the range of its bucket.
type word interface{ uint32 | uint64 }

// dealer makes sides by sorting words. The edges of a bucket are sorted by counting its rows. So an
// edge is written to memory twice: to its bucket and then, sorted in the cache, to its cell.
type dealer[T word] struct {
	e       *Edges
	newID   []uint32
	want    Want
	memory  Memory
	sides   []buckets     // the wanted sides, without recs; all have the same number of buckets
	at      [][]uint32    // by side: places by block, then bucket
	far     uint          // number of bits of a row of the other interval
	words   []T           // E: the edges of the side in the making
	scratch []dealScratch // one a worker
}

// dealScratch is scratch for the current bucket: the next place of each row, and the other ends.
type dealScratch struct{ next, other []uint32 }

// asWords makes the wanted sides if words can be used: the cells hold only the
// edges, and counting all rows of all cells is faster than sorting records.
func asWords(e *Edges, o *Order, in Intervals, w Want, m Memory) (sides []built, ok bool) {
	if w.Rank || w.Type || w.Weight || w.Data || in.P*in.fars()*in.Width > 4*e.E() {
		return nil, false
	}
	k := bucketsFor(e, in)
	own, far := bits.Len32(uint32(max(in.Width-1, 0))), 0
	for x := range in.P {
		far = max(far, bits.Len32(uint32(max(in.FarWidth(x)-1, 0))))
	}
	wide := far + min(int(k.shift), own)
	if wide == 33 { // with half as many rows in a bucket, 32 bits are enough
		k.shift, wide = k.shift-1, 32
		k.subs = k.subsFor(k.shift)
	}
	if wide <= 32 {
		return dealWords[uint32](e, o.newIDs(), k, w, m, uint(far)), true
	}
	return dealWords[uint64](e, o.newIDs(), k, w, m, uint(far)), true
}

func dealWords[T word](e *Edges, newID []uint32, k buckets, w Want, m Memory, far uint) []built {
	p := &dealer[T]{e: e, newID: newID, want: w, memory: m, far: far, scratch: make([]dealScratch, processors())}
	for own, want := range [2]bool{byDst: w.CSC, bySrc: w.CSR} {
		if want {
			k.own = sortKey(own)
			p.sides = append(p.sides, k)
		}
	}
	words, give := scratch[T](m, e.E())
	defer give()
	p.words = words
	p.countAll()
	sides := make([]built, len(p.sides))
	for i := range sides {
		sides[i] = p.side(i)
	}
	return sides
}

// countAll computes the places of the edges in the buckets of all sides.
func (p *dealer[T]) countAll() {
	first, last := &p.sides[0], &p.sides[len(p.sides)-1]
	n, blocks := first.counters(p.e)
	for range p.sides {
		p.at = append(p.at, make([]uint32, blocks*n))
	}
	div := newDivider(first.Width)
	Each(blocks, func(k int) {
		count := p.at[0][k*n : (k+1)*n]
		var back []uint32 // of the second side
		if first != last {
			back = p.at[1][k*n : (k+1)*n]
		}
		first.tiles(p.e, p.newID, cut(p.e.E(), blocks, k), cut(p.e.E(), blocks, k+1), func(_ int, own, other []uint32) {
			for i := range own {
				o, row := div.split(own[i])
				x, far := div.split(other[i])
				fx, _ := first.far(x, 0)
				count[first.bucket(o, fx, row)]++
				if back != nil {
					fo, _ := first.far(o, 0)
					back[last.bucket(x, fo, far)]++
				}
			}
		})
	})
	for i := range p.sides {
		p.sides[i].begin(p.at[i])
	}
}

// side makes one side.
func (p *dealer[T]) side(i int) built {
	k := &p.sides[i]
	p.deal(k, p.at[i])
	p.at[i] = nil
	rows := make([]bucketRows, len(k.start)-1)
	eachOf(len(p.scratch), len(rows), func(worker, i int) {
		some, hub := 0, uint32(0)
		for _, n := range p.count(&p.scratch[worker], k, i) {
			some += one(n)
			hub = max(hub, n)
		}
		rows[i] = bucketRows{nonEmpty: some, hub: int64(hub)}
	})
	r, first := k.cells(rows, p.want, 0, p.memory)
	eachOf(len(p.scratch), len(rows), func(worker, i int) {
		p.fill(&p.scratch[worker], r.side.View(i/k.subs), k, i, first[i])
	})
	return r
}

// deal writes the edges into the buckets of one side.
func (p *dealer[T]) deal(k *buckets, at []uint32) {
	n := k.P * k.P * k.subs
	blocks := len(at) / n // as many as counted, even if the number of processors has changed since
	div, mask := newDivider(k.Width), uint32(1)<<min(k.shift, p.far)-1
	Each(blocks, func(block int) {
		next := at[block*n : (block+1)*n]
		k.tiles(p.e, p.newID, cut(p.e.E(), blocks, block), cut(p.e.E(), blocks, block+1), func(_ int, own, other []uint32) {
			for i := range own {
				o, row := div.split(own[i])
				x, far := k.far(div.split(other[i]))
				to := &next[k.bucket(o, x, row)]
				p.words[*to] = T(row&mask)<<p.far | T(far)
				*to++
			}
		})
	})
}

// one is 0 for 0 and 1 for other numbers, without a branch, which would be unpredictable.
func one(n uint32) int { return int((n | -n) >> 31) }

// count is the number of edges of each row of bucket i.
func (p *dealer[T]) count(s *dealScratch, k *buckets, i int) []uint32 {
	lo, hi := k.rows(i/k.subs/k.P, i%k.subs)
	if len(s.next) < hi-lo {
		s.next = make([]uint32, min(k.Width, 1<<k.shift))
	}
	next := s.next[:hi-lo]
	clear(next)
	for _, w := range p.words[k.start[i]:k.start[i+1]] {
		next[w>>p.far]++
	}
	return next
}

// fill writes bucket i into its cell. first is the entry of its first row when rows
// are listed.
func (p *dealer[T]) fill(s *dealScratch, v View, k *buckets, i, first int) {
	next := p.count(s, k, i)
	cell, sub := i/k.subs, i%k.subs
	rowLo, _ := k.rows(cell/k.P, sub)
	lo, hi := k.start[i]-k.start[cell*k.subs], k.start[i+1]-k.start[cell*k.subs]
	at := uint32(0)
	if v.RowIDs == nil {
		ptr := v.Ptr[rowLo:]
		for r, n := range next {
			ptr[r], next[r] = uint32(lo)+at, at
			at += n
		}
	} else { // the entry of a row without edges is overwritten by that of the next row with edges
		for r := 0; at < uint32(hi-lo); r++ {
			n := next[r]
			v.RowIDs[first], v.Ptr[first], next[r] = uint32(rowLo+r), uint32(lo)+at, at
			first += one(n)
			at += n
		}
	}
	if sub == k.subs-1 {
		v.Ptr[len(v.Ptr)-1] = uint32(hi)
	}
	if len(s.other) < hi-lo {
		s.other = make([]uint32, hi-lo+(hi-lo)/4)
	}
	other, mask := s.other[:hi-lo], T(1)<<p.far-1
	for _, w := range p.words[k.start[i]:k.start[i+1]] {
		to := &next[w>>p.far]
		other[*to] = uint32(w & mask)
		*to++
	}
	if v.Packed != nil {
		pack(v.Packed, v.Bits, lo, other)
	} else {
		copy(v.Other[lo:hi], other)
	}
}
