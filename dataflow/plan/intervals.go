package plan

import (
	"cmp"
	"slices"
)

// first lists the numbers of intervals that a search begins with.
func (f *search) first() []int {
	try := intervalCounts
	switch o := &f.o; {
	case o.P > 0:
		return []int{o.P}
	case o.Near > 0:
		try = []int{o.Near}
		for _, p := range intervalCounts {
			if p != o.Near && 2*p >= o.Near && 2*p <= 5*o.Near {
				try = append(try, p)
			}
		}
		slices.Sort(try)
	}
	return slices.DeleteFunc(evenly(try, f.step), func(p int) bool { return p < f.o.MinP || p < f.o.Devices })
}

// thresholds tries, for every schedule, the smallest numbers of intervals with which each
// number of slots fits, where they lie between those.
func (f *search) thresholds() error {
	for _, sch := range f.schedules {
		var ps []int
		for p := range f.tried[sch] {
			ps = append(ps, p)
		}
		slices.Sort(ps)
		for _, k := range append([]int{1}, f.slots...) {
			lo, hi := 0, 0
			for _, p := range ps {
				ok, err := f.room(p, sch, k)
				if err != nil {
					return err
				}
				if ok {
					hi = p
					break
				}
				lo = p
			}
			if hi == 0 || lo == 0 && hi < 2*f.step { // never, or always
				continue
			}
			lo = max(lo, (f.o.MinP-1)/f.step*f.step)
			for hi-lo > f.step {
				mid := (lo + hi) / (2 * f.step) * f.step
				ok, err := f.room(mid, sch, k)
				if err != nil {
					return err
				}
				if ok {
					hi = mid
				} else {
					lo = mid
				}
			}
			if _, done := f.tried[sch][hi]; !done && f.spent < searchTasks {
				if _, _, err := f.try(hi, sch); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// room tells whether p intervals leave room for k slots of everything that streams.
func (f *search) room(p int, sch string, k int) (bool, error) {
	fit, err := f.fitting(p, sch, k, policy{})
	if err != nil {
		return false, err
	}
	fit.sized = f.sized[0]
	ch := choice{resident: make([]bool, len(fit.spec.Values)), slots: k}
	return fit.ok(fit.narrow(&ch)) && ch.slots == k, nil
}

// trial is a schedule with a number of intervals, and what its fastest plan takes.
type trial struct {
	schedule string
	p        int
	ns       int64
	tasks    int
}

// refine tries numbers between the best of a schedule and its neighbours.
func (f *search) refine(t trial) error {
	for f.spent < searchTasks {
		by := f.tried[t.schedule]
		var ps []int
		for p, ns := range by {
			ps = append(ps, p)
			if ns >= 0 && (ns < t.ns || ns == t.ns && p < t.p) {
				t.p, t.ns = p, ns
			}
		}
		slices.Sort(ps)
		i, _ := slices.BinarySearch(ps, t.p)
		var next []int
		for _, n := range []int{i - 1, i + 1} {
			if n < 0 || n >= len(ps) {
				continue
			}
			gap := ps[n] - t.p
			if step := max(f.step, t.p/24); gap > step || -gap > step {
				next = append(next, t.p+gap/(2*f.step)*f.step)
			}
		}
		if len(next) == 0 {
			return nil
		}
		f.aheadAll([]string{t.schedule}, next...)
		for _, p := range next {
			if p < f.o.MinP {
				by[p] = -1
				continue
			}
			if _, _, err := f.try(p, t.schedule); err != nil {
				return err
			}
		}
	}
	return nil
}

// fastest lists up to n trials, the fastest first; with each only the best of a schedule.
func (f *search) fastest(n int, each bool) []trial {
	var list []trial
	for sch, by := range f.tried {
		for p, ns := range by {
			if ns >= 0 {
				list = append(list, trial{sch, p, ns, f.tasks[p]})
			}
		}
	}
	slices.SortFunc(list, func(a, b trial) int {
		return cmp.Or(cmp.Compare(a.ns, b.ns), a.p-b.p, cmp.Compare(a.schedule, b.schedule))
	})
	if each {
		seen := map[string]bool{}
		list = slices.DeleteFunc(list, func(t trial) bool {
			again := seen[t.schedule]
			seen[t.schedule] = true
			return again
		})
	}
	return list[:min(n, len(list))]
}
