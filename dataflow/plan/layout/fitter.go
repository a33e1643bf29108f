package layout

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// fitter places each buffer at the lowest address where it overlaps no buffer that is in use at the
// same time. It places the buffers that are in use for several phases first (hold). Then, phase by phase,
// it places those of a single phase in the gaps (phase, take). Addresses are relative to the fitter's start.
type fitter struct {
	held  []held     // buffers in use for several phases, sorted by address, then rank, without empty ones
	lives [][]uint64 // by phase: a bit for each of held, whether it is in use there
	known bool       // lives are those of held
	gaps  []gap      // free memory in the current phase
	top   int64      // highest end of a held buffer
	rank  int        // of the buffers that are placed next: those of several phases are placed in ascending order of ranks
	end   int64      // the last end of those that are in use in the current phase
	clock clock
	turn  int   // the moment between two steps
	past  []int // of find: by piece, how many of held are not in its way
}

// clock numbers the moments of a step. Where buffers are taken and left chunk by chunk, the visit of an interval in a phase is a moment, otherwise
// a phase.
type clock struct{ per int } // moments of a phase

// at is the moment in which phase q visits interval j, begin the first one of phase q and end the last one.
func (c clock) at(q, j int) int {
	if c.per == 1 {
		return q
	}
	return q*c.per + j
}

func (c clock) begin(q int) int { return q * c.per }
func (c clock) end(q int) int   { return q*c.per + c.per - 1 }

// piece is a part of a buffer. It is in use from moment from to moment to; if from > to, that is in the next step.
type piece struct {
	off, bytes int64 // from the buffer's start
	from, to   int
	next       int64 // of a scattered window: its address in the next step
}

// held is a piece of a buffer that is in use for several phases.
type held struct {
	at, end  int64
	from, to int // moments, as in piece
	rank     int
}

// live tells whether h is in use in a moment.
func (h *held) live(m int) bool {
	if h.from > h.to {
		return m >= h.from || m <= h.to
	}
	return h.from <= m && m <= h.to
}

// meets tells whether h is in use in a moment from from to to; if from > to, that is in the next step.
func (h *held) meets(from, to int) bool {
	if h.from <= h.to && from <= to {
		return from <= h.to && h.from <= to
	}
	if h.live(from) {
		return true
	}
	if from > to {
		return h.from >= from || h.from <= to
	}
	return from <= h.from && h.from <= to
}

// gap is a range of free memory.
type gap struct{ at, end int64 }

// begin forgets all buffers.
func (f *fitter) begin(c clock, phases int) {
	f.held, f.top, f.rank, f.clock, f.turn, f.known = f.held[:0], 0, 0, c, c.begin(phases), false
}

// index sets lives, for so many phases.
func (f *fitter) index(phases int) {
	words := (len(f.held) + 63) / 64
	for len(f.lives) < phases {
		f.lives = append(f.lives, nil)
	}
	f.lives, f.known = f.lives[:phases], true
	for q := range f.lives {
		f.lives[q] = zeroed(f.lives[q], words)
	}
	for i := range f.held {
		h, w, bit := &f.held[i], i/64, uint64(1)<<(i%64)
		first, last := h.from/f.clock.per, min(h.to/f.clock.per, phases-1)
		if h.from > h.to {
			for q := range last + 1 {
				f.lives[q][w] |= bit
			}
			last = phases - 1
		}
		for q := first; q <= last; q++ {
			f.lives[q][w] |= bit
		}
	}
}

// hold places a buffer of such pieces, and returns its address.
func (f *fitter) hold(pieces ...piece) int64 {
	at := f.find(pieces, math.MaxInt)
	f.put(at, pieces)
	return at
}

// find is where hold places a buffer if no others are there than those of ranks up to most. As the address only rises, what is not in the way of a
// piece once never is again.
func (f *fitter) find(pieces []piece, most int) int64 {
	at := int64(0)
	f.past = zeroed(f.past, len(pieces))
	for again := true; again; {
		again = false
		for k, p := range pieces {
			i := f.past[k]
			for ; i < len(f.held); i++ {
				h := &f.held[i]
				if h.at >= at+p.off+p.bytes {
					break
				}
				if at+p.off < h.end && h.meets(p.from, p.to) && h.rank <= most {
					at, again = h.end-p.off, len(pieces) > 1
				}
			}
			f.past[k] = i
		}
	}
	return at
}

// put notes a buffer at a given address.
func (f *fitter) put(at int64, pieces []piece) {
	f.known = false
	for _, p := range pieces {
		h := held{at + p.off, at + p.off + p.bytes, p.from, p.to, f.rank}
		if p.bytes > 0 {
			i := len(f.held)
			for i > 0 && (f.held[i-1].at > h.at || f.held[i-1].at == h.at && f.held[i-1].rank > h.rank) {
				i--
			}
			f.held = slices.Insert(f.held, i, h)
		}
		f.top = max(f.top, h.end)
	}
}

// drop forgets the buffers of a rank.
func (f *fitter) drop(rank int) {
	f.held, f.known = slices.DeleteFunc(f.held, func(h held) bool { return h.rank == rank }), false
}

// scatter places the pieces of a scattered window, and sets their offsets to their addresses. What is there longest in the phase that uses it last
// comes first, as it fits in the fewest places. With move a piece that lasts lies at two addresses, if so it ends lower: one up to the turn of the step, one
// from there on.
func (f *fitter) scatter(list []piece, move bool) {
	for i := range slices.Backward(list) {
		p := list[i]
		p.off = 0
		at := f.find([]piece{p}, math.MaxInt)
		list[i].off, list[i].next = at, at
		if !move || p.from <= p.to || p.bytes == 0 {
			f.put(at, []piece{p})
			continue
		}
		late, early := p, p
		late.to, early.from = f.turn, f.turn
		top := f.top
		list[i].off = f.hold(late)
		if list[i].next = f.find([]piece{early}, math.MaxInt); max(list[i].off, list[i].next) < at {
			f.put(list[i].next, []piece{early})
			continue
		}
		lies := held{list[i].off, list[i].off + p.bytes, late.from, late.to, f.rank}
		f.held, f.top = slices.DeleteFunc(f.held, func(h held) bool { return h == lies }), top
		list[i].off, list[i].next = at, at
		f.put(at, []piece{p})
	}
}

// insert places a buffer where hold would have placed it, had it come before those of higher rank. Every buffer must have one piece. Those of higher
// rank stay where they are up to the first one that is in its way; from that on, all are placed again.
func (f *fitter) insert(p piece, rank int) {
	at, first := f.find([]piece{p}, rank), math.MaxInt
	for i := range f.held {
		if h := &f.held[i]; h.at < at+p.bytes && at < h.end && h.rank > rank && h.meets(p.from, p.to) {
			first = min(first, h.rank)
		}
	}
	var behind []held
	f.held = slices.DeleteFunc(f.held, func(h held) bool {
		if h.rank >= first {
			behind = append(behind, h)
		}
		return h.rank >= first
	})
	slices.SortFunc(behind, func(a, b held) int { return cmp.Compare(a.rank, b.rank) })
	f.top = 0
	for i := range f.held {
		f.top = max(f.top, f.held[i].end)
	}
	f.rank = rank
	f.put(at, []piece{p})
	for _, h := range behind {
		f.rank = h.rank
		f.hold(piece{bytes: h.end - h.at, from: h.from, to: h.to})
	}
}

// moments calls do for each of n moments in which h is in use.
func (h *held) moments(n int, do func(m int)) {
	if h.from > h.to {
		for m := range h.to + 1 {
			do(m)
		}
		for m := h.from; m < n; m++ {
			do(m)
		}
		return
	}
	for m := h.from; m <= h.to; m++ {
		do(m)
	}
}

// phase finds the gaps of phase q, for take: what no held buffer uses in any moment of the phase. It sets load, by moment of the phase, to the bytes
// of held buffers.
func (f *fitter) phase(q int, load []int64) {
	f.gaps = f.gaps[:0]
	clear(load)
	end, first, last := int64(0), f.clock.begin(q), f.clock.end(q)
	there := func(h *held) {
		if h.at > end {
			f.gaps = append(f.gaps, gap{end, h.at})
		}
		end = max(end, h.end)
		if load != nil {
			h.add(load, first, last)
		}
	}
	if f.known {
		for w, word := range f.lives[q] {
			for ; word != 0; word &= word - 1 {
				there(&f.held[w*64+bits.TrailingZeros64(word)])
			}
		}
	} else {
		for i := range f.held {
			if h := &f.held[i]; h.meets(first, last) {
				there(h)
			}
		}
	}
	for m := 1; m < len(load); m++ {
		load[m] += load[m-1]
	}
	f.gaps, f.end = append(f.gaps, gap{end, math.MaxInt64}), end
}

// add adds the bytes of h to the differences from moment to moment of load, which is of moments first to last.
func (h *held) add(load []int64, first, last int) {
	n := h.end - h.at
	part := func(from, to int) {
		if from, to = max(from, first), min(to, last); from <= to {
			load[from-first] += n
			if to < last {
				load[to+1-first] -= n
			}
		}
	}
	if h.from > h.to {
		part(first, h.to)
		part(h.from, last)
		return
	}
	part(h.from, h.to)
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
