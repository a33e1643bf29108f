package chunk

import "slices"

// Align is the alignment in bytes of cell blocks and of every part inside one.
const Align = 64

// Want says what the cells of a grid hold besides the edges themselves.
type Want struct {
	Rank   bool // position of the edge in its destination's whole in-list
	Type   bool // edge type; rows are then sorted by type
	Weight bool // one scalar an edge
	Data   bool // DataCols scalars an edge
	CSC    bool // build the side grouped by destination
	CSR    bool // build the side grouped by source
	Pack   bool // ids of the other end are packed: they take as many bits as an interval needs, not 32
	Wide   int  // so many intervals of a type that cells reach over at their other end (Intervals.Whole); 0: one, AllFar: all
}

// Wants says what the cells of each relation hold, by the relation's number. Relations beyond its end have no cells.
type Wants []Want

// Of is what the cells of relation r hold.
func (w Wants) Of(r int) Want {
	if r < len(w) {
		return w[r]
	}
	return Want{}
}

// Any is what the cells of some relation hold.
func (w Wants) Any() (all Want) {
	for _, x := range w {
		all = all.or(x)
	}
	return all
}

// Join is what cells hold that serve for both w and o.
func (w Wants) Join(o Wants) Wants {
	all := make(Wants, max(len(w), len(o)))
	for r := range all {
		all[r] = w.Of(r).or(o.Of(r))
	}
	return all
}

// Widened is w with cells that reach over wide intervals.
func (w Wants) Widened(wide int) Wants {
	out := slices.Clone(w)
	for r := range out {
		out[r].Wide = wide
	}
	return out
}

func (w Want) or(o Want) Want {
	return Want{Rank: w.Rank || o.Rank, Type: w.Type || o.Type, Weight: w.Weight || o.Weight, Data: w.Data || o.Data, CSC: w.CSC || o.CSC, CSR: w.CSR || o.CSR, Pack: w.Pack || o.Pack, Wide: max(w.Wide, o.Wide)}
}

// Ascend reports whether the ranks of a row's edges ascend in every cell of CSC. They do if the
// edges of a row are in stored order; with types they are sorted by type first.
func (w Want) Ascend() bool { return w.Rank && !w.Type }

// Cell describes one edge chunk of a side: sizes, and where its block and the
// parts of the block lie. The block is, each part aligned to Align bytes:
//
//	rows    uint32 × Rows       local own rows, ascending; absent when Dense
//	ptr     uint32 × (Rows+1)   edges of row r are ptr[r] .. ptr[r+1]-1
//	other   uint32 × NNZ        row local to the other interval; packed a stream of Bits bits each
//	rank    float32 × NNZ       when wanted; exact, below 2^24
//	type    uint32 × NNZ        when wanted
//	weight  float32 × NNZ       when wanted
//	data    float32 × NNZ×DataCols  when wanted
//
// Offsets of absent parts are -1.
type Cell struct {
	NNZ      int64 // edges
	Rows     int   // entries of the row list; rows of the own interval when Dense
	Dense    bool  // ptr covers every row of the own interval
	Hub      int64 // most edges that one row has in this cell
	DataCols int   // width of data; 0 when absent
	Needs    int   // number of different rows of the other interval that its edges read; 0 in a cell that is not divided there
	Bits     int   // bits of an id of the other interval; 32 when not packed

	Off, Bytes int64 // the block: Mem[Off : Off+Bytes]

	// Offsets of the parts, relative to the block.
	RowsOff, PtrOff, OtherOff, RankOff, TypeOff, WeightOff, DataOff int64
}

func align(n int64) int64 { return (n + Align - 1) &^ (Align - 1) }

// CellSize is the size in bytes of the block of a cell, without building it. The cell has nnz edges in
// nonEmpty of the own interval's rows; its other end has at most width rows.
func CellSize(rows, nonEmpty int, nnz int64, w Want, dataCols, width int) int64 {
	return layOut(rows, nonEmpty, nnz, w, dataCols, width).Bytes
}

// layOut computes the sizes and offsets of a cell with nnz edges in nonEmpty of
// the interval's rows; Off and Hub stay zero. The cell has a row list if that makes
// the block smaller.
func layOut(rows, nonEmpty int, nnz int64, w Want, dataCols, width int) Cell {
	c := Cell{NNZ: nnz, Rows: rows, Dense: true, Bits: w.bitsFor(width),
		RowsOff: -1, RankOff: -1, TypeOff: -1, WeightOff: -1, DataOff: -1}
	at := int64(0)
	part := func(n int64) int64 {
		off := at
		at += align(4 * n)
		return off
	}
	n := int64(nonEmpty)
	if align(4*n)+align(4*(n+1)) < align(4*(int64(rows)+1)) {
		c.Dense, c.Rows = false, nonEmpty
		c.RowsOff = part(n)
	}
	c.PtrOff = part(int64(c.Rows) + 1)
	c.OtherOff = part(packedWords(nnz, c.Bits))
	if w.Rank {
		c.RankOff = part(nnz)
	}
	if w.Type {
		c.TypeOff = part(nnz)
	}
	if w.Weight {
		c.WeightOff = part(nnz)
	}
	if w.Data {
		c.DataCols = dataCols
		c.DataOff = part(nnz * int64(dataCols))
	}
	c.Bytes = at
	return c
}
