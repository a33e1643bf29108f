package plan

// try simulates the plans of p intervals and one schedule, a plan a policy and number of
// slots, and returns the fastest's ns, -1 when none fits; still tells that nothing moves.
// What was fastest with the number before comes first: of large plans it is the only one.
func (f *search) try(p int, sch string) (fastest int64, still bool, err error) {
	fastest = -1
	tasks, won, n := 0, f.won[sch], len(f.slots)*len(f.policies)
	for i := range n {
		if i > 0 && (still || fastest >= 0 && (f.far(fastest, tasks) || f.full(tasks))) {
			break
		}
		if i == 1 {
			var rest []candidate
			for k := 1; k < n; k++ {
				x, _ := f.nth(p, sch, won, k)
				rest = append(rest, x)
			}
			f.ahead(rest...)
		}
		next, w := f.nth(p, sch, won, i)
		t, k := next.policy, next.slots
		x, fits, err := f.one(p, sch, k, t)
		if err != nil {
			return 0, false, err
		}
		if fits == 0 {
			if t.ahead == 0 && t.group == 0 {
				break // fewer slots have been tried
			}
			continue
		}
		if tasks = x.tasks; fastest < 0 || x.ns < fastest {
			fastest, f.won[sch] = x.ns, w
			if w, ok := f.reached[at{sch, p}]; !ok || x.ns < w.ns {
				f.reached[at{sch, p}] = rival{sch, p, k, t, x.ns, x.tasks}
			}
		}
		still = x.tasks > 0 && !x.moves
	}
	if f.tried[sch] == nil {
		f.tried[sch] = map[int]int64{}
	}
	if old, ok := f.tried[sch][p]; !ok || old < 0 || fastest >= 0 && fastest < old {
		f.tried[sch][p] = fastest
	}
	f.tasks[p] = max(f.tasks[p], tasks)
	return fastest, still, nil
}

// nth is the i-th candidate of p intervals and one schedule, and which of all it is: the
// one that won before, then the others in order.
func (f *search) nth(p int, sch string, won, i int) (candidate, int) {
	w := i
	if won < len(f.slots)*len(f.policies) && i <= won {
		w = (i + won) % (won + 1)
	}
	return candidate{p, sch, f.slots[w%len(f.slots)], f.policies[w/len(f.slots)]}, w
}

// full tells that plans of so many tasks are tried in one way only.
func (f *search) full(tasks int) bool {
	return tasks > 5*manyTasks && !f.last || tasks > manyTasks && f.spent > searchTasks && f.o.P == 0
}

// far tells that a plan of so many tasks is too slow to be worth more of that size: the
// more they are, the closer it has to be to the best.
func (f *search) far(ns int64, tasks int) bool {
	slack := 1.0
	if tasks > manyTasks && !f.last {
		slack *= manyTasks / float64(tasks)
	}
	return float64(ns) > (1+slack)*float64(f.line.Wall)
}

// one simulates one plan, unless an equal one has been, and says how many slots it has;
// 0: it does not fit.
func (f *search) one(p int, sch string, slots int, t policy) (seen, int, error) {
	a := f.evaluation(candidate{p, sch, slots, t})
	if a.err != nil {
		return seen{}, 0, a.err
	}
	if a.need > 0 {
		if f.small == nil || a.need < f.small.Smallest {
			f.small = &BudgetError{f.o.Budget, a.need, p}
		}
		return seen{}, 0, nil
	}
	if x, ok := f.seen[a.layout]; ok {
		return x, a.ch.slots, nil
	}
	a.make(f.m)
	pl, line := a.plan, a.line
	if pl.short {
		f.short = true
		f.spent += len(pl.Tasks) / 2
		return seen{}, 0, nil
	}
	f.spent += len(pl.Tasks)
	if f.best == nil || line.Wall < f.line.Wall {
		f.best, f.line = pl, line
	}
	x := seen{line.Wall, len(pl.Tasks), pl.moves()}
	f.seen[a.layout] = x
	return x, a.ch.slots, nil
}

// fitting is for p intervals and one schedule.
func (f *search) fitting(p int, sch string, slots int, t policy) (*fitting, error) {
	o := f.o
	o.P, o.Schedule, o.Slots, o.More, o.Windows, o.Diagonal, o.policy = p, sch, slots, f.o.Slots == 0 || f.o.More, true, !f.o.Stream, t
	if f.early {
		o.Early = f.m
	}
	s, err := o.prepare(f.spec)
	if err != nil {
		return nil, err
	}
	c := f.grids[p]
	if c == nil {
		if c, err = f.cells(p); err != nil {
			return nil, err
		}
	}
	return newFitting(s, c, o), nil
}
