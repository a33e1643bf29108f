package dataset

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sagann/chunk"
)

// idSet is a set of ids: a bit each for those below smallID, a map for the others.
type idSet struct {
	bits  []uint64
	large map[uint64]struct{}
	count int
}

// smallID bounds the bits of an idSet to 32 MiB.
const smallID = 1 << 28

func (s *idSet) add(id uint64) {
	if id >= smallID {
		if s.large == nil {
			s.large = map[uint64]struct{}{}
		}
		if _, ok := s.large[id]; !ok {
			s.large[id] = struct{}{}
			s.count++
		}
		return
	}
	word, bit := int(id/64), uint64(1)<<(id%64)
	if word >= len(s.bits) {
		s.bits = append(s.bits, make([]uint64, word+1-len(s.bits))...)
	}
	if s.bits[word]&bit == 0 {
		s.bits[word] |= bit
		s.count++
	}
}

// sorted is the ids in ascending order.
func (s *idSet) sorted() []uint64 {
	out := make([]uint64, 0, s.count)
	for w, word := range s.bits {
		for bit := range uint64(64) {
			if word>>bit&1 == 1 {
				out = append(out, uint64(w)*64+bit)
			}
		}
	}
	small := len(out)
	for id := range s.large {
		out = append(out, id)
	}
	slices.Sort(out[small:])
	return out
}

// isEdgeList reports whether a file has the ending of an edge list.
func isEdgeList(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && slices.Contains(edgeListEndings, endingOf(path)) && !isStore(path)
}

// openEdgeList reads an edge list as ReadEdgeList does, but in pieces: once for the
// ids, and again for the edges.
func openEdgeList(path string, relabel Relabel) (*Stream, error) {
	s, ids := &Stream{}, &idSet{}
	largest := uint64(0)
	err := ScanEdges(path, func(src, dst uint64, w float32) error {
		s.E++
		s.Weighted = s.Weighted || w != 1
		largest = max(largest, src, dst)
		if relabel != RelabelNever {
			ids.add(src)
			ids.add(dst)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.E == 0 {
		return nil, fmt.Errorf("%s: no edges", path)
	}
	d := &Data{Report: Report{Form: edgeListForm}}
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	d.Name = strings.TrimSuffix(name, filepath.Ext(name))
	d.warnBeside(path)
	vertices := largest + 1
	if relabel == RelabelAlways || relabel == RelabelAuto && largest/2 >= uint64(ids.count) {
		d.Vertices.IDs = ids.sorted()
		d.changeIDs()
		vertices = uint64(len(d.Vertices.IDs))
	} else if largest == math.MaxUint64 {
		return nil, fmt.Errorf("%s: vertex id %d is too large", path, largest)
	}
	if err := checkVertexCount(vertices, s.E); err != nil {
		return nil, fmt.Errorf("%s: largest vertex id %d: %w", path, largest, err)
	}
	d.Edges = &chunk.Edges{V: int(vertices)}
	s.Data = d
	s.EachEdges = func(fn func(*chunk.Edges) error) error { return s.eachListed(path, fn) }
	return s, nil
}

// eachListed reads the edges of an edge list.
func (s *Stream) eachListed(path string, fn func(*chunk.Edges) error) error {
	p, ids := &chunk.Edges{V: s.Data.Edges.V}, s.Data.Vertices.IDs
	find := func(id uint64) (uint32, error) {
		if ids != nil {
			v, ok := slices.BinarySearch(ids, id)
			if !ok {
				return 0, errChanged
			}
			return uint32(v), nil
		}
		if id >= uint64(p.V) {
			return 0, errChanged
		}
		return uint32(id), nil
	}
	flush := func() error {
		err := fn(p)
		p.Src, p.Dst, p.Weight = p.Src[:0], p.Dst[:0], p.Weight[:0]
		return err
	}
	err := ScanEdges(path, func(src, dst uint64, w float32) error {
		a, err := find(src)
		if err != nil {
			return err
		}
		b, err := find(dst)
		if err != nil {
			return err
		}
		p.Src, p.Dst = append(p.Src, a), append(p.Dst, b)
		if s.Weighted {
			p.Weight = append(p.Weight, w)
		}
		if p.E() < pieceValues/2 {
			return nil
		}
		return flush()
	})
	if err != nil || p.E() == 0 {
		return err
	}
	return flush()
}
