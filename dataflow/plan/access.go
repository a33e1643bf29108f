package plan

import "slices"

// access says how a phase touches a value; the zero value: not at all.
type access struct{ ownRead, ownWrite, other bool }

// accesses lists, by phase and value, who touches what. ownRead means that the value
// must be loaded: it is read as own before the phase itself writes it.
func accesses(s *Spec) [][]access {
	out := make([][]access, len(s.Phases))
	for i, ph := range s.Phases {
		m := make([]access, len(s.Values))
		for _, st := range ph.Steps {
			for _, c := range st.Calls {
				for _, o := range c.Operands {
					if o.Kind != OwnValue && o.Kind != OtherValue {
						continue
					}
					if d := s.Values[o.ID].Derive; d != nil {
						for _, b := range d.Operands {
							if b.Kind == OtherValue {
								m[b.ID].other = true
							}
						}
					}
					switch a := &m[o.ID]; {
					case o.Kind == OtherValue:
						a.other = true
					case o.Write:
						a.ownWrite = true
					case !a.ownWrite:
						a.ownRead = true
					}
				}
			}
		}
		out[i] = m
	}
	return out
}

// lifetime is the first and the last phase that touches a value.
func lifetime(acc [][]access, id int) (from, to int) {
	from = len(acc)
	for i, a := range acc {
		if a[id] != (access{}) {
			from, to = min(from, i), i
		}
	}
	return min(from, to), to
}

// usage is what a program touches, worked out once for all its plans.
type usage struct {
	acc    [][]access // by phase and value
	life   [][2]int   // by value: its first and last phase
	phases []phaseUse

	base           *Spec // whose parameters and inputs are shared
	params, inputs []int // by Global and value: which of base it is, -1: none
}

// inherit finds by name what s shares with base.
func (u *usage) inherit(s, base *Spec) {
	if u.base == base {
		return
	}
	u.base, u.params, u.inputs = base, nil, nil
	for _, g := range s.Globals {
		u.params = append(u.params, slices.IndexFunc(base.Globals, func(o Global) bool { return o.Kind == Param && o.Name == g.Name }))
	}
	for _, v := range s.Values {
		u.inputs = append(u.inputs, slices.IndexFunc(base.Values, func(o Value) bool { return o.Kind == Input && o.Name == v.Name }))
	}
}

// phaseUse is what a phase touches.
type phaseUse struct {
	values []touch
	temps  []int // EdgeTemps, in the order of their use
	dirs   [2]bool
}

// touch is a value that a phase touches.
type touch struct {
	id int
	access
}

func newUsage(s *Spec) *usage {
	u := &usage{acc: accesses(s), life: make([][2]int, len(s.Values)), phases: make([]phaseUse, len(s.Phases))}
	for id := range s.Values {
		u.life[id][0], u.life[id][1] = lifetime(u.acc, id)
	}
	for q := range s.Phases {
		ph := &u.phases[q]
		for id, a := range u.acc[q] {
			if a != (access{}) {
				ph.values = append(ph.values, touch{id, a})
			}
		}
		seen := make([]bool, len(s.EdgeTemps))
		for _, st := range s.Phases[q].Steps {
			if st.Kind != Stream {
				continue
			}
			ph.dirs[st.Dir] = true
			for _, c := range st.Calls {
				for _, o := range c.Operands {
					if o.Kind == EdgeTemp && !seen[o.ID] {
						seen[o.ID] = true
						ph.temps = append(ph.temps, o.ID)
					}
				}
			}
		}
	}
	return u
}
