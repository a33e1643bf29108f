package layout

import "sagann/dataflow/plan"

// use is how often a phase copies an interval of something that does not stay.
type use struct {
	phase int
	reads float64
	made  bool // written, too
}

// usesOf lists how phases use what key names.
func (f *fitting) usesOf(key int) (out []use) {
	p := float64(f.c.P)
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
				u.reads += p - (p-1)*min(float64(f.ch.phase(q)), p)/p
			}
			u.made = a.OwnWrite
		}
		if u.reads > 0 || u.made {
			out = append(out, u)
		}
	}
	return out
}

// span is a window that could be.
type span struct {
	plan.Window
	life  bool    // from the first use to the last: all intervals of it are resident
	again bool    // written again: it stays for its whole life, and not a part of it
	saved float64 // copies of an interval that it saves, by what they count in their phases
}

// spansOf lists the windows that could keep what key names: from a use to a later one, of what a step does not change also to one of
// the next step, or for the whole run. What is written again stays for its whole life.
func (f *fitting) spansOf(key int) (out []span) {
	constant, output := key < 0, false
	if key >= 0 {
		constant, output = f.spec.Values[key].Kind == plan.Input, f.spec.Values[key].Output
	}
	uses := f.usesOf(key)
	n := len(uses)
	again := false
	for i, u := range uses {
		again = again || u.made && (i > 0 || u.reads > 0)
	}
	all := 0.0
	for i, first := range uses {
		all += first.reads * f.worth(first.phase)
		saved := -min(1, first.reads) * f.worth(first.phase) // it comes once
		for k := i; k < n || constant && k < i+n; k++ {
			u := uses[k%n]
			saved += u.reads * f.worth(u.phase)
			if u.made && k > i {
				saved += f.worth(u.phase)
			}
			x := span{Window: plan.Window{Key: key, From: first.phase, To: u.phase}, life: !constant && i == 0 && k == n-1, again: again, saved: saved}
			if first.made && k == n-1 && !output {
				x.saved += f.worth(first.phase)
			}
			if x.saved > 0 && (x.life || !again) {
				out = append(out, x)
			}
		}
	}
	if constant && n > 0 {
		out = append(out, span{plan.Window{Key: key, From: plan.Whole, To: plan.Whole}, true, false, all})
	}
	return out
}
