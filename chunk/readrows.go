package chunk

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// ReadFeatures reads the features of vertices lo..hi-1 in user ids: (hi-lo) ×
// FeatureCols values, row-major. It is an error when the store has no such rows.
func (s *Store) ReadFeatures(lo, hi int) ([]float32, error) { return s.ReadFeaturesIn(nil, lo, hi) }

// ReadFeaturesIn is ReadFeatures with the result in memory, if that is large enough.
func (s *Store) ReadFeaturesIn(memory []float32, lo, hi int) ([]float32, error) {
	if lo < 0 || lo > hi || hi > s.V() || s.h.FeatureCols == 0 {
		return nil, fmt.Errorf("%s: feature rows %d..%d of %d×%d", s.path, lo, hi, s.V(), s.h.FeatureCols)
	}
	cols, rows := int(s.h.FeatureCols), int(s.h.BlockRows)
	if n := (hi - lo) * cols; memory == nil || cap(memory) < n {
		memory = make([]float32, n)
	}
	x := memory[:(hi-lo)*cols]
	var buf []float32 // for blocks of which only a part is wanted
	for at := lo; at < hi; {
		i := at / rows
		b := s.blocks[s.features[i]]
		first, n := i*rows, int(b.Len)/4/cols
		end := min(first+n, hi)
		to := x[(at-lo)*cols : (end-lo)*cols]
		if at == first && end == first+n {
			if err := s.readBlock(b, bytesOf(to)); err != nil {
				return nil, err
			}
		} else {
			if buf == nil {
				buf = make([]float32, min(rows, s.V())*cols)
			}
			if err := s.readBlock(b, bytesOf(buf[:n*cols])); err != nil {
				return nil, err
			}
			copy(to, buf[(at-first)*cols:])
		}
		if k := NotFinite(to); k >= 0 {
			return nil, fmt.Errorf("%s: %v: vertex %d has feature %d = %v", s.path, b, at+k/cols, k%cols, to[k])
		}
		at = end
	}
	return x, nil
}

// Labels reads the class of each vertex, -1 where there is none: V values, or
// nil when the store has none.
func (s *Store) Labels() ([]int32, error) {
	l, err := readSingle[int32](s, KindLabels)
	if err != nil {
		return nil, err
	}
	return l, s.checkLabels(l, KindLabels)
}

func (s *Store) checkLabels(l []int32, k Kind) error {
	for i, c := range l {
		if c < -1 || int64(c) >= s.h.Classes {
			return fmt.Errorf("%s: %v: entry %d has class %d of %d", s.path, s.blocks[s.single[k]], i, c, s.h.Classes)
		}
	}
	return nil
}

// MultiLabels reads V×Classes values 0, 1 or -1 (not known), row-major, or nil when the store
// has none.
func (s *Store) MultiLabels() ([]float32, error) {
	b, err := s.readSingleBytes(KindMultiLabels)
	if b == nil || err != nil {
		return nil, err
	}
	return s.setsOf(b, KindMultiLabels, 0)
}

// readIDs reads a single block of ids, each below limit.
func (s *Store) readIDs(k Kind, limit int64) ([]uint32, error) {
	ids, err := readSingle[uint32](s, k)
	if err != nil {
		return nil, err
	}
	for i, v := range ids {
		if int64(v) >= limit {
			return nil, fmt.Errorf("%s: %v: entry %d is %d, want less than %d", s.path, s.blocks[s.single[k]], i, v, limit)
		}
	}
	return ids, nil
}

// Graphs reads the graph of each vertex (V values) and the class of each graph,
// -1 where there is none; nil where the store has none. The classes of graphs
// are not those of the vertices and may be any number from -1 on.
func (s *Store) Graphs() (graphOf []uint32, labels []int32, err error) {
	if graphOf, err = s.readIDs(KindGraphOf, MaxVertices); err != nil {
		return nil, nil, err
	}
	if labels, err = readSingle[int32](s, KindGraphLabels); err != nil {
		return nil, nil, err
	}
	for i, g := range graphOf {
		if labels != nil && int64(g) >= int64(len(labels)) {
			return nil, nil, fmt.Errorf("%s: vertex %d belongs to graph %d of %d", s.path, i, g, len(labels))
		}
	}
	for i, c := range labels {
		if c < -1 {
			return nil, nil, fmt.Errorf("%s: graph %d has class %d", s.path, i, c)
		}
	}
	return graphOf, labels, nil
}

// Name reads the name of the graph, which may be empty.
func (s *Store) Name() (string, error) { return s.readText(KindName) }

// Notes reads what the writer noted about how the graph was made, which may be empty.
func (s *Store) Notes() (string, error) { return s.readText(KindNotes) }

// Schema reads what the numbers of the store mean, which is empty in stores before version 3.
func (s *Store) Schema() (string, error) { return s.readText(KindSchema) }

func (s *Store) readText(k Kind) (string, error) {
	b, err := s.readSingleBytes(k)
	if err == nil && !utf8.Valid(b) {
		err = fmt.Errorf("%s: %v is not UTF-8", s.path, s.blocks[s.single[k]])
	}
	if err != nil {
		return "", err
	}
	return string(b), nil
}

// VertexNames reads the name of each vertex, or nil when the store has none.
func (s *Store) VertexNames() ([]string, error) {
	b, err := s.readSingleBytes(KindVertexNames)
	if b == nil || err != nil {
		return nil, err
	}
	fail := func(why string) ([]string, error) {
		return nil, fmt.Errorf("%s: %v: %s", s.path, s.blocks[s.single[KindVertexNames]], why)
	}
	if int64(len(b)) < 4*s.h.V {
		return fail("too short for the lengths of the names")
	}
	names, text := make([]string, s.V()), b[4*s.h.V:]
	for i := range names {
		n := binary.LittleEndian.Uint32(b[4*i:])
		if int64(n) > int64(len(text)) {
			return fail(fmt.Sprintf("the name of vertex %d does not fit", i))
		}
		names[i], text = string(text[:n]), text[n:]
	}
	if len(text) != 0 {
		return fail("bytes follow the last name")
	}
	return names, nil
}
