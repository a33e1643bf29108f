package chunk

import (
	"encoding/binary"
	"fmt"
	"math"
)

// unknownByte stands for a label that is not known, which is -1 in rows of labels.
const unknownByte = math.MaxUint8

// SetSets sets the labels of edges (KindEdgeSets) or graphs (KindGraphSets) of which each can have several classes: rows of
// cols values 0, 1 or -1 (not known). The rows of edges are in the order in which edges were appended.
func (w *Writer) SetSets(k Kind, rows []float32, cols int) error {
	if err := w.h.checkSets(k, len(rows), cols); err != nil {
		return w.fail(err)
	}
	what := "graph"
	if k == KindEdgeSets {
		what = "edge"
		if err := w.edgesInOrder(k); err != nil {
			return err
		}
	} else {
		w.graphs = max(w.graphs, int64(len(rows)/cols))
	}
	b, err := setBytes(binary.LittleEndian.AppendUint32(nil, uint32(cols)), rows, cols, what)
	if err != nil {
		return w.fail(err)
	}
	return w.once(k, b)
}

// Sets reads what SetSets writes; nil if the store has none.
func (s *Store) Sets(k Kind) (rows []float32, cols int, err error) {
	b, err := s.readSingleBytes(k)
	if b == nil || err != nil {
		return nil, 0, err
	}
	at := s.blocks[s.single[k]]
	if len(b) < 4 {
		return nil, 0, fmt.Errorf("%s: %v has %d bytes, which are no number of columns", s.path, at, len(b))
	}
	cols = int(binary.LittleEndian.Uint32(b))
	if err := s.h.checkSets(k, len(b)-4, cols); err != nil {
		return nil, 0, fmt.Errorf("%s: %v: %w", s.path, at, err)
	}
	rows, err = s.setsOf(b[4:], k, 4)
	return rows, cols, err
}

func (h *header) checkSets(k Kind, n, cols int) error {
	switch {
	case k != KindGraphSets && k != KindEdgeSets:
		return fmt.Errorf("%v is not a kind of multi-labels", k)
	case cols < 1 || n%cols != 0 || k == KindEdgeSets && int64(n/cols) != h.E:
		return fmt.Errorf("%d labels in rows of %d do not fit a graph of %d edges", n, cols, h.E)
	}
	return nil
}

// setBytes appends labels of 0, 1 and -1 to b.
func setBytes(b []byte, labels []float32, cols int, what string) ([]byte, error) {
	for i, x := range labels {
		switch x {
		case 0, 1:
			b = append(b, byte(x))
		case -1:
			b = append(b, unknownByte)
		default:
			return nil, fmt.Errorf("%s %d has label %v for class %d, want 0, 1, or -1 where it is not known", what, i/cols, x, i%cols)
		}
	}
	return b, nil
}

// setsOf are the labels that the bytes of a block stand for; first is the byte of the block where b begins.
func (s *Store) setsOf(b []byte, k Kind, first int) ([]float32, error) {
	l := make([]float32, len(b))
	for i, x := range b {
		switch x {
		case 0, 1:
			l[i] = float32(x)
		case unknownByte:
			l[i] = -1
		default:
			return nil, fmt.Errorf("%s: %v: byte %d is %d, want 0, 1 or %d", s.path, s.blocks[s.single[k]], first+i, x, unknownByte)
		}
	}
	return l, nil
}
