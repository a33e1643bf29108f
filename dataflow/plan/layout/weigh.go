package layout

import (
	"slices"

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
	p := f.sized.so.measure(f, f.spec, f.usage, &f.ch, nil)
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
	bytes := so.l.windowBytes(&x)
	for q, n := range so.loads {
		if x.Live(q) && so.floor+n+bytes > most && so.floor+n+bytes-f.spared(&x, q) > most {
			return false
		}
	}
	return true
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
	if !f.touches(q, x.Key) {
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

func bytesOf(list []need) (n int64) {
	for _, x := range list {
		n += x.bytes * int64(x.n)
	}
	return n
}

// touches tells whether phase q needs buffers for key's chunks or cells where they are not on the device.
func (f *fitting) touches(q, key int) bool {
	if key < 0 {
		return slices.Contains(f.usage.Phases[q].Dirs, plan.Dir(-1-key))
	}
	return f.usage.Acc[q][key] != plan.Access{}
}

// simple tells whether fitsWith can tell of x whether it fits: whether it stays for the whole run or closes in the step in which it opens.
func (f *fitting) simple(x *plan.Window) bool {
	return f.weighs() && (x.From == plan.Whole || x.From <= x.To)
}

// fitsWith tells whether the choice fits with x, which is simple. If so and if it stays, x is added to what is laid out.
func (f *fitting) fitsWith(x plan.Window, stays bool) bool {
	z := f.sized.so
	l, p, n := &z.l, &z.plan, plan.Align(z.l.windowBytes(&x))
	whole, more, was, at := x.From == plan.Whole, n, z.fit.top, 0
	if !whole {
		more, at = 0, z.fit.put(z.fit.find(n, x.From, x.To), n, x.From, x.To)
	}
	p.Places.Windows = append(p.Places.Windows, x)
	l.windows.push(x.Key)
	top := z.fit.top
	for q := range z.tops {
		end := z.tops[q]
		if !whole && x.Live(q) || f.touches(q, x.Key) {
			load := z.loads[q]
			if end = z.peak(q, &f.ch) - z.floor; stays {
				z.tops[q] = end
			} else {
				z.loads[q] = load
			}
		}
		top = max(top, end)
	}
	if stays {
		z.floor += more
		if p.Places.Whole += more; p.Places.Lasting > 0 {
			p.Places.Lasting += more
		}
		return true
	}
	ok := f.ok(z.floor+more+top) && (f.o.Beside == nil || f.ok(p.Kept()+more+f.beside.above))
	p.Places.Windows = p.Places.Windows[:len(p.Places.Windows)-1]
	l.windows.pop(x.Key)
	if z.fit.top = was; !whole && n > 0 {
		z.fit.held = slices.Delete(z.fit.held, at, at+1)
	}
	return ok
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
		if n > f.o.Budget {
			return true
		}
	}
	return false
}
