package chunk

import "fmt"

// readTable reads the block table and checks it: blocks lie one after the other
// without overlap, each has a length that its kind allows, parts are complete
// and in order, and the edges add up.
func (s *Store) readTable() error {
	raw := make([]byte, s.h.Blocks*blockBytes)
	if err := s.readAt(raw, s.h.TableOff); err != nil {
		return err
	}
	if got := checksum(raw); int64(got) != s.h.TableCRC {
		return fmt.Errorf("block table at byte %d is damaged: checksum %08x, should be %08x", s.h.TableOff, got, s.h.TableCRC)
	}
	s.blocks = make([]Block, s.h.Blocks)
	s.cells = make([][2]int, s.in.P*s.in.P)
	s.cellNNZ = make([]int64, s.in.P*s.in.P)
	for k := range s.single {
		s.single[k] = -1
	}
	end := int64(headerBytes)
	for i := range s.blocks {
		b := decodeBlock(raw[i*blockBytes:])
		s.blocks[i] = b
		if b.Off != blockAlign(end) || b.Len < 0 || b.Len > s.h.TableOff-b.Off {
			return fmt.Errorf("block table, entry %d: %v of %d bytes, want one that starts at byte %d and ends by %d", i, b, b.Len, blockAlign(end), s.h.TableOff)
		}
		end = b.Off + b.Len
		if err := s.addBlock(i, b); err != nil {
			return fmt.Errorf("block table, entry %d: %w", i, err)
		}
	}
	if blockAlign(end) != s.h.TableOff {
		return fmt.Errorf("blocks end at byte %d, but the block table starts at byte %d", end, s.h.TableOff)
	}
	return s.checkTotals()
}

// addBlock records block i of the table by its kind.
func (s *Store) addBlock(i int, b Block) error {
	if b.Kind >= optionalKind && s.h.version >= optionalKind.version() {
		return nil
	}
	if b.Kind == 0 || b.Kind >= kindEnd || b.Kind.version() > s.h.version {
		return fmt.Errorf("%v is of no kind of version %d", b, s.h.version)
	}
	switch b.Kind {
	case KindEdges:
		return s.addEdges(i, b)
	case KindSequence:
		if int(b.I) != len(s.sequence) || b.J != 0 || b.Len%s.h.seqBytes() != 0 {
			return fmt.Errorf("%v has %d bytes and is out of order or broken", b, b.Len)
		}
		s.sequence = append(s.sequence, i)
		return nil
	case KindFeatures:
		rows := min(s.h.BlockRows, s.h.V-int64(len(s.features))*s.h.BlockRows)
		if int(b.I) != len(s.features) || b.J != 0 || rows < 1 || b.Len != 4*rows*s.h.FeatureCols || b.Len == 0 {
			return fmt.Errorf("%v has %d bytes and is out of order, or is not a block of %d rows of %d features", b, b.Len, rows, s.h.FeatureCols)
		}
		s.features = append(s.features, i)
		return nil
	}
	if b.Kind == KindPart {
		if int(b.I) != len(s.parts) || b.J != 0 || b.Len < headerBytes || s.h.V != 0 || s.h.E != 0 {
			return fmt.Errorf("%v has %d bytes and is out of order or broken, or the store has vertices beside its parts", b, b.Len)
		}
		s.parts = append(s.parts, i)
		return nil
	}
	if b.I != 0 || b.J != 0 || s.single[b.Kind] >= 0 {
		return fmt.Errorf("%v is a second one", b)
	}
	if want := s.singleBytes(b.Kind); want >= 0 && b.Len != want || b.Len > s.h.FileBytes {
		return fmt.Errorf("%v has %d bytes, want %d", b, b.Len, want)
	}
	if b.Len%4 != 0 && b.Kind.split() {
		return fmt.Errorf("%v has %d bytes, which do not make whole ids", b, b.Len)
	}
	s.single[b.Kind] = i
	return nil
}

func (s *Store) addEdges(i int, b Block) error {
	if int64(b.I) >= s.h.Base || int64(b.J) >= s.h.Base {
		return fmt.Errorf("%v lies outside the %d×%d grid", b, s.h.Base, s.h.Base)
	}
	if b.Len == 0 || b.Len%s.h.edgeBytes() != 0 {
		return fmt.Errorf("%v has %d bytes, which do not make whole edges of %d bytes", b, b.Len, s.h.edgeBytes())
	}
	c := int(b.I)*s.in.P + int(b.J)
	first, end := s.cells[c][0], s.cells[c][1]
	if first == end {
		first, end = i, i
	}
	if end != i {
		return fmt.Errorf("%v does not follow the other blocks of its cell", b)
	}
	s.cells[c] = [2]int{first, i + 1}
	s.cellNNZ[c] += b.Len / s.h.edgeBytes()
	return nil
}

// singleBytes is the length that a block of a single kind must have, or -1 when
// any will do.
func (s *Store) singleBytes(k Kind) int64 {
	switch k {
	case KindLabels, KindOrder, KindGraphOf:
		return 4 * s.h.V
	case KindMultiLabels:
		// Cannot overflow: V < 2^32 and Classes < 2^31.
		return s.h.V * s.h.Classes
	case KindGraphLabels:
		return 4 * s.h.Graphs
	case KindEdgeLabels:
		return 4 * s.h.E
	case KindEdgeTimes:
		return 8 * s.h.E
	case KindVertexTimes:
		return 8 * s.h.V
	}
	return -1
}

func (s *Store) checkTotals() error {
	edges := int64(0)
	for _, n := range s.cellNNZ {
		edges += n
	}
	if edges != s.h.E {
		return fmt.Errorf("blocks hold %d edges, the header says %d", edges, s.h.E)
	}
	listed := int64(0)
	for _, i := range s.sequence {
		listed += s.blocks[i].Len / s.h.seqBytes()
	}
	if want := s.h.E; s.h.Flags&flagSequence != 0 && listed != want || s.h.Flags&flagSequence == 0 && listed != 0 {
		return fmt.Errorf("the sequence lists %d edges of %d", listed, want)
	}
	if s.h.FeatureCols > 0 {
		if want := (s.h.V + s.h.BlockRows - 1) / s.h.BlockRows; int64(len(s.features)) != want {
			return fmt.Errorf("%d features blocks, want %d", len(s.features), want)
		}
	}
	return nil
}
