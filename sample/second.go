package sample

import "sagann/internal/simd"

// second is what makes a plain walk one of second order: its place is drawn in a Reject, as Node2vec's. A draw is
// taken with a probability that depends on whether the far end is the vertex before, or next to that, or neither.
type second struct {
	decides         int     // site of the number that decides,
	scale           float32 // which is drawn from 0 up to this,
	back, near, far float32 // and must be below one of these
	reject          *instruction
}

// secondOrder is the second order of a function that has the shape of Node2vec's, and the number of the place that it takes; nil
// of any other.
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

// tries are draws of a step.
type tries struct {
	left [width]int32 // the samples that draw,
	at   [width]int64 // and the edge that each has drawn

	open   [width]int32 // samples whose draw the row of the vertex before decides,
	share  [width]float32
	end    [width]uint32 // with the far end that is looked for there
	begins [width]int64
	counts [width]uint32
	middle [width]int64
	found  [width]bool

	rows [2][width]row // by sample, those of the transits and of the vertices before, in turn
}

// row is where a row begins, and its length.
type row struct {
	begin int64
	count uint32
}

// onwardSecond is onward for walks of second order, whose rows are kept by sample.
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

// addSecond makes the draws of a step of second order for the live walks, whose rows are known.
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

// propose draws an edge for each of left. Walks whose rows have no weight get none, and leave the list.
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

// decide sets the far ends of the edges drawn, and leaves those of left that are not taken. Rows are searched only where that decides.
// It goes piece by piece, so that the lines of a piece are still in the first cache when it is looked at again.
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

// compare takes draws lo to hi-1 of left as far as the number drawn says, and lists in open those that a search decides. What is not taken moves to
// left[more:], which the draws have left already.
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
		taken, sure := 0, 0 // counted without branches, as these could not be foreseen
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
		t.begins[o], t.counts[o] = was.begin, was.count // not empty: the walk came from there
		t.middle[o] = was.begin + int64(was.count>>1)   // where a search looks first
	}
	t.touch(far, t.middle[:open])
	return more, open
}

// secondPiece is how many draws are decided together: lines of so many rows fit in the first cache, and are enough to wait for together.
const secondPiece = 256
