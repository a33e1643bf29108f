package plan

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// A search asks for one plan after the other, and goes by what it has seen. What it is all
// but sure to ask for next is made ahead, side by side. As plans and timelines are pure
// functions of what is asked, the search goes the same way however many processors there are.

// candidate is what a plan is made by, beside the options.
type candidate struct {
	p        int
	schedule string
	slots    int
	policy   policy
}

// evaluation is what a candidate leads to: a plan and its simulated time, or why there is none.
type evaluation struct {
	err    error
	fit    *fitting
	ch     choice
	need   int64  // bytes of the smallest choice when none fits, else 0
	layout string // equal layouts are equal plans
	plan   *Plan  // nil: not made yet
	line   *Timeline
}

// aheadAtOnce bounds the plans that are made side by side, and aheadTasks how large they
// are, and so their memory.
const (
	aheadAtOnce = 8
	aheadTasks  = 20 * manyTasks
)

func (f *search) key(w candidate) string { return fmt.Sprintf("%v %v", w, f.early) }

// evaluation is that of w, as it was made ahead or without its plan.
func (f *search) evaluation(w candidate) *evaluation {
	if len(f.made) > 0 {
		k := f.key(w)
		if a := f.made[k]; a != nil {
			delete(f.made, k)
			return a
		}
	}
	return f.choose(w, 0)
}

// choose finds what stays and how it lies.
func (f *search) choose(w candidate, worker int) *evaluation {
	a := &evaluation{}
	if a.fit, a.err = f.fitting(w.p, w.schedule, w.slots, w.policy); a.err != nil {
		return a
	}
	a.fit.sized = f.sized[worker]
	if a.ch, a.need = a.fit.fit(); a.need == 0 {
		a.layout = a.fit.layout(a.ch)
	}
	a.fit.sized = nil
	return a
}

// make makes the plan and its timeline.
func (a *evaluation) make(m *Machine) {
	if a.plan == nil {
		if a.plan = build(a.fit.spec, a.fit.c, a.ch, a.fit.o); !a.plan.short {
			a.line = Simulate(a.plan, m)
		}
	}
}

// aheadAll makes what numbers of intervals begin with, for every schedule that has not been
// given up, where something moves. What was made ahead before and not asked for is forgotten.
func (f *search) aheadAll(schedules []string, ps ...int) {
	clear(f.made)
	if f.best == nil || !f.best.moves() {
		return
	}
	var list []candidate
	for _, p := range ps {
		for _, sch := range schedules {
			if p >= f.o.MinP && f.behind[sch] < patience {
				w, _ := f.nth(p, sch, f.won[sch], 0)
				list = append(list, w)
			}
		}
	}
	f.ahead(list...)
}

// aheadPolicies makes plans that differ from pl by their policies, as many as will be asked for,
// and forgets others.
func (f *search) aheadPolicies(pl *Plan, policies []policy) {
	clear(f.made)
	var list []candidate
	for _, t := range policies[:min(len(policies), 1+max(0, f.climbTasks()-f.spent)/len(pl.Tasks))] {
		list = append(list, candidate{pl.Cells.P, pl.Schedule, pl.Slots, t})
	}
	f.ahead(list...)
}

// ahead makes the plans of candidates, side by side. Those that lead to one layout, or to one that
// has been seen, share it.
func (f *search) ahead(candidates ...candidate) {
	workers := min(len(f.sized), len(candidates))
	if workers < 2 || f.best != nil && len(f.best.Tasks) > aheadTasks {
		return
	}
	for _, w := range candidates {
		if f.grids[w.p] == nil {
			c, err := f.cells(w.p)
			if err != nil {
				return // who asks for it will be told
			}
			f.grids[w.p] = c
		}
	}
	list := make([]*evaluation, len(candidates))
	sideBySide(workers, len(candidates), func(worker, i int) { list[i] = f.choose(candidates[i], worker) })
	var plans []*evaluation
	layouts := map[string]bool{}
	for i, a := range list {
		f.made[f.key(candidates[i])] = a
		if _, old := f.seen[a.layout]; a.err != nil || a.need > 0 || old || layouts[a.layout] {
			continue
		}
		layouts[a.layout] = true
		plans = append(plans, a)
	}
	sideBySide(workers, len(plans), func(_, i int) { plans[i].make(f.m) })
}

// sideBySide calls f for 0..n-1 from so many goroutines, numbered from 0.
func sideBySide(workers, n int, f func(worker, i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range min(workers, n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(w, i)
			}
		})
	}
	wg.Wait()
}

// newSized is scratch for every worker.
func newSized() (out []*sized) {
	for range min(aheadAtOnce, runtime.GOMAXPROCS(0)) {
		out = append(out, &sized{})
	}
	return out
}
