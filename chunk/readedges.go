package chunk

import (
	"fmt"
	"math"
)

// ReadEdges reads all edges, in user ids. They are in the order in which they
// were appended if the store keeps it (see KeepsOrder). Otherwise they are sorted by destination interval,
// then source interval of the base grid, and inside a cell they are in appended order.
//
// It takes the memory of the result and, while it restores the order, that of the
// sequence and of one column.
func (s *Store) ReadEdges() (*Edges, error) {
	e, err := s.ReadCells(0, s.in.P, 0, s.in.P)
	if err == nil && s.h.Flags&flagSequence != 0 {
		err = s.restoreOrder(e)
	}
	if err == nil {
		e.Time, err = readTimes(s, KindEdgeTimes)
	}
	return e, err
}

// ReadCells reads the edges of the base cells with destination interval in
// dst0..dst1-1 and source interval in src0..src1-1, in user ids, cell by cell,
// destination-major, in appended order inside a cell, without times. A grid of P intervals, P
// dividing the base, takes its chunk (i,j) from one such rectangle.
func (s *Store) ReadCells(dst0, dst1, src0, src1 int) (*Edges, error) {
	if dst0 < 0 || src0 < 0 || dst0 > dst1 || src0 > src1 || dst1 > s.in.P || src1 > s.in.P {
		return nil, fmt.Errorf("%s: cells %d..%d × %d..%d of a %d×%d grid", s.path, dst0, dst1, src0, src1, s.in.P, s.in.P)
	}
	total := int64(0)
	for d := dst0; d < dst1; d++ {
		for x := src0; x < src1; x++ {
			total += s.CellNNZ(d, x)
		}
	}
	if total > math.MaxInt/s.h.edgeBytes() {
		return nil, fmt.Errorf("%s: %d edges do not fit this machine's addresses", s.path, total)
	}
	e := s.newEdges(int(total))
	var buf []uint32
	at := 0
	for d := dst0; d < dst1; d++ {
		for x := src0; x < src1; x++ {
			c := s.cells[d*s.in.P+x]
			for _, b := range s.blocks[c[0]:c[1]] {
				if words := int(b.Len / 4); len(buf) < words {
					buf = make([]uint32, words)
				}
				n, err := s.readEdges(e, at, b, buf[:b.Len/4])
				if err != nil {
					return nil, err
				}
				at += n
			}
		}
	}
	return e, nil
}

// newEdges is n edges of the store's form, all zero.
func (s *Store) newEdges(n int) *Edges {
	e := &Edges{V: s.V(), Src: make([]uint32, n), Dst: make([]uint32, n), Types: s.Types(), DataCols: s.DataCols()}
	if s.Weighted() {
		e.Weight = make([]float32, n)
	}
	if e.Types > 0 {
		e.Type = make([]uint32, n)
	}
	if e.DataCols > 0 {
		e.Data = make([]float32, n*e.DataCols)
	}
	return e
}

// readEdges reads block b into the edges from position at on, and returns the number of
// edges in the block. Ids, types and values are checked.
func (s *Store) readEdges(e *Edges, at int, b Block, buf []uint32) (int, error) {
	if err := s.readBlock(b, bytesOf(buf)); err != nil {
		return 0, err
	}
	n := len(buf) / int(s.h.edgeWords())
	take := func(dst []byte, words int) {
		copy(dst, bytesOf(buf[:words]))
		buf = buf[words:]
	}
	part := &Edges{V: e.V, Src: e.Src[at : at+n], Dst: e.Dst[at : at+n], Types: e.Types, DataCols: e.DataCols}
	take(bytesOf(part.Src), n)
	take(bytesOf(part.Dst), n)
	if e.Weight != nil {
		part.Weight = e.Weight[at : at+n]
		take(bytesOf(part.Weight), n)
	}
	if e.Type != nil {
		part.Type = e.Type[at : at+n]
		take(bytesOf(part.Type), n)
	}
	if c := e.DataCols; c > 0 {
		part.Data = e.Data[at*c : (at+n)*c]
		take(bytesOf(part.Data), n*c)
	}
	if err := part.Validate(); err != nil {
		return 0, fmt.Errorf("%s: %v: %w", s.path, b, err)
	}
	return n, nil
}

// restoreOrder puts edges that are sorted by cell into the order in which they were appended.
func (s *Store) restoreOrder(e *Edges) error {
	seq, err := s.readSequence()
	if err != nil {
		return err
	}
	first := make([]int, len(s.cellNNZ)) // position of each cell's first edge
	for c := 1; c < len(first); c++ {
		first[c] = first[c-1] + int(s.cellNNZ[c-1])
	}
	if err := s.checkSequence(seq); err != nil {
		return err
	}
	e.Src, e.Dst = reorder(e.Src, 1, seq, first), reorder(e.Dst, 1, seq, first)
	e.Weight, e.Type = reorder(e.Weight, 1, seq, first), reorder(e.Type, 1, seq, first)
	e.Data = reorder(e.Data, e.DataCols, seq, first)
	return nil
}

// reorder makes row k of the next unused row of cell seq[k]. first is where each
// cell's rows start.
func reorder[T any](from []T, cols int, seq []uint16, first []int) []T {
	if from == nil {
		return nil
	}
	next := append([]int(nil), first...)
	to := make([]T, len(from))
	for k, c := range seq {
		n := next[c]
		next[c]++
		copy(to[k*cols:(k+1)*cols], from[n*cols:])
	}
	return to
}

// readSequence is the cell of each edge in appended order.
func (s *Store) readSequence() ([]uint16, error) {
	seq := make([]uint16, s.h.E)
	if s.h.seqBytes() == 2 {
		b := bytesOf(seq)
		for _, i := range s.sequence {
			n := s.blocks[i].Len
			if err := s.readBlock(s.blocks[i], b[:n]); err != nil {
				return nil, err
			}
			b = b[n:]
		}
		return seq, nil
	}
	at := 0
	for _, i := range s.sequence {
		b := make([]byte, s.blocks[i].Len)
		if err := s.readBlock(s.blocks[i], b); err != nil {
			return nil, err
		}
		for _, c := range b {
			seq[at] = uint16(c)
			at++
		}
	}
	return seq, nil
}

// Order is the vertex order that the base grid cuts into intervals; nil if that is
// the user's own order.
func (s *Store) Order() (*Order, error) {
	ids, err := readSingle[uint32](s, KindOrder)
	if ids == nil || err != nil {
		return nil, err
	}
	o, err := OrderOf(ids)
	if err != nil {
		return nil, fmt.Errorf("%s: %v: %w", s.path, s.blocks[s.single[KindOrder]], err)
	}
	return o, nil
}
