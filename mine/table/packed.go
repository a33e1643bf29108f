package table

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

// PackedWords is how many words GPUs keep for which of the neighbours that may follow a row do: kept of need. The neighbours are numbered place by place. If all follow there are no words, else
// a bit for each or, where that takes less, the numbers of those that follow: two in a word if 16 bits are enough for each.
func PackedWords(need, kept int64) int64 {
	if kept == 0 || kept == need {
		return 0
	}
	return min((need+31)/32, listWords(need, kept))
}

// listWords is the words of the numbers of those that follow.
func listWords(need, kept int64) int64 {
	if need <= 1<<16 {
		return (kept + 1) / 2
	}
	return kept
}

// following is a neighbour that may follow a row: a place of the row and, in the lower NearBits, which of the neighbours there it is; and the edge or vertex.
type following struct {
	code uint32
	what uint64
}

// begins is which of the neighbours of the vertex at a place of a row is the first that may follow there.
func (s *Spec) begins(row []uint32, place int) int {
	x := row[place]
	near := s.Rows.Of(x)
	if s.Vertices {
		bound := row[0]
		for _, y := range row[place+1:] {
			bound = max(bound, y)
		}
		k, _ := slices.BinarySearch(near, bound+1)
		return k
	}
	if slices.Contains(row[:place], x) {
		return len(near)
	}
	bound := edgeOf(row[0], row[1])
	for i := place/2 + 1; i < len(row)/2; i++ {
		bound = max(bound, edgeOf(row[2*i], row[2*i+1]))
	}
	return sort.Search(len(near), func(k int) bool { return edgeOf(x, near[k]) > bound })
}

// need is how many neighbours may follow a row.
func (s *Spec) need(row []uint32) (n int64) {
	for place, x := range row {
		n += int64(s.Rows.Degree(x) - s.begins(row, place))
	}
	return n
}

// following adds to list what may follow a row, place by place.
func (s *Spec) following(row []uint32, near int, list []following) []following {
	for place, x := range row {
		all, from := s.Rows.Of(x), s.begins(row, place)
		for k, y := range all[from:] {
			f := following{uint32(place<<near | (from + k)), uint64(y)}
			if !s.Vertices {
				f.what = edgeOf(x, y)
			}
			list = append(list, f)
		}
	}
	return list
}

// unpack reads what follows the row of a reader, so many that do, in their order.
func (r *rowReader) unpack(kept int64) error {
	r.all = r.spec.following(r.row, r.near, r.all[:0])
	need, last := int64(len(r.all)), len(r.values)-1
	words := PackedWords(need, kept)
	raw := make([]byte, 0, 4*words)
	for range words {
		x, err := r.values[last].next()
		if err != nil {
			return err
		}
		raw = binary.NativeEndian.AppendUint32(raw, x)
	}
	r.that = make([]following, 0, kept)
	switch {
	case words == 0:
		r.that = append(r.that, r.all...)
	case words == (need+31)/32:
		for i, f := range r.all {
			if binary.NativeEndian.Uint32(raw[i/32*4:])>>(i%32)&1 != 0 {
				r.that = append(r.that, f)
			}
		}
	default:
		for i := range kept {
			at := uint32(0)
			if need <= 1<<16 {
				at = uint32(binary.NativeEndian.Uint16(raw[2*i:]))
			} else {
				at = binary.NativeEndian.Uint32(raw[4*i:])
			}
			r.that = append(r.that, r.all[at])
		}
	}
	slices.SortFunc(r.that, func(a, b following) int { return cmp.Compare(a.what, b.what) })
	return nil
}
