package chunk

import (
	"fmt"
	"unsafe"
)

// Side is one direction of a grid: P×P cells, the cell of own interval o and
// other interval x at index o*P+x. In CSC own is the destination and other the
// source; in CSR the other way round.
type Side struct {
	P     int
	Cells []Cell
	Mem   []byte // every block, in cell order, each at a multiple of Align
}

// Block is the bytes of cell i, which alias Mem.
func (s *Side) Block(i int) []byte {
	c := &s.Cells[i]
	return s.Mem[c.Off : c.Off+c.Bytes : c.Off+c.Bytes]
}

// View is cell i as typed slices, which alias Mem.
func (s *Side) View(i int) View { return ViewOf(&s.Cells[i], s.Block(i)) }

// MaxCellBytes is the size of the largest block, and so of a buffer that any cell can be copied to.
func (s *Side) MaxCellBytes() int64 {
	var m int64
	for i := range s.Cells {
		m = max(m, s.Cells[i].Bytes)
	}
	return m
}

// NNZ is the number of edges over all cells.
func (s *Side) NNZ() int64 {
	var n int64
	for i := range s.Cells {
		n += s.Cells[i].NNZ
	}
	return n
}

// View is a cell as typed slices. Rows of the own interval and of the other
// interval are local: 0 is the interval's first vertex.
type View struct {
	RowIDs []uint32  // Rows ascending local rows; nil when the cell is dense: row r is entry r
	Ptr    []uint32  // Rows+1: the edges of entry r are Ptr[r] .. Ptr[r+1]-1
	Other  []uint32  // NNZ local rows of the other interval, or nil
	Packed []uint32  // the same ids packed (see Cell.Bits), or nil
	Bits   int       // bits of an id in Packed
	Rank   []float32 // NNZ, or nil
	Type   []uint32  // NNZ, or nil
	Weight []float32 // NNZ, or nil
	Data   []float32 // NNZ×DataCols row-major, or nil
}

// ViewOf is a block with the layout of cell c as typed slices. block may be a copy of the
// cell's bytes anywhere. The slices alias block, which must be aligned to 4 bytes and have
// c.Bytes bytes; otherwise ViewOf panics.
func ViewOf(c *Cell, block []byte) View {
	if int64(len(block)) < c.Bytes {
		panic(fmt.Sprintf("chunk: block of %d bytes for a cell of %d", len(block), c.Bytes))
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(block)))%4 != 0 {
		panic("chunk: block is not aligned to 4 bytes")
	}
	n := int(c.NNZ)
	v := View{
		RowIDs: part[uint32](block, c.RowsOff, c.Rows),
		Ptr:    part[uint32](block, c.PtrOff, c.Rows+1),
		Bits:   c.Bits,
		Rank:   part[float32](block, c.RankOff, n),
		Type:   part[uint32](block, c.TypeOff, n),
		Weight: part[float32](block, c.WeightOff, n),
		Data:   part[float32](block, c.DataOff, n*c.DataCols),
	}
	if far := part[uint32](block, c.OtherOff, int(packedWords(c.NNZ, c.Bits))); c.Bits == wordBits {
		v.Other = far
	} else {
		v.Packed = far
	}
	return v
}

// part is n values at byte offset off of block, or nil when off is -1. An empty
// part is empty, not nil.
func part[T uint32 | float32](block []byte, off int64, n int) []T {
	if off < 0 {
		return nil
	}
	b := block[off : off+4*int64(n)]
	if n == 0 {
		return []T{}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

// newArena is n zero bytes that start at a multiple of Align.
func newArena(n int64) []byte {
	b := make([]byte, n+Align)
	skip := -int64(uintptr(unsafe.Pointer(&b[0]))) & (Align - 1)
	return b[skip : skip+n : skip+n]
}
