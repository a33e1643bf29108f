package layout

import (
	"cmp"
	"slices"
)

// Loads of a phase run ahead, into buffers that no earlier task uses any more. So the buffers of a phase lie where memory has not been
// used for the longest time, below what the plan takes anyway.

// spread places the buffers of one phase after the other.
type spread struct {
	fit   *fitter
	limit int64     // where the last buffer may end
	used  []stretch // by address, without gaps between them from 0 to limit
	free  []gap     // of the current phase
	at    []int64
	order []int
}

// stretch is memory that was used last in a phase; -1: not in this step.
type stretch struct {
	at, end int64
	phase   int
}

func newSpread(f *fitter, limit int64) *spread {
	return &spread{fit: f, limit: limit, used: []stretch{{0, limit, -1}}}
}

// place returns the addresses of list, the buffers of phase q. The result is valid until the next call.
func (s *spread) place(q int, list []need) []int64 {
	s.at = zeroed(s.at, len(list))
	if !s.apart(q, list) {
		s.fit.phase(q)
		for i, x := range list {
			s.at[i] = s.fit.take(x.bytes * int64(x.n))
		}
	}
	for i := range s.fit.held {
		if h := &s.fit.held[i]; h.live(q) {
			s.use(h.at, h.end, q)
		}
	}
	for i, x := range list {
		s.use(s.at[i], s.at[i]+x.bytes*int64(x.n), q)
	}
	return s.at
}

// apart finds an address for each buffer, those of large ones first. It returns false if one does not fit any more.
func (s *spread) apart(q int, list []need) bool {
	s.fit.phase(q)
	s.free = append(s.free[:0], s.fit.gaps...)
	s.free[len(s.free)-1].end = s.limit
	s.order = s.order[:0]
	for i := range list {
		s.order = append(s.order, i)
	}
	slices.SortStableFunc(s.order, func(x, y int) int {
		return cmp.Compare(list[y].bytes*int64(list[y].n), list[x].bytes*int64(list[x].n))
	})
	for _, i := range s.order {
		n := list[i].bytes * int64(list[i].n)
		at, in := s.coldest(n)
		if in < 0 {
			return false
		}
		s.at[i] = at
		g := s.free[in]
		s.free = slices.Replace(s.free, in, in+1, gap{g.at, at}, gap{at + n, g.end})
	}
	return true
}

// coldest is where n free bytes were used last the longest ago, and the gap; -1: there are none.
func (s *spread) coldest(n int64) (at int64, in int) {
	best := 0
	in = -1
	for i, g := range s.free {
		if g.end-g.at < n {
			continue
		}
		k, _ := slices.BinarySearchFunc(s.used, g.at, func(x stretch, at int64) int { return cmp.Compare(x.end, at+1) })
		for from := g.at; from+n <= g.end; k++ {
			last := -1
			for j := k; j < len(s.used) && s.used[j].at < from+n; j++ {
				last = max(last, s.used[j].phase)
			}
			if in < 0 || last < best {
				at, in, best = from, i, last
			}
			if k >= len(s.used) {
				break
			}
			from = s.used[k].end
		}
	}
	return at, in
}

// use notes that phase q uses memory.
func (s *spread) use(at, end int64, q int) {
	if end = min(end, s.limit); at >= end {
		return
	}
	i, _ := slices.BinarySearchFunc(s.used, at, func(x stretch, at int64) int { return cmp.Compare(x.end, at+1) })
	k := i
	for k < len(s.used) && s.used[k].at < end {
		k++
	}
	var list []stretch
	if x := s.used[i]; x.at < at {
		list = append(list, stretch{x.at, at, x.phase})
	}
	list = append(list, stretch{at, end, q})
	if x := s.used[k-1]; x.end > end {
		list = append(list, stretch{end, x.end, x.phase})
	}
	s.used = slices.Replace(s.used, i, k, list...)
}
