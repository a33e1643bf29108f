package layout

import "sagann/dataflow/plan"

// use says how often a phase copies an interval of a value or direction that does not stay on the device.
type use struct {
	phase int
	reads float64 // loads of an interval, on average
	made  bool    // the phase also writes the value
}

// usesOf lists the phases that use key's value or cells.
func (f *fitting) usesOf(key int) (out []use) {
	for q := range f.spec.Phases {
		u := use{phase: q}
		if key < 0 {
			for _, st := range f.spec.Phases[q].Steps {
				if st.Kind == plan.Stream && int(st.Dir) == -1-key {
					u.reads++
				}
			}
		} else {
			a := f.usage.Acc[q][key]
			if a.OwnRead {
				u.reads++
			}
			if a.Other {
				n, far := f.sweep(q, key)
				u.reads += n - (n-1)*min(float64(f.ch.phase(q)), far)/far
			}
			u.made = a.OwnWrite
		}
		if u.reads > 0 || u.made {
			out = append(out, u)
		}
	}
	return out
}

// sweep is how many intervals phase q visits at most to read value id at the far end, and how many intervals that value has.
func (f *fitting) sweep(q, id int) (visits, far float64) {
	visits = 1
	for _, st := range f.spec.Phases[q].Steps {
		if st.Kind == plan.Stream && f.spec.Far(st, id) {
			own, _ := f.c.Side(st.Dir)
			visits = max(visits, float64(own.N))
		}
	}
	return visits, float64(plan.KeySpan(f.spec, f.c, id).N)
}

// span is a possible window.
type span struct {
	plan.Window
	life  bool    // the window is open from the first use to the last: with all intervals, the value or direction is resident
	again bool    // a phase writes the value after an earlier use: it stays for its whole life or not at all
	saved float64 // copies saved per interval, each weighted by worth
}

// spansOf lists the possible windows of key's value or cells. A window lasts from one use to a later one. For inputs and cells, which a
// step does not change, the later use may also be in the next step, or the window may last for the whole run. A value that is written
// again has only the window of its whole life.
func (f *fitting) spansOf(key int) (out []span) {
	constant, output := key < 0, false
	if key >= 0 {
		constant, output = f.spec.Values[key].Kind == plan.Input, f.spec.Values[key].Output
	}
	uses, begin := f.usesOf(key), plan.KeySpan(f.spec, f.c, key).First
	n := len(uses)
	again := false
	for i, u := range uses {
		again = again || u.made && (i > 0 || u.reads > 0)
	}
	all := 0.0
	for i, first := range uses {
		all += first.reads * f.worth(first.phase)
		saved := -min(1, first.reads) * f.worth(first.phase) // the window itself is loaded once
		for k := i; k < n || constant && k < i+n; k++ {
			u := uses[k%n]
			saved += u.reads * f.worth(u.phase)
			if u.made && k > i {
				saved += f.worth(u.phase)
			}
			x := span{Window: plan.Window{Key: key, From: first.phase, To: u.phase, First: begin}, life: !constant && i == 0 && k == n-1, again: again, saved: saved}
			if first.made && k == n-1 && !output {
				x.saved += f.worth(first.phase)
			}
			if x.saved > 0 && (x.life || !again) {
				out = append(out, x)
			}
		}
	}
	if constant && n > 0 {
		out = append(out, span{plan.Window{Key: key, From: plan.Whole, To: plan.Whole, First: begin}, true, false, all})
	}
	return out
}

// worth is the weight of a copy in phase q.
func (f *fitting) worth(q int) float64 {
	if f.rule.Price == nil {
		return 1
	}
	return f.rule.Price[q]
}
