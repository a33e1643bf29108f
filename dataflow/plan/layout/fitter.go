package layout

import (
	"math"
	"slices"
)

// fitter places buffers: each at the lowest address where it meets none that is in use at the
// same time. Those that are in use for several phases come first, then, phase by phase, those
// of one phase, in the gaps that the others leave. Addresses count from where the fitter begins.
type fitter struct {
	held []held // by address, without empty ones
	gaps []gap  // of the phase in hand
	top  int64  // end of the highest
}

// held is a place that is in use from phase to phase; from > to: to one of the next step.
type held struct {
	at, end  int64
	from, to int
}

// live tells whether h is in use in phase q.
func (h *held) live(q int) bool {
	if h.from > h.to {
		return q >= h.from || q <= h.to
	}
	return h.from <= q && q <= h.to
}

// gap is memory that is free.
type gap struct{ at, end int64 }

// begin forgets all buffers.
func (f *fitter) begin() { f.held, f.top = f.held[:0], 0 }

// hold places so many bytes that are in use from one phase to a later one.
func (f *fitter) hold(bytes int64, from, to int) int64 {
	at := int64(0)
	for i := range f.held {
		if h := &f.held[i]; at < h.end && h.at < at+bytes && (h.live(from) || h.live(to) || from <= h.from && h.from <= to) {
			at = h.end
		}
	}
	f.put(at, bytes, from, to)
	return at
}

// put takes so many bytes at an address.
func (f *fitter) put(at, bytes int64, from, to int) {
	h := held{at, at + bytes, from, to}
	if bytes > 0 {
		i := len(f.held)
		for i > 0 && f.held[i-1].at > at {
			i--
		}
		f.held = slices.Insert(f.held, i, h)
	}
	f.top = max(f.top, h.end)
}

// phase turns to the buffers of phase q.
func (f *fitter) phase(q int) {
	f.gaps = f.gaps[:0]
	end := int64(0)
	for i := range f.held {
		if h := &f.held[i]; h.live(q) {
			if h.at > end {
				f.gaps = append(f.gaps, gap{end, h.at})
			}
			end = max(end, h.end)
		}
	}
	f.gaps = append(f.gaps, gap{end, math.MaxInt64})
}

// take places so many bytes for the phase in hand.
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
