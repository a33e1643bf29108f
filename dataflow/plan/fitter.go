package plan

import (
	"cmp"
	"slices"
)

// fitter places buffers that live for some phases: each at the lowest address where it
// meets none that lives at the same time.
type fitter struct {
	p     *Plan
	floor int64
	taken [][]extent // by phase, by address
	met   []extent   // scratch
}

// extent is a buffer's place.
type extent struct{ at, end int64 }

// begin forgets all buffers.
func (f *fitter) begin() {
	n := len(f.p.Spec.Phases)
	if old := len(f.taken); old < n {
		const usual = 32
		room := make([]extent, usual*(n-old))
		for q := range n - old {
			f.taken = append(f.taken, room[q*usual:q*usual:(q+1)*usual])
		}
	}
	f.taken = f.taken[:n]
	for q := range f.taken {
		f.taken[q] = f.taken[q][:0]
	}
}

func (f *fitter) add(name string, bytes int64, from, to int) int64 {
	b := Buffer{name, f.floor, align(bytes), from, to}
	from, to = max(0, from), min(to, len(f.taken)-1)
	met := f.taken[from]
	if to > from {
		met = f.met[:0]
		for _, at := range f.taken[from : to+1] {
			met = append(met, at...)
		}
		f.met = met
		slices.SortFunc(met, func(x, y extent) int { return cmp.Compare(x.at, y.at) })
	}
	for _, o := range met {
		if b.At < o.end && o.at < b.At+b.Bytes {
			b.At = o.end
		}
	}
	for q := from; q <= to && b.Bytes > 0; q++ {
		i, _ := slices.BinarySearchFunc(f.taken[q], b.At, func(o extent, at int64) int { return cmp.Compare(o.at, at) })
		f.taken[q] = slices.Insert(f.taken[q], i, extent{b.At, b.At + b.Bytes})
	}
	f.p.Memory = append(f.p.Memory, b)
	f.p.Peak = max(f.p.Peak, b.At+b.Bytes)
	return b.At
}

// put places a buffer at an address above all others of its phases.
func (f *fitter) put(name string, at, bytes int64, from, to int) {
	b := Buffer{name, at, align(bytes), from, to}
	for q := from; q <= to && b.Bytes > 0; q++ {
		f.taken[q] = append(f.taken[q], extent{at, at + b.Bytes})
	}
	f.p.Memory = append(f.p.Memory, b)
	f.p.Peak = max(f.p.Peak, at+b.Bytes)
}
