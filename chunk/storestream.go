package chunk

import (
	"fmt"
	"math"
)

// This file reads a store's edges piece by piece.

// Bounds of EachEdges: the most edges of a piece, and the memory of the readers of all cells together.
const (
	pieceEdges   = 1 << 16
	cursorsBytes = 32 << 20
)

// EachEdges calls f for pieces of the edges, in the order of ReadEdges. A piece is valid until f returns.
// EachEdges takes the memory of the largest block. If it restores the appended order, it takes 64 MiB and
// reads the edges twice, as checksums are of whole blocks. Times of all edges are held.
func (s *Store) EachEdges(f func(*Edges) error) error { return withTimes(s, eachPiece, f) }

// eachPiece is Store.EachEdges without times.
func eachPiece(s *Store, f func(*Edges) error) error {
	if s.h.Flags&flagSequence != 0 {
		return s.eachInOrder(f)
	}
	var buf []uint32
	for _, b := range s.blocks {
		if b.Kind != KindEdges {
			continue
		}
		if words := int(b.Len / 4); len(buf) < words {
			buf = make([]uint32, words)
		}
		e := s.newEdges(int(b.Len / s.h.edgeBytes()))
		if _, err := s.readEdges(e, 0, b, buf[:b.Len/4]); err != nil {
			return err
		}
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

// eachInOrder calls f for pieces of the edges in appended order. The next edge is the next one of the cell
// that the sequence names.
func (s *Store) eachInOrder(f func(*Edges) error) error {
	for _, b := range s.blocks {
		if b.Kind != KindEdges {
			continue
		}
		if err := s.verifyChecksum(b); err != nil {
			return err
		}
	}
	cells := make([]cellCursor, len(s.cells))
	for c := range cells {
		cells[c] = cellCursor{s: s, blocks: s.blocks[s.cells[c][0]:s.cells[c][1]], room: int(max(16, cursorsBytes/int64(len(s.cells))/s.h.edgeBytes()))}
	}
	e, n := s.newEdges(pieceEdges), 0
	flush := func() error {
		p := e.Slice(0, n)
		n = 0
		if err := p.Validate(); err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
		return f(p)
	}
	for _, i := range s.sequence {
		b := make([]byte, s.blocks[i].Len)
		if err := s.readBlock(s.blocks[i], b); err != nil {
			return err
		}
		for k := 0; k < len(b); k += int(s.h.seqBytes()) {
			c := int(b[k])
			if s.h.seqBytes() == 2 {
				c |= int(b[k+1]) << 8
			}
			if c >= len(cells) {
				return fmt.Errorf("%s: %v names cell %d of %d", s.path, s.blocks[i], c, len(cells))
			}
			if err := cells[c].next(e, n); err != nil {
				return err
			}
			if n++; n == pieceEdges {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// Slice is the edges lo..hi-1, which share e's memory.
func (e *Edges) Slice(lo, hi int) *Edges {
	p := &Edges{V: e.V, Src: e.Src[lo:hi], Dst: e.Dst[lo:hi], Types: e.Types, DataCols: e.DataCols}
	if e.Weight != nil {
		p.Weight = e.Weight[lo:hi]
	}
	if e.Type != nil {
		p.Type = e.Type[lo:hi]
	}
	if e.Time != nil {
		p.Time = e.Time[lo:hi]
	}
	if e.Data != nil {
		p.Data = e.Data[lo*e.DataCols : hi*e.DataCols]
	}
	return p
}

// cellCursor reads the edges of a cell, some at a time.
type cellCursor struct {
	s      *Store
	blocks []Block // blocks that were not yet read to the end
	done   int64   // edges of the first of these blocks that were read
	room   int     // how many edges to read at a time
	held   *Edges
	at     int
}

// next writes the next edge of the cell to position n of e.
func (c *cellCursor) next(e *Edges, n int) error {
	if c.held == nil || c.at == c.held.E() {
		if err := c.fill(); err != nil {
			return err
		}
	}
	h, k := c.held, c.at
	e.Src[n], e.Dst[n] = h.Src[k], h.Dst[k]
	if h.Weight != nil {
		e.Weight[n] = h.Weight[k]
	}
	if h.Type != nil {
		e.Type[n] = h.Type[k]
	}
	copy(e.Data[n*e.DataCols:], h.Data[k*h.DataCols:(k+1)*h.DataCols])
	c.at++
	return nil
}

// fill reads the next edges, column by column.
func (c *cellCursor) fill() error {
	if len(c.blocks) == 0 {
		return fmt.Errorf("%s: the sequence names a cell more often than it has edges", c.s.path)
	}
	b, edge := c.blocks[0], c.s.h.edgeBytes()
	all := b.Len / edge
	n := min(int64(c.room), all-c.done)
	if c.held == nil || int64(c.held.E()) != n {
		c.held = c.s.newEdges(int(n))
	}
	at := b.Off
	column := func(dst []byte, width int64) error {
		err := c.s.readAt(dst, at+c.done*width)
		at += all * width
		return err
	}
	h := c.held
	for _, x := range [][]byte{bytesOf(h.Src), bytesOf(h.Dst), bytesOf(h.Weight), bytesOf(h.Type)} {
		if len(x) == 0 {
			continue
		}
		if err := column(x, 4); err != nil {
			return fmt.Errorf("%s: %v: %w", c.s.path, b, err)
		}
	}
	if h.DataCols > 0 {
		if err := column(bytesOf(h.Data), 4*int64(h.DataCols)); err != nil {
			return fmt.Errorf("%s: %v: %w", c.s.path, b, err)
		}
	}
	c.at = 0
	if c.done += n; c.done == all {
		c.blocks, c.done = c.blocks[1:], 0
	}
	return nil
}

// CellStat counts the edges of cell (dst, src) of the base grid and their different ends. It takes two
// bits for each vertex of an interval, and the memory of the largest block.
func (s *Store) CellStat(o *Order, dst, src int) (CellStat, error) {
	st := CellStat{NNZ: s.CellNNZ(dst, src)}
	ends := [2]bitset{newBitset(s.in.Width), newBitset(s.in.Width)}
	newID := o.newIDs()
	var buf []uint32
	c := s.cells[dst*s.in.P+src]
	for _, b := range s.blocks[c[0]:c[1]] {
		if words := int(b.Len / 4); len(buf) < words {
			buf = make([]uint32, words)
		}
		e := s.newEdges(int(b.Len / s.h.edgeBytes()))
		if _, err := s.readEdges(e, 0, b, buf[:b.Len/4]); err != nil {
			return st, err
		}
		for k, x := range e.Src {
			d := e.Dst[k]
			if newID != nil {
				x, d = newID[x], newID[d]
			}
			x, d = x-uint32(src*s.in.Width), d-uint32(dst*s.in.Width)
			if max(x, d) >= uint32(min(s.in.Width, math.MaxUint32)) {
				return st, fmt.Errorf("%s: %v: edge %d lies in another cell", s.path, b, k)
			}
			if ends[0].add(int(d)) {
				st.DstRows++
			}
			if ends[1].add(int(x)) {
				st.SrcRows++
			}
		}
	}
	return st, nil
}
