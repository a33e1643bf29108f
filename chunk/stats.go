package chunk

import (
	"iter"
	"sync/atomic"
)

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
	Back     []CellStat // of CSR, where cells are not divided at their other end (Intervals.Whole); nil: Cells are of both sides
}

// Stats counts what the cells of the p×p grid would hold under order o (nil for
// the identity). It takes O(E + V×p/8 + p²) time and V×p/4 bytes. The edges and
// the order must be valid; p is clamped to 1..MaxIntervals.
func Stats(e *Edges, o *Order, p int) GridStats { return StatsOf(e, o, p, Want{}) }

// StatsOf is Stats of cells that w says are divided at both ends or not.
func StatsOf(e *Edges, o *Order, p int, w Want) GridStats {
	in, err := intervalsFor(e.V, min(max(p, 1), MaxIntervals), w)
	if err != nil {
		return GridStats{}
	}
	all := End{o.newIDs(), 0, in.P}
	return stats(e, all, all, in, false)
}

// End is the vertices at one end of the edges of a relation: their intervals, N from First on, and their ids in the numbering of all
// intervals, by the ids that the edges have; nil: the edges have those.
type End struct {
	IDs      []uint32
	First, N int
}

// StatsOver is Stats for edges between vertices of two types; alone: on one processor, where edges of other relations are counted on others.
func StatsOver(e *Edges, src, dst End, in Intervals, alone bool) GridStats {
	return stats(e, src, dst, in, alone)
}

func stats(e *Edges, src, dst End, in Intervals, alone bool) GridStats {
	g := GridStats{Intervals: in, DataCols: e.DataCols}
	// One bit for each (vertex, interval of the other end): whether it was met already.
	dstSeen, srcSeen := newBitset(dst.N*in.Width*src.N), newBitset(src.N*in.Width*dst.N)
	n := in.P * in.P
	blocks := max(1, min(pieces(e.E(), 1<<16), e.E()/(8*n)))
	if alone {
		blocks = 1
	}
	cells, back := make([]CellStat, blocks*n), []CellStat(nil)
	if in.Whole != nil {
		back = make([]CellStat, blocks*n)
	}
	Each(blocks, func(b int) {
		x := counting{p: in.P, width: in.Width, div: newDivider(in.Width), from: src, to: dst, cells: cells[b*n : (b+1)*n], dstSeen: dstSeen, srcSeen: srcSeen, alone: blocks == 1}
		for k, to := cut(e.E(), blocks, b), cut(e.E(), blocks, b+1); k < to; k += countedAtOnce {
			end := min(to, k+countedAtOnce)
			if back != nil {
				x.countWhole(in, back[b*n:(b+1)*n], renamed(x.src[:], e.Src[k:end], src.IDs), renamed(x.dst[:], e.Dst[k:end], dst.IDs))
				continue
			}
			x.count(renamed(x.src[:], e.Src[k:end], src.IDs), renamed(x.dst[:], e.Dst[k:end], dst.IDs))
		}
	})
	g.Cells, g.Back = summed(cells, n), summed(back, n)
	return g
}

// summed adds up the counts of blocks of n cells.
func summed(cells []CellStat, n int) []CellStat {
	for i := n; i < len(cells); i++ {
		c := &cells[i%n]
		c.NNZ, c.DstRows, c.SrcRows = c.NNZ+cells[i].NNZ, c.DstRows+cells[i].DstRows, c.SrcRows+cells[i].SrcRows
	}
	if cells == nil {
		return nil
	}
	return cells[:n:n]
}

// countedAtOnce is how many edges are counted together: first all that is known of their ends is read, then all bits, then these are set.
// Each access to memory would wait for the one before if edges were counted one by one.
const countedAtOnce = 512

// counting counts edges, many at once.
type counting struct {
	p, width         int
	div              divider
	from, to         End // the sources and the destinations
	cells            []CellStat
	dstSeen, srcSeen bitset
	alone            bool                  // nobody else fills the sets
	src, dst         [countedAtOnce]uint32 // ids
	cell             [countedAtOnce]int32
	dstBit, srcBit   [countedAtOnce]int
}

// renamed writes the ids that new says for old to out, and returns them; old if new is nil.
func renamed(out, old, new []uint32) []uint32 {
	if new == nil {
		return old
	}
	out = out[:len(old)]
	for k, v := range old {
		out[k] = new[v]
	}
	return out
}

// count counts at most countedAtOnce edges.
func (x *counting) count(src, dst []uint32) {
	for k := range src {
		d, _ := x.div.split(dst[k])
		s, _ := x.div.split(src[k])
		c := d*x.p + s
		x.cells[c].NNZ++
		x.cell[k] = int32(c)
		x.dstBit[k] = (int(dst[k])-x.to.First*x.width)*x.from.N + s - x.from.First
		x.srcBit[k] = (int(src[k])-x.from.First*x.width)*x.to.N + d - x.to.First
	}
	if x.alone {
		for k := range src {
			if c := &x.cells[x.cell[k]]; x.dstSeen.add(x.dstBit[k]) {
				c.DstRows++
			}
		}
		for k := range src {
			if c := &x.cells[x.cell[k]]; x.srcSeen.add(x.srcBit[k]) {
				c.SrcRows++
			}
		}
		return
	}
	for k, fresh := range x.dstSeen.addAll(x.dstBit[:len(src)]) {
		if fresh {
			x.cells[x.cell[k]].DstRows++
		}
	}
	for k, fresh := range x.srcSeen.addAll(x.srcBit[:len(src)]) {
		if fresh {
			x.cells[x.cell[k]].SrcRows++
		}
	}
}

// countWhole is count for cells that are not divided at their other end: those of CSR are counted in back.
func (x *counting) countWhole(in Intervals, back []CellStat, src, dst []uint32) {
	for k := range src {
		d, _ := x.div.split(dst[k])
		s, _ := x.div.split(src[k])
		farD, _ := in.far(d, 0)
		farS, _ := in.far(s, 0)
		c, b := &x.cells[d*x.p+farS], &back[farD*x.p+s]
		c.NNZ, b.NNZ = c.NNZ+1, b.NNZ+1
		if x.dstSeen.addShared((int(dst[k])-x.to.First*x.width)*x.from.N + farS - x.from.First) {
			c.DstRows++
		}
		if x.srcSeen.addShared((int(src[k])-x.from.First*x.width)*x.to.N + farD - x.to.First) {
			b.SrcRows++
		}
	}
}

// Cell is the statistics of the edges from interval s to interval d.
func (g GridStats) Cell(d, s int) CellStat { return g.Cells[d*g.P+s] }

// CSC is the layout that Build would give the CSC cell of destination interval d
// and source interval s. Off and Hub are zero.
func (g GridStats) CSC(d, s int, w Want) Cell {
	c := g.Cell(d, s)
	l := layOut(g.Rows(d), c.DstRows, c.NNZ, w, g.DataCols, g.FarWidth(s))
	l.Needs = c.SrcRows
	return l
}

// CSR is the layout that Build would give the CSR cell of source interval s and
// destination interval d. Off and Hub are zero.
func (g GridStats) CSR(s, d int, w Want) Cell {
	c := g.Cell(d, s)
	if g.Back != nil {
		c = g.Back[d*g.P+s]
	}
	l := layOut(g.Rows(s), c.SrcRows, c.NNZ, w, g.DataCols, g.FarWidth(d))
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

// addAll yields addShared of each of list. It reads all words first, so that reads from memory do not wait for each other.
func (b bitset) addAll(list []int) iter.Seq2[int, bool] {
	return func(yield func(int, bool) bool) {
		for _, i := range list {
			atomic.LoadUint64(&b[i>>6])
		}
		for k, i := range list {
			if !yield(k, b.addShared(i)) {
				return
			}
		}
	}
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
