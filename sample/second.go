package sample

import "sagann/internal/simd"

// second describes a plain walk of second order. Its place is drawn in a Reject, as in Node2vec. A
// draw is accepted with a probability that depends on whether the far end is the vertex before the
// transit, a neighbour of that vertex, or neither.
type second struct {
	decides         int     // site of the random number that decides:
	scale           float32 // a draw is accepted if the number, from 0 up to scale,
	back, near, far float32 // is below one of these, for the three cases above
	reject          *instruction
}

// secondOrder recognises a function of the form of Node2vec's Next. It returns the walk and the
// number of the instruction that draws the place, or nil for any other function.
func (c *code) secondOrder() (w *second, place int32) {
	ok := true
	is := func(n int32, o op) *instruction {
		ok = ok && c.list[n].op == o
		return &c.list[n]
	}
	lit := func(n int32) float32 { return is(n, opLit).real }
	reject := is(c.result, opReject)
	if !ok {
		return nil, 0
	}
	accept := &c.list[reject.imm]
	place = accept.a
	take := is(accept.b, opOr)
	none := is(take.a, opOr)
	start, gone := is(none.a, opEqual), is(none.b, opEqual)
	less := is(take.b, opLess+realOps)
	drawn := is(less.a, opMul+realOps)
	isBack := is(less.b, opIf+realOps)
	isNear := is(isBack.c, opIf+realOps)
	same, has := is(isBack.a, opEqual), is(isNear.a, opHas)
	before, end := is(has.a, opPrev), is(has.b, opNeighbour)
	w = &second{int(is(drawn.a, opUniform).imm), lit(drawn.b), lit(isBack.b), lit(isNear.b), lit(isNear.c), reject}
	ok = ok && before.imm == 1 && c.list[end.a].op == opAt && end.b == place && same.a == has.b && same.b == has.a &&
		start.a == has.a && c.list[start.b].isNone() && gone.a == place && c.list[gone.b].isNone()
	if !ok {
		return nil, 0
	}
	return w, place
}

// tries is the memory for the draws of a step.
type tries struct {
	left [width]int32 // samples whose draw is not accepted yet
	at   [width]int64 // the edge that each has drawn, by its index in Graph.Far

	open   [width]int32   // samples whose draw needs a search in the row of the vertex before
	share  [width]float32 // their random numbers, times scale
	end    [width]uint32  // the far ends to search for
	begins [width]int64   // where the rows to search begin
	counts [width]uint32  // the lengths of these rows
	middle [width]int64   // the middles of these rows
	found  [width]bool    // the results of the searches

	rows [2][width]row // by parity of the step and by sample: the rows of the transits
}

// row is where a row begins in Graph.Far, and its length.
type row struct {
	begin int64
	count uint32
}

// onwardSecond is onward for walks of second order. It stores the rows by sample.
func (f *frame) onwardSecond() {
	offsets, transits, live, rows := f.p.g.Offsets, f.transits, f.live, &f.strip.rows[f.step&1]
	k := 0
	for _, i := range live {
		v := transits[i]
		if v == NoVertex {
			continue
		}
		lo, hi := offsets[v], offsets[v+1]
		live[k], rows[i] = i, row{lo, uint32(hi - lo)}
		if hi > lo {
			k++
		}
	}
	f.live = live[:k]
}

// addSecond makes the draws of a step of second order for f.live, after onwardSecond.
func (f *frame) addSecond(out []uint32) {
	left := f.strip.left[:copy(f.strip.left[:], f.live)]
	for try := 0; len(left) > 0; try++ {
		if try == maxTries {
			f.fail(f.plain.second.reject, "%d tries of a Reject, and none is accepted", maxTries)
			return
		}
		left = f.decide(f.propose(left, try, out), out)
	}
}

// propose draws an edge for each sample of left. It removes walks at rows whose weights are all 0.
func (f *frame) propose(left []int32, try int, out []uint32) []int32 {
	t, w, rows := f.strip, &f.strip.words, &f.strip.rows[f.step&1]
	f.draw(left, uint32(f.step), counter(0, try))
	for j, i := range left {
		t.at[j] = rows[i].begin + int64(below(w[0][j], int(rows[i].count)))
	}
	if decides := f.plain.second.decides; f.plain.alias {
		n := 0
		for j, i := range left {
			at := t.at[j]
			if x := f.p.tables.alias[at]; w[1][j] >= x.Cut {
				if x.Other == noPlace {
					out[i] = NoVertex
					continue
				}
				at = rows[i].begin + int64(x.Other)
			}
			left[n], t.at[n], w[decides][n] = i, at, w[decides][j]
			n++
		}
		left = left[:n]
	}
	return left
}

// decide sets out to the far ends of the edges drawn, and returns the samples of left whose draws are
// not accepted. It searches a row only if the result of the search matters. It works in pieces of
// secondPiece draws, so that the cache lines of a piece stay in the L1 cache.
func (f *frame) decide(left []int32, out []uint32) []int32 {
	w, t, far := f.plain.second, f.strip, f.p.g.Far
	if f.step == 0 {
		t.touch(far, t.at[:len(left)])
		for j, i := range left {
			out[i] = far[t.at[j]]
		}
		return nil
	}
	more := 0
	for lo := 0; lo < len(left); lo += secondPiece {
		hi := min(len(left), lo+secondPiece)
		var open int
		more, open = f.compare(left, lo, hi, more, out)
		simd.Holds(t.found[:open], far, t.begins[:open], t.counts[:open], t.end[:open])
		for o, i := range t.open[:open] {
			bar := w.far
			if t.found[o] {
				bar = w.near
			}
			if !(t.share[o] < bar) {
				left[more] = i
				more++
			}
		}
	}
	return left[:more]
}

// compare decides draws lo to hi-1 of left as far as possible without a search, and lists in t.open
// those that need one. It moves samples whose draws are rejected to left[more:]; the loop has read
// these elements already. It returns the new more, and the length of t.open.
func (f *frame) compare(left []int32, lo, hi, more int, out []uint32) (int, int) {
	w, t, far := f.plain.second, f.strip, f.p.g.Far
	t.touch(far, t.at[lo:hi])
	before, words, rows := f.steps[f.step-1], &t.words[w.decides], &t.rows[f.step&1^1]
	open := 0
	least, most := min(w.near, w.far), max(w.near, w.far)
	for j := lo; j < hi; j++ {
		i, x, s := left[j], far[t.at[j]], uniform(words[j])*w.scale
		out[i] = x
		low, high := least, most
		if x == before[i] {
			low, high = w.back, w.back
		}
		left[more], t.open[open], t.share[open], t.end[open] = i, i, s, x
		taken, sure := 0, 0 // counted without branches, as a processor could not predict them
		if s < high {
			taken = 1
		}
		if s < low {
			sure = 1
		}
		more += 1 - taken
		open += taken - sure
	}
	for o, i := range t.open[:open] {
		was := &rows[i]
		t.begins[o], t.counts[o] = was.begin, was.count // count > 0: the walk came from this row
		t.middle[o] = was.begin + int64(was.count>>1)   // where a search looks first
	}
	t.touch(far, t.middle[:open])
	return more, open
}

// secondPiece is the number of draws that are decided together. The cache lines of so many rows fit
// in the L1 cache, and so many cache misses are enough to overlap.
const secondPiece = 256
