package chunk

import "sync/atomic"

// CellStat counts the edges and rows of one edge chunk.
type CellStat struct {
	NNZ     int64 // edges
	DstRows int   // different destinations: the non-empty rows of CSC, the other rows that CSR reads
	SrcRows int   // different sources: the other rows that CSC reads, the non-empty rows of CSR
}

// GridStats describes a grid that need not exist: enough to know every block's
// size and which rows of the other interval a cell reads.
type GridStats struct {
	Intervals
	DataCols int
	Cells    []CellStat // index destination interval × P + source interval
}

// Stats counts what the cells of the p×p grid would hold under order o (nil for
// the identity). It takes O(E + V×p/8 + p²) time and V×p/4 bytes. The edges and
// the order must be valid; p is clamped to 1..MaxIntervals.
func Stats(e *Edges, o *Order, p int) GridStats {
	in, err := NewIntervals(e.V, min(max(p, 1), MaxIntervals))
	if err != nil {
		return GridStats{}
	}
	return stats(e, o, in)
}

// StatsOver is Stats for edges whose ids are in the numbering of in.
func StatsOver(e *Edges, in Intervals) GridStats { return stats(e, nil, in) }

func stats(e *Edges, o *Order, in Intervals) GridStats {
	g := GridStats{Intervals: in, DataCols: e.DataCols}
	// One bit for each (vertex, interval of the other end): whether it was met already.
	dstSeen, srcSeen := newBitset(in.V*in.P), newBitset(in.V*in.P)
	newID, div, n := o.newIDs(), newDivider(in.Width), in.P*in.P
	blocks := max(1, min(pieces(e.E(), 1<<16), e.E()/(8*n)))
	cells := make([]CellStat, blocks*n)
	Each(blocks, func(b int) {
		cells := cells[b*n : (b+1)*n]
		for k := cut(e.E(), blocks, b); k < cut(e.E(), blocks, b+1); k++ {
			src, dst := e.Src[k], e.Dst[k]
			if newID != nil {
				src, dst = newID[src], newID[dst]
			}
			d, _ := div.split(dst)
			s, _ := div.split(src)
			c := &cells[d*in.P+s]
			c.NNZ++
			if dstSeen.addShared(int(dst)*in.P + s) {
				c.DstRows++
			}
			if srcSeen.addShared(int(src)*in.P + d) {
				c.SrcRows++
			}
		}
	})
	g.Cells = cells[:n:n]
	for i := n; i < len(cells); i++ {
		c := &g.Cells[i%n]
		c.NNZ, c.DstRows, c.SrcRows = c.NNZ+cells[i].NNZ, c.DstRows+cells[i].DstRows, c.SrcRows+cells[i].SrcRows
	}
	return g
}

// Cell is the statistics of the edges from interval s to interval d.
func (g GridStats) Cell(d, s int) CellStat { return g.Cells[d*g.P+s] }

// CSC is the layout that Build would give the CSC cell of destination interval d
// and source interval s. Off and Hub are zero.
func (g GridStats) CSC(d, s int, w Want) Cell {
	c := g.Cell(d, s)
	l := layOut(g.Rows(d), c.DstRows, c.NNZ, w, g.DataCols, g.Width)
	l.Needs = c.SrcRows
	return l
}

// CSR is the layout that Build would give the CSR cell of source interval s and
// destination interval d. Off and Hub are zero.
func (g GridStats) CSR(s, d int, w Want) Cell {
	c := g.Cell(d, s)
	l := layOut(g.Rows(s), c.SrcRows, c.NNZ, w, g.DataCols, g.Width)
	l.Needs = c.DstRows
	return l
}

// Bytes is the size of the wanted sides together, and of their largest block.
func (g GridStats) Bytes(w Want) (total, largest int64) {
	add := func(c Cell) {
		total += c.Bytes
		largest = max(largest, c.Bytes)
	}
	for i := range g.P {
		for j := range g.P {
			if w.CSC {
				add(g.CSC(i, j, w))
			}
			if w.CSR {
				add(g.CSR(i, j, w))
			}
		}
	}
	return total, largest
}

// bitset is a set of small integers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

// add adds i to the set and reports whether it was new.
func (b bitset) add(i int) bool {
	w, bit := &b[i>>6], uint64(1)<<(i&63)
	fresh := *w&bit == 0
	*w |= bit
	return fresh
}

// addShared is add for a set that several goroutines fill. If several add the same i, it returns true to
// one of them only.
func (b bitset) addShared(i int) bool {
	w, bit := &b[i>>6], uint64(1)<<(i&63)
	if atomic.LoadUint64(w)&bit != 0 {
		return false
	}
	return atomic.OrUint64(w, bit)&bit == 0
}
