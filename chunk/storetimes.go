package chunk

import (
	"encoding/binary"
	"fmt"
	"math"
)

// This file reads and writes times of edges and vertices. Those of edges are in the order in which edges were appended, and the writer
// holds them until it closes.

// Timed reports whether the edges have times.
func Timed(s *Store) bool { return s.single[KindEdgeTimes] >= 0 }

// readTimes reads a block of times; nil if the store has none.
func readTimes(s *Store, k Kind) ([]float64, error) {
	b, err := s.readSingleBytes(k)
	if b == nil || err != nil {
		return nil, err
	}
	x := make([]float64, len(b)/8)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	if i := noTime(x); i >= 0 {
		return nil, fmt.Errorf("%s: %v: time %d is %v", s.path, s.blocks[s.single[k]], i, x[i])
	}
	return x, nil
}

// VertexTimes reads what SetVertexTimes writes; nil if the store has none.
func VertexTimes(s *Store) ([]float64, error) { return readTimes(s, KindVertexTimes) }

// SetVertexTimes sets a time for each vertex.
func (w *Writer) SetVertexTimes(x []float64) error {
	if i := noTime(x); i >= 0 || len(x) != w.meta.V {
		return w.fail(fmt.Errorf("%d times for %d vertices, or one is no number", len(x), w.meta.V))
	}
	return w.once(KindVertexTimes, timeBytes(x))
}

// writeTimes writes the times of all edges.
func (w *Writer) writeTimes() error {
	if !w.meta.Timed {
		return nil
	}
	return w.block(KindEdgeTimes, 0, 0, timeBytes(w.times))
}

func timeBytes(x []float64) []byte {
	b := make([]byte, 0, 8*len(x))
	for _, t := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(t))
	}
	return b
}

// withTimes calls f for pieces of edges that each gives in appended order, with their times.
func withTimes(s *Store, each func(*Store, func(*Edges) error) error, f func(*Edges) error) error {
	times, err := readTimes(s, KindEdgeTimes)
	if times == nil || err != nil {
		if err == nil {
			err = each(s, f)
		}
		return err
	}
	at := 0
	return each(s, func(p *Edges) error {
		p.Time = times[at : at+p.E()]
		at += p.E()
		return f(p)
	})
}
