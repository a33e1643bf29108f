package cuda

import "sort"

// Pass is one step of a piece of the samples of a Stream.
type Pass struct {
	Transits, Draws int64
	In, Out         int64 // bytes copied to the GPU, and back from it
	Room            int   // the level that Out is copied from: the next pass with the same Room waits for that copy
}

// Passes predicts the passes that Draw makes, in order. It assumes that every interval has transits, except
// at the first step, whose transits are the roots.
func (s *Stream) Passes(roots []uint32, results bool) (list []Pass, err error) {
	n, err := s.fits(int64(len(roots)), results)
	if err != nil {
		return nil, err
	}
	widths := s.w.widths()
	levels, _ := s.words(results)
	for lo := 0; lo < len(roots); lo += int(n) {
		some := roots[lo:min(len(roots), lo+int(n))]
		for step := range len(widths) - 1 {
			p := Pass{Transits: int64(len(some)) * int64(widths[step]), Draws: int64(len(some)) * int64(widths[step+1]), In: 4 * int64(s.g.edges), Room: (step + 1) % len(levels)}
			if step == 0 {
				p.In = 4 * (s.edgesOf(some) + int64(len(some)))
			}
			if results {
				p.Out = 4 * p.Draws
			}
			list = append(list, p)
		}
	}
	return list, nil
}

// edgesOf is the number of edges of the intervals that have one of vertices.
func (s *Stream) edgesOf(vertices []uint32) (edges int64) {
	has := make([]bool, len(s.parts))
	for _, v := range vertices {
		if int(v) < s.g.vertices {
			has[sort.Search(len(s.parts), func(i int) bool { return s.parts[i].vertex > v })-1] = true
		}
	}
	for i, x := range s.parts {
		if has[i] {
			edges += x.edges
		}
	}
	return edges
}
