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

// way is what a plan is made by, beside the options.
type way struct {
	p        int
	schedule string
	slots    int
	taste    taste
}

// answer is what one asks for.
type answer struct {
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

func (f *search) key(w way) string { return fmt.Sprintf("%v %v", w, f.early) }

// answer is what w leads to, as it was made ahead or without its plan.
func (f *search) answer(w way) *answer {
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
func (f *search) choose(w way, worker int) *answer {
	a := &answer{}
	if a.fit, a.err = f.fitting(w.p, w.schedule, w.slots, w.taste); a.err != nil {
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
func (a *answer) make(m *Machine) {
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
	var ways []way
	for _, p := range ps {
		for _, sch := range schedules {
			if p >= f.o.MinP && f.behind[sch] < patience {
				w, _ := f.nth(p, sch, f.won[sch], 0)
				ways = append(ways, w)
			}
		}
	}
	f.ahead(ways...)
}

// aheadTastes makes plans that differ from pl by their tastes, as many as will be asked for,
// and forgets others.
func (f *search) aheadTastes(pl *Plan, tastes []taste) {
	clear(f.made)
	var ways []way
	for _, t := range tastes[:min(len(tastes), 1+max(0, f.climbTasks()-f.spent)/len(pl.Tasks))] {
		ways = append(ways, way{pl.Cells.P, pl.Schedule, pl.Slots, t})
	}
	f.ahead(ways...)
}

// ahead makes the plans of ways, side by side. Ways that lead to one layout, or to one that
// has been seen, share it.
func (f *search) ahead(ways ...way) {
	workers := min(len(f.sized), len(ways))
	if workers < 2 || f.best != nil && len(f.best.Tasks) > aheadTasks {
		return
	}
	for _, w := range ways {
		if f.grids[w.p] == nil {
			c, err := f.cells(w.p)
			if err != nil {
				return // who asks for it will be told
			}
			f.grids[w.p] = c
		}
	}
	list := make([]*answer, len(ways))
	sideBySide(workers, len(ways), func(worker, i int) { list[i] = f.choose(ways[i], worker) })
	var plans []*answer
	layouts := map[string]bool{}
	for i, a := range list {
		f.made[f.key(ways[i])] = a
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
