package table

import (
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
	r.words = r.words[:0]
	for range PackedWords(need, kept) {
		x, err := r.values[last].next()
		if err != nil {
			return err
		}
		r.words = append(r.words, x)
	}
	n := 0 // those that follow come to the front of all
	take := func(at int) { r.all[n], n = r.all[at], n+1 }
	switch words := int64(len(r.words)); {
	case words == 0:
		n = len(r.all)
	case words == (need+31)/32:
		for i := range r.all {
			if r.words[i/32]>>(i%32)&1 != 0 {
				take(i)
			}
		}
	case need <= 1<<16:
		for i := range int(kept) {
			take(int(binary.NativeEndian.Uint16(bytesOf(r.words)[2*i:])))
		}
	default:
		for _, at := range r.words {
			take(int(at))
		}
	}
	r.all, r.room = merged(r.all[:n], r.room)
	r.that = r.all
	return nil
}

// merged sorts a list that consists of a few runs which ascend; room becomes the list's memory.
func merged(list, room []following) (sorted, left []following) {
	for {
		out, runs := room[:0], 0
		for i := 0; i < len(list); runs++ {
			j := runEnd(list, i)
			k := runEnd(list, j)
			for a, b := i, j; a < j || b < k; {
				if b == k || a < j && list[a].what < list[b].what {
					out, a = append(out, list[a]), a+1
				} else {
					out, b = append(out, list[b]), b+1
				}
			}
			i = k
		}
		list, room = out, list
		if runs <= 1 {
			return list, room
		}
	}
}

// runEnd is where the run that begins at i ends.
func runEnd(list []following, i int) int {
	for i++; i < len(list) && list[i-1].what < list[i].what; i++ {
	}
	return min(i, len(list))
}
