package layout

import (
	"math"

	"sagann/dataflow/plan"
)

// To lay a choice out takes long where there are many values and relations, and keep asks for hundreds of windows whether one more fits. Most
// do not, which what is in use at the same time tells alone. Others are placed after all that the choice has, so only their phases change.

// weighs tells whether what follows is known of the choice: with a base, what is resident is the base's choice, and several devices have
// shares of windows.
func (f *fitting) weighs() bool { return f.o.Budget > 0 && f.o.Devices <= 1 && f.o.Base == nil }

// weigh lays out the choice so far, in f.so.
func (f *fitting) weigh() {
	if !f.weighs() {
		return
	}
	if f.sized.so == nil {
		f.sized.so = &Scratch{}
	}
	p := f.sized.so.measure(f, f.spec, f.usage, f.work, &f.ch, nil)
	if f.o.Beside != nil {
		f.aside(p, &f.ch)
	}
}

// weighed is weigh for a choice that was measured last.
func (f *fitting) weighed() {
	if z := f.sized; f.weighs() {
		z.so.swap(z)
	}
}

// light tells whether the choice may still take at most so many bytes with x: false only if it does not.
func (f *fitting) light(x plan.Window, most int64) bool {
	if !f.weighs() {
		return true
	}
	so := f.sized.so
	list := f.pieces(&x)
	for q := range so.tops {
		if !x.Live(q) {
			continue
		}
		if n := so.floor + so.with(q, list); n > most && n-f.spared(&x, q)-f.shared(&x, q) > most {
			return false
		}
	}
	return true
}

// pieces are the pieces of x.
func (f *fitting) pieces(x *plan.Window) []piece {
	l := &f.sized.so.l
	if x.From == plan.Whole {
		return append(l.shape[:0], piece{bytes: plan.Align(l.windowBytes(x)), to: math.MaxInt})
	}
	return l.windowPieces(x)
}

// with is the most bytes in use at once in phase q, above floor, with a buffer of such pieces.
func (z *Scratch) with(q int, list []piece) (most int64) {
	first := z.l.clock.begin(q)
	for m, n := range z.load(q) {
		for _, p := range list {
			if h := (held{from: p.from, to: p.to}); h.live(first + m) {
				n += p.bytes
			}
		}
		most = max(most, n)
	}
	return most
}

// life is the window of key that has what it takes to make key resident.
func (f *fitting) life(key int) plan.Window {
	s := plan.KeySpan(f.spec, f.c, key)
	w := plan.Window{Key: key, From: plan.Whole, To: plan.Whole, First: s.First, N: s.N}
	if key >= 0 && f.spec.Values[key].Kind == plan.Stored {
		w.From, w.To = f.usage.Life[key][0], f.usage.Life[key][1]
	}
	return w
}

// spared is how many bytes of buffers phase q needs less with x.
func (f *fitting) spared(x *plan.Window, q int) int64 {
	if !f.usage.Uses(q, x.Key) {
		return 0
	}
	l, c := &f.sized.so.l, &f.ch
	var before, after [2]need
	a, b := before[:0], after[:0]
	rest := l.rest(q, x.Key)
	if x.Key >= 0 {
		u := &f.usage.Acc[q][x.Key]
		own := u.OwnRead || u.OwnWrite
		a = l.valueNeeds(a, q, x.Key, u.Other, own, rest, c)
		b = l.valueNeeds(b, q, x.Key, u.Other, own, rest-x.N, c)
	} else {
		a = append(a, l.cellNeed(q, -1-x.Key, rest, c))
		b = append(b, l.cellNeed(q, -1-x.Key, rest-x.N, c))
	}
	return bytesOf(a) - bytesOf(b)
}

// shared is how many bytes that x takes in phase q are another's, if x is all of a value that is made resident.
func (f *fitting) shared(x *plan.Window, q int) int64 {
	if x.Key < 0 || f.spec.Values[x.Key].Kind != plan.Stored {
		return 0
	}
	l := &f.sized.so.l
	live := func(id, later int) bool {
		return id >= 0 && f.ch.resident[id] && l.pairs(&f.ch, later) && f.usage.Life[id][0] <= q && q <= f.usage.Life[id][1]
	}
	if n := f.usage.Next[x.Key]; live(f.usage.Before[x.Key], x.Key) || n >= 0 && live(n, n) {
		return l.windowBytes(x)
	}
	return 0
}

func bytesOf(list []need) (n int64) {
	for _, x := range list {
		n += x.bytes * int64(x.n)
	}
	return n
}

// simple tells whether fitsWith can tell of x whether it fits: whether it stays for the whole run or closes in the step in which it opens.
func (f *fitting) simple(x *plan.Window) bool {
	return f.weighs() && (x.From == plan.Whole || x.From <= x.To || f.sized.so.l.scattered(x))
}

// fitsWith tells whether the choice fits with x, which is simple. In most phases it is enough to know how much is in use, and where the
// last of it ends.
func (f *fitting) fitsWith(x plan.Window) bool {
	z := f.sized.so
	n, whole := plan.Align(z.l.windowBytes(&x)), x.From == plan.Whole
	floor, kept, top := z.floor, z.plan.Kept(), int64(0)
	if z.l.scattered(&x) {
		return f.fitsScattered(x)
	}
	var list []piece
	if whole {
		floor, kept = floor+n, kept+n
	} else {
		list = f.pieces(&x)
		top = end(list) + z.fit.find(list, math.MaxInt)
	}
	if !f.ok(floor+max(z.fit.top, top)) || f.o.Beside != nil && !f.ok(kept+f.beside.above) {
		return false
	}
	var unsure []int // phases for which it depends on the gaps between buffers
	for q := range z.tops {
		open, less := x.Live(q), int64(0)
		if open {
			less = f.spared(&x, q)
		}
		if !open || whole && less == 0 { // as before
			if !f.below(q, floor) {
				return false
			}
			continue
		}
		own, load, last := z.own[q]-less, z.with(q, list)-less, z.ends[q]
		if !whole {
			last = max(last, top)
		}
		if !f.ok(floor + load) {
			return false
		}
		if !f.ok(floor + last + own) {
			unsure = append(unsure, q)
		}
	}
	return len(unsure) == 0 || f.fitsIn(x, floor, unsure)
}

// fitsScattered is fitsWith for a scattered window.
func (f *fitting) fitsScattered(x plan.Window) bool {
	z := f.sized.so
	var open []int
	for q := range z.tops {
		if x.Live(q) {
			open = append(open, q)
		} else if !f.below(q, z.floor) {
			return false
		}
	}
	return f.fitsIn(x, z.floor, open)
}

// below tells whether phase q, of what is laid out, is within the budget where what lies in it begins at floor.
func (f *fitting) below(q int, floor int64) bool {
	z := f.sized.so
	if z.tops[q] < 0 {
		if f.ok(floor + z.ends[q] + z.own[q]) {
			return true
		}
		z.tops[q] = z.peak(q, &f.ch) - z.floor
	}
	return f.ok(floor + z.tops[q])
}

// fitsIn tells whether phases fit with x, what lies in them beginning at floor.
func (f *fitting) fitsIn(x plan.Window, floor int64, phases []int) bool {
	z := f.sized.so
	top, lasting := z.fit.top, z.plan.Places.Lasting
	known := z.fit.known
	f.put(x)
	ok := f.ok(z.floor+z.fit.top) && (f.o.Beside == nil || f.ok(z.plan.Kept()+f.beside.above))
	for _, q := range phases {
		if !ok {
			break
		}
		end, own := z.ends[q], z.own[q]
		z.was = append(z.was[:0], z.load(q)...)
		ok = f.ok(floor + z.peak(q, &f.ch) - z.floor)
		copy(z.load(q), z.was)
		z.ends[q], z.own[q] = end, own
	}
	z.plan.Places.Windows = z.plan.Places.Windows[:len(z.plan.Places.Windows)-1]
	z.l.windows.pop(x.Key)
	z.fit.drop(len(f.spec.Values) + len(z.plan.Places.Windows))
	z.fit.known = known
	z.fit.top, z.plan.Places.Lasting = top, lasting
	return ok
}

// put adds x to what is laid out, but for the phases.
func (f *fitting) put(x plan.Window) {
	z := f.sized.so
	if list := f.pieces(&x); x.From != plan.Whole {
		z.fit.rank = len(f.spec.Values) + len(z.plan.Places.Windows)
		if z.l.scattered(&x) {
			z.fit.scatter(list, f.ch.move && x.Key >= 0)
			if x.Lasts() {
				z.plan.Places.Lasting = max(z.plan.Places.Lasting, z.floor+endNext(list))
			}
		} else {
			z.fit.hold(list...)
		}
	}
	z.plan.Places.Windows = append(z.plan.Places.Windows, x)
	z.l.windows.push(x.Key)
}

// stay adds x, which is simple and with which the choice fits, to what is laid out.
func (f *fitting) stay(x plan.Window) {
	z := f.sized.so
	f.put(x)
	f.moved(&x)
	if x.From == plan.Whole {
		z.raise(plan.Align(z.l.windowBytes(&x)))
	}
}

// settle makes key's value or cells, which do not change during a step, resident in what is laid out.
func (f *fitting) settle(key int) {
	z := f.sized.so
	x := f.life(key)
	if p := &z.plan.Places; key >= 0 {
		p.Resident[key] = true
	} else {
		p.CellsIn[-1-key] = true
	}
	f.moved(&x)
	z.raise(plan.Align(z.l.windowBytes(&x)))
	if f.o.Beside != nil {
		f.aside(&z.plan, &f.ch)
	}
}

// holds tells whether the choice fits with stored value id resident, which may move what is placed behind it. If so, that is what is laid out
// from now on.
func (f *fitting) holds(id int) bool {
	if f.sized.so.l.clock.per > 1 || f.ch.over && (f.usage.Before[id] >= 0 || f.usage.Next[id] >= 0) { // it may share the place of another
		on := &f.ch.resident[id]
		if f.try(on, f.ok); *on {
			f.weighed()
		}
		return *on
	}
	z, was := f.sized.so, f.sized
	x := f.life(id)
	was.fit.held, was.fit.top = append(was.fit.held[:0], z.fit.held...), z.fit.top
	z.fit.insert(piece{bytes: plan.Align(z.l.windowBytes(&x)), from: x.From, to: x.To}, id)
	n := len(z.tops)
	z.fit.index(n)
	was.ends, was.loads, was.own, was.tops = append(was.ends[:0], z.ends...), append(was.loads[:0], z.loads...), append(was.own[:0], z.own...), append(was.tops[:0], z.tops...)
	z.ends, z.loads = zeroed(z.ends, n), zeroed(z.loads, n)
	for i := range z.fit.held {
		h := &z.fit.held[i]
		h.moments(n, func(q int) {
			z.ends[q] = max(z.ends[q], h.end)
			z.loads[q] += h.end - h.at
		})
	}
	fits := f.ok(z.floor + z.fit.top)
	for q := range n {
		if x.Live(q) {
			z.own[q] -= f.spared(&x, q)
		}
		z.tops[q], z.loads[q] = -1, z.loads[q]+z.own[q]
		fits = fits && f.ok(z.floor+z.loads[q])
	}
	z.plan.Places.Resident[id] = true
	for q := 0; fits && q < n; q++ {
		fits = f.below(q, z.floor)
	}
	if !fits {
		z.plan.Places.Resident[id] = false
		z.fit.held, was.fit.held, z.fit.top = was.fit.held, z.fit.held, was.fit.top
		z.fit.known = false
		z.ends, z.loads, z.own, z.tops, was.ends, was.loads, was.own, was.tops = was.ends, was.loads, was.own, was.tops, z.ends, z.loads, z.own, z.tops
	}
	return fits
}

// moved measures again the phases in which x is open or that use its key.
func (f *fitting) moved(x *plan.Window) {
	z := f.sized.so
	for q := range z.tops {
		if x.Live(q) && (x.From != plan.Whole || f.usage.Uses(q, x.Key)) {
			z.tops[q] = z.peak(q, &f.ch) - z.floor
		}
	}
}

// raise lifts what is above the floor by n bytes, which stay for the whole run.
func (z *Scratch) raise(n int64) {
	p := &z.plan.Places
	z.floor += n
	if p.Whole += n; p.Lasting > 0 {
		p.Lasting += n
	}
}

// hopeless tells whether no choice with one slot fits, whatever is resident: only if there is a phase where the smaller of what each value and
// the cells of each direction take whole and in slots is more than the budget. The choice measured last has nothing resident.
func (f *fitting) hopeless() bool {
	if !f.weighs() {
		return false
	}
	z := f.sized
	l, p := &z.l, &z.plan
	for q := range f.spec.Phases {
		n := z.floor
		for _, a := range f.usage.Phases[q].Values {
			v := &f.spec.Values[a.ID]
			z.needs = l.valueNeeds(z.needs[:0], q, a.ID, a.Other, a.OwnRead || a.OwnWrite, p.Span(a.ID).N, &f.ch)
			if more := bytesOf(z.needs); v.Kind == plan.Temp {
				n += more
			} else {
				n += min(more, p.ShareOf(a.ID)*f.c.ChunkBytes(v))
			}
		}
		for _, d := range f.usage.Phases[q].Dirs {
			n += min(bytesOf([]need{l.cellNeed(q, int(d), l.rest(q, -1-int(d)), &f.ch)}), l.Largest.upTo[d][f.c.P])
		}
		if f.work != nil {
			n += f.work[q]
		}
		if n > f.o.Budget {
			return true
		}
	}
	return false
}
