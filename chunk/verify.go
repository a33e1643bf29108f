package chunk

import (
	"errors"
	"fmt"
)

// verifyBuffer is how much of a block Verify holds at once.
const verifyBuffer = 4 << 20

// Verify reads and checks the whole store: the checksum of every block, zeros between
// blocks, and that all ids, cells, types, labels and the sequence are in range.
// The error names the first bad block and its byte offset. Verify takes the memory of the vertex order, of
// the largest blocks and, if the store has one, of the sequence (two bytes an edge).
func (s *Store) Verify() error {
	end := int64(headerBytes)
	for _, b := range s.blocks {
		if err := s.verifyZero(end, b.Off); err != nil {
			return err
		}
		if err := s.verifyChecksum(b); err != nil {
			return err
		}
		end = b.Off + b.Len
	}
	if err := s.verifyZero(end, s.h.TableOff); err != nil {
		return err
	}
	if err := s.verifyVertices(); err != nil {
		return err
	}
	return s.verifyEdges()
}

func (s *Store) verifyChecksum(b Block) error {
	crc, length := uint32(0), b.Len
	if b.Kind == KindPart {
		length = headerBytes // Parts.Verify reads the rest
	}
	err := s.eachPart(b.Off, b.Off+length, func(off int64, part []byte) error {
		crc = updateChecksum(crc, part)
		return nil
	})
	if err == nil && crc != b.CRC {
		err = fmt.Errorf("damaged: checksum %08x, should be %08x", crc, b.CRC)
	}
	if err != nil {
		return fmt.Errorf("%s: %v: %w", s.path, b, err)
	}
	return nil
}

// verifyZero checks the padding between blocks.
func (s *Store) verifyZero(lo, hi int64) error {
	return s.eachPart(lo, hi, func(off int64, part []byte) error {
		for i, x := range part {
			if x != 0 {
				return fmt.Errorf("%s: byte %d between blocks is %d, want 0", s.path, off+int64(i), x)
			}
		}
		return nil
	})
}

func (s *Store) eachPart(lo, hi int64, f func(off int64, part []byte) error) error {
	if hi <= lo {
		return nil
	}
	buf := make([]byte, min(hi-lo, verifyBuffer))
	for off := lo; off < hi; off += int64(len(buf)) {
		buf = buf[:min(hi-off, int64(len(buf)))]
		if err := s.readAt(buf, off); err != nil {
			return err
		}
		if err := f(off, buf); err != nil {
			return err
		}
	}
	return nil
}

// verifyVertices reads everything but the edges; the reading methods check
// the values.
func (s *Store) verifyVertices() error {
	_, err1 := s.Labels()
	_, err2 := s.MultiLabels()
	_, _, err3 := s.Graphs()
	_, err4 := s.EdgeLabels()
	_, err5 := s.Name()
	_, err6 := s.VertexNames()
	_, err7 := s.Notes()
	_, err8 := s.Sparse()
	_, err9 := s.Schema()
	_, err10 := readTimes(s, KindEdgeTimes)
	_, err11 := VertexTimes(s)
	all := []error{err1, err2, err3, err4, err5, err6, err7, err8, err9, err10, err11}
	for _, k := range []Kind{KindTrain, KindGraphTrain, KindEdgeTrain} {
		_, _, _, err := s.Splits(k)
		all = append(all, err)
	}
	for _, k := range []Kind{KindTargets, KindGraphTargets, KindEdgeTargets} {
		_, _, err := s.Targets(k)
		all = append(all, err)
	}
	for _, k := range []Kind{KindGraphSets, KindEdgeSets} {
		_, _, err := s.Sets(k)
		all = append(all, err)
	}
	for k := KindLinkTrain; k.pairs(); k++ {
		_, _, err := s.Pairs(k)
		all = append(all, err)
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	var rows []float32
	for lo := 0; lo < s.V() && s.h.FeatureCols > 0; lo += int(s.h.BlockRows) {
		var err error
		if rows, err = s.ReadFeaturesIn(rows, lo, min(lo+int(s.h.BlockRows), s.V())); err != nil {
			return err
		}
	}
	return nil
}

// verifyEdges checks that each edge is in the cell where it belongs, and
// that the sequence names each cell as often as it has edges.
func (s *Store) verifyEdges() error {
	o, err := s.Order()
	if err != nil {
		return err
	}
	newID, div := o.newIDs(), newDivider(s.in.Width)
	var buf []uint32
	for _, b := range s.blocks {
		if b.Kind != KindEdges {
			continue
		}
		if words := int(b.Len / 4); len(buf) < words {
			buf = make([]uint32, words)
		}
		n := int(b.Len / s.h.edgeBytes())
		e := s.newEdges(n)
		if _, err := s.readEdges(e, 0, b, buf[:b.Len/4]); err != nil {
			return err
		}
		for k, src := range e.Src {
			dst := e.Dst[k]
			if newID != nil {
				src, dst = newID[src], newID[dst]
			}
			d, _ := div.split(dst)
			x, _ := div.split(src)
			if d != int(b.I) || x != int(b.J) {
				return fmt.Errorf("%s: %v: edge %d, from %d to %d, belongs into cell (%d,%d)", s.path, b, k, e.Src[k], e.Dst[k], d, x)
			}
		}
	}
	if s.h.Flags&flagSequence == 0 {
		return nil
	}
	seq, err := s.readSequence()
	if err != nil {
		return err
	}
	return s.checkSequence(seq)
}

// checkSequence returns an error unless seq names every cell exactly as often as the cell has
// edges.
func (s *Store) checkSequence(seq []uint16) error {
	left := append([]int64(nil), s.cellNNZ...)
	for k, c := range seq {
		if int(c) >= len(left) || left[c] == 0 {
			return fmt.Errorf("%s: the sequence puts edge %d into cell %d, which has no such edge", s.path, k, c)
		}
		left[c]--
	}
	return nil
}
