package layout

import "sagann/dataflow/plan"

// Moments. With Rule.Over memory is taken and given back chunk by chunk: chunk j of what a phase makes, or loads into a window, is there from the
// visit of interval j on, and chunk j of what a phase reads last, at visited intervals only, until that visit has ended. So what a phase makes
// comes to lie where what it reads last was, as products take the place of the features that they are made of.

// pieces is into how many pieces a buffer is divided at most, if it is taken or left chunk by chunk: each takes planning time.
const pieces = 8

// ticks is the clock of choice c.
func (l *Layout) ticks(c *Choice) clock {
	if l.byChunk(c) {
		return clock{l.Plan.Cells.P}
	}
	return clock{1}
}

// byChunk tells whether memory is taken and given back chunk by chunk: visits go from chunk to chunk, on one device.
func (l *Layout) byChunk(c *Choice) bool {
	return c.over && l.Plan.Devices <= 1 && c.group <= 1 && c.groups == nil && l.Plan.Schedule != plan.DestOrder
}

// stepwise tells whether phase q touches key's value or cells at visited intervals only, so that each interval is in use in one visit.
func (l *Layout) stepwise(key, q int) bool {
	return l.clock.per > 1 && (key < 0 || !l.Usage.Acc[q][key].Other)
}

// flat tells whether a buffer is there as a whole from phase from to phase to.
func (l *Layout) flat(list []piece, from, to int) bool {
	return len(list) == 1 && list[0].from == l.clock.begin(from) && list[0].to == l.clock.end(to)
}

// valuePieces are the pieces of the place of stored values that follow each other, from first to last: n more than first, each of which lies a chunk
// before the one before it.
func (l *Layout) valuePieces(first, last, n int) []piece {
	s, all := l.Plan.Span(first), int(l.Plan.ShareOf(first))
	chunk := l.Plan.Cells.ChunkBytes(&l.Plan.Spec.Values[first])
	from, to := l.Usage.Life[first][0], l.Usage.Life[last][1]
	begins, ends := l.stepwise(first, from), l.stepwise(last, to)
	g := all + n
	if begins || ends {
		g = (all + n + pieces - 1) / pieces
	}
	l.shape = l.shape[:0]
	for k := 0; k < all+n; k += g { // chunk k of the place is chunk k-n of the first value, and chunk k of the last one
		end := min(k+g, all+n)
		p := piece{off: int64(k) * chunk, bytes: int64(end-k) * chunk, from: l.clock.begin(from), to: l.clock.end(to)}
		if begins {
			p.from = l.clock.at(from, s.First+max(0, k-n))
		}
		if ends {
			p.to = l.clock.at(to, s.First+min(all, end)-1)
		}
		l.shape = append(l.shape, p)
	}
	return l.shape
}

// scattered tells whether w is placed in several runs, each where there is room in the moments in which it is there: nothing reads several of its
// chunks at once.
func (l *Layout) scattered(w *plan.Window) bool {
	if l.clock.per == 1 || w.From == plan.Whole {
		return false
	}
	for q := range l.Usage.Acc {
		if l.Plan.Cells.Wide > 0 && w.Key >= 0 && w.Live(q) && l.Usage.Acc[q][w.Key].Other {
			return false
		}
	}
	return true
}

// runs is into how many runs of intervals a scattered window is divided, and run is run k of them.
func (l *Layout) runs(w *plan.Window) int { return min(w.N, pieces) }

func (l *Layout) run(w *plan.Window, k int) plan.Window {
	n := l.runs(w)
	out := *w
	out.First, out.N = w.First+k*w.N/n, (k+1)*w.N/n-k*w.N/n
	return out
}

// windowPieces are the pieces of w, which is no window of the whole run: of one that is scattered, its runs, as if one lay behind the other.
func (l *Layout) windowPieces(w *plan.Window) []piece {
	l.shape = l.shape[:0]
	from, to := l.clock.begin(w.From), l.clock.end(w.To)
	if !l.scattered(w) {
		return append(l.shape, piece{bytes: plan.Align(l.windowBytes(w)), from: from, to: to})
	}
	first, last := l.stepwise(w.Key, w.From), l.stepwise(w.Key, w.To)
	off := int64(0)
	for k := range l.runs(w) {
		run := l.run(w, k)
		p := piece{off: off, bytes: plan.Align(l.windowBytes(&run)), from: from, to: to}
		if first {
			p.from = l.clock.at(w.From, run.First)
		}
		if last {
			p.to = l.clock.at(w.To, run.First+run.N-1)
		}
		off += p.bytes
		l.shape = append(l.shape, p)
	}
	return l.shape
}

// windowBytes is the device memory in bytes that w takes.
func (l *Layout) windowBytes(w *plan.Window) int64 {
	p := l.Plan
	if w.Key >= 0 {
		return int64(w.N) * p.Cells.ChunkBytes(&p.Spec.Values[w.Key])
	}
	upTo := l.Largest.upTo[-1-w.Key]
	return upTo[w.First+w.N] - upTo[w.First]
}
