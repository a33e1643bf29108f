package layout

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"sagann/dataflow/plan"
)

// CheckSizes measures choices, each a little different from the one before, and lays each out:
// they take the same.
func CheckSizes(s *plan.Spec, c *plan.Cells, o plan.Options, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 0))
	s, err := o.Prepare(s)
	if err != nil {
		return err
	}
	f := NewFitting(s, c, o, plan.Rule{}, &Scratch{})
	ch := Choice{resident: make([]bool, len(s.Values)), cells: make([]bool, len(c.Bytes)), Slots: 1 + r.IntN(3), group: 1 + r.IntN(3), over: r.IntN(2) > 0}
	for range 40 {
		q, k := r.IntN(len(s.Phases)), r.IntN(c.P)
		switch id := r.IntN(len(s.Values)); r.IntN(7) {
		case 0:
			ch.resident[id] = s.Values[id].Kind != plan.Temp && !ch.resident[id]
		case 1:
			d := r.IntN(2)
			ch.cells[d] = c.Bytes[d] != nil && !ch.cells[d]
		case 2:
			ch.more = slices.Repeat([]int{ch.Slots}, len(s.Phases))
			ch.more[q] += r.IntN(3)
		case 3:
			ch.groups = slices.Repeat([]int{ch.group}, len(s.Phases))
			ch.groups[q] += r.IntN(3)
		case 4, 5:
			w := plan.Window{Key: id, From: q, To: r.IntN(len(s.Phases)), First: k, N: r.IntN(c.P-k) + 1}
			if r.IntN(4) == 0 {
				w.From, w.To = plan.Whole, plan.Whole
			}
			if d := r.IntN(2); r.IntN(3) == 0 && c.Bytes[d] != nil {
				w.Key = -1 - d
			}
			if meets := slices.ContainsFunc(ch.windows, func(o plan.Window) bool { return o.Key == w.Key }); !meets && o.Devices == 1 {
				ch.windows = append(ch.windows, w)
			}
		case 6:
			if n := len(ch.windows); n > 0 {
				ch.windows = slices.Delete(ch.windows, n-1, n)
			}
		}
		p := &plan.Plan{Spec: s, Cells: c, Schedule: o.Schedule, Devices: o.Devices}
		placed(p, ch, nil)
		if n := f.size(ch); n != p.Peak {
			return fmt.Errorf("measured %d bytes, laid out %d: %+v", n, p.Peak, ch)
		}
		if err := f.checkWith(ch, p.Peak, r); err != nil {
			return err
		}
	}
	return nil
}

// Windowed lays out s for one device that visits so many intervals at a time and keeps these windows.
func Windowed(s *plan.Spec, c *plan.Cells, group int, windows ...plan.Window) *Layout {
	return Place(s, c, plan.Options{Devices: 1, Schedule: plan.Sag}, Choice{resident: make([]bool, len(s.Values)), cells: make([]bool, len(c.Bytes)), Slots: 2, group: group, windows: windows})
}

// checkWith asks whether ch, which takes so many bytes, fits with one more window: by what changes and as a whole.
func (f *fitting) checkWith(ch Choice, bytes int64, r *rand.Rand) error {
	was := f.o
	defer func() { f.o = was }()
	if r.IntN(2) == 0 {
		if f.o.Beside = f.spec; f.beside.usage == nil {
			f.beside.usage = plan.NewUsage(f.spec)
		}
	}
	for range 4 {
		f.ch, f.o.Budget = ch, bytes-bytes/8+r.Int64N(bytes/4+2)
		keys := f.keys()
		x := plan.Window{Key: keys[r.IntN(len(keys))], From: r.IntN(len(f.spec.Phases)), To: r.IntN(len(f.spec.Phases))}
		if x.From > x.To {
			x.From, x.To = plan.Whole, plan.Whole
		}
		same := func(w plan.Window) bool { return w.Key == x.Key }
		if x.First = r.IntN(f.c.P); *f.resident(x.Key) || slices.ContainsFunc(ch.windows, same) {
			continue
		}
		if !f.weighs() {
			return nil
		}
		f.weigh()
		x.N = 1 + r.IntN(f.c.P-x.First)
		light, with := f.light(x, f.o.Budget), f.fitsWith(x)
		again := f.fitsWith(x)
		f.ch.windows = append(slices.Clip(ch.windows), x)
		fits := f.fits()
		if fits != with || fits != again || fits && !light {
			return fmt.Errorf("within %d bytes %+v: fits %t, with it %t and %t, may fit %t: %+v", f.o.Budget, x, fits, with, again, light, ch)
		}
		f.stay(x)
		if err := f.sameAgain(); err != nil {
			return fmt.Errorf("with %+v: %w", x, err)
		}
		f.ch = ch
		f.weigh()
		f.ch.resident, f.ch.cells = slices.Clone(ch.resident), slices.Clone(ch.cells)
		if x.Key >= 0 && f.spec.Values[x.Key].Kind == plan.Stored {
			if !f.fits() { // keep begins with a choice that fits
				continue
			}
			holds := f.holds(x.Key)
			*f.resident(x.Key) = true
			if f.fits() != holds {
				return fmt.Errorf("within %d bytes with %d resident: fits %t, held %t", f.o.Budget, x.Key, !holds, holds)
			}
			if *f.resident(x.Key) = holds; !holds {
				f.size(f.ch)
			}
			if err := f.sameAgain(); err != nil {
				return fmt.Errorf("with %d held %t: %w", x.Key, holds, err)
			}
			continue
		}
		*f.resident(x.Key) = true
		f.settle(x.Key)
		above := f.beside.above
		f.beside.group = 0 // measure it anew
		f.size(f.ch)
		if err := f.sameAgain(); err != nil || f.beside.above != above {
			return fmt.Errorf("with %d resident: %w, beside it %d, anew %d", x.Key, err, above, f.beside.above)
		}
	}
	return nil
}

// sameAgain is an error if what is laid out is not what was measured last.
func (f *fitting) sameAgain() error {
	so, z := f.sized.so, f.sized
	for q, top := range so.tops {
		if top < 0 {
			so.tops[q] = so.peak(q, &f.ch) - so.floor
		}
	}
	if so.floor != z.floor || so.plan.Kept() != z.plan.Kept() || !slices.Equal(so.tops, z.tops) || !slices.Equal(so.ends, z.ends) ||
		!slices.Equal(so.loads, z.loads) || !slices.Equal(so.own, z.own) || !slices.Equal(so.fit.held, z.fit.held) {
		return fmt.Errorf("%+v, laid out anew %+v", so, z)
	}
	return nil
}
