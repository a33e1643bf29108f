package layout

import (
	"cmp"
	"math"
	"slices"
)

// fitter places each buffer at the lowest address where it overlaps no buffer that is in use at the
// same time. It places the buffers that are in use for several phases first (hold). Then, phase by phase,
// it places those of a single phase in the gaps (phase, take). Addresses are relative to the fitter's start.
type fitter struct {
	held []held // buffers in use for several phases, sorted by address, without empty ones
	gaps []gap  // free memory in the current phase
	top  int64  // highest end of a held buffer
	rank int    // of the buffers that are placed next: those of several phases are placed in ascending order of ranks
	load int64  // bytes of the held buffers in use in the current phase
	end  int64  // the last end of those
}

// held is a buffer that is in use from phase from to phase to. If from > to, phase to is in the next step.
type held struct {
	at, end  int64
	from, to int
	rank     int
}

// live tells whether h is in use in phase q.
func (h *held) live(q int) bool {
	if h.from > h.to {
		return q >= h.from || q <= h.to
	}
	return h.from <= q && q <= h.to
}

// gap is a range of free memory.
type gap struct{ at, end int64 }

// begin forgets all buffers.
func (f *fitter) begin() { f.held, f.top, f.rank = f.held[:0], 0, 0 }

// hold places a buffer that is in use from phase from to phase to, and returns its address.
func (f *fitter) hold(bytes int64, from, to int) int64 {
	at := f.find(bytes, from, to)
	f.put(at, bytes, from, to)
	return at
}

// find is where hold places a buffer.
func (f *fitter) find(bytes int64, from, to int) int64 {
	at := int64(0)
	for i := range f.held {
		if h := &f.held[i]; at < h.end && h.at < at+bytes && (h.live(from) || h.live(to) || from <= h.from && h.from <= to) {
			at = h.end
		}
	}
	return at
}

// put notes a buffer at a given address, and returns its place in f.held if it is not empty.
func (f *fitter) put(at, bytes int64, from, to int) (i int) {
	h := held{at, at + bytes, from, to, f.rank}
	if bytes > 0 {
		i = len(f.held)
		for i > 0 && f.held[i-1].at > at {
			i--
		}
		f.held = slices.Insert(f.held, i, h)
	}
	f.top = max(f.top, h.end)
	return i
}

// insert places a buffer that is in use from phase from to phase to where hold would have placed it, had it come before those of higher rank.
func (f *fitter) insert(bytes int64, from, to, rank int) {
	var behind []held
	f.held = slices.DeleteFunc(f.held, func(h held) bool {
		if h.rank > rank {
			behind = append(behind, h)
		}
		return h.rank > rank
	})
	f.top = 0
	for i := range f.held {
		f.top = max(f.top, f.held[i].end)
	}
	slices.SortFunc(behind, func(a, b held) int { return cmp.Compare(a.rank, b.rank) })
	f.rank = rank
	f.hold(bytes, from, to)
	for _, h := range behind {
		f.rank = h.rank
		f.hold(h.end-h.at, h.from, h.to)
	}
}

// phases calls do for each of n phases in which h is in use.
func (h *held) phases(n int, do func(q int)) {
	if h.from > h.to {
		for q := range h.to + 1 {
			do(q)
		}
		for q := h.from; q < n; q++ {
			do(q)
		}
		return
	}
	for q := h.from; q <= h.to; q++ {
		do(q)
	}
}

// phase finds the gaps of phase q, for take.
func (f *fitter) phase(q int) {
	f.gaps, f.load = f.gaps[:0], 0
	end := int64(0)
	for i := range f.held {
		if h := &f.held[i]; h.live(q) {
			if h.at > end {
				f.gaps = append(f.gaps, gap{end, h.at})
			}
			end = max(end, h.end)
			f.load += h.end - h.at
		}
	}
	f.gaps, f.end = append(f.gaps, gap{end, math.MaxInt64}), end
}

// take places a buffer of the current phase in the first gap that is large enough, and returns its address.
func (f *fitter) take(bytes int64) int64 {
	i := 0
	for bytes > f.gaps[i].end-f.gaps[i].at {
		i++
	}
	if bytes == 0 {
		return 0
	}
	at := f.gaps[i].at
	f.gaps[i].at += bytes
	return at
}

// zeroed returns n zeros, in the memory of s if it is large enough.
func zeroed[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}
