package plan

import "slices"

// Access says how a phase touches a value; the zero value: not at all.
type Access struct{ OwnRead, OwnWrite, Other bool }

// Accesses lists, by phase and value, who touches what. ownRead means that the value
// must be loaded: it is read as own before the phase itself writes it.
func Accesses(s *Spec) [][]Access {
	out := make([][]Access, len(s.Phases))
	for i, ph := range s.Phases {
		out[i] = make([]Access, len(s.Values))
		for _, st := range ph.Steps {
			for k := range st.Calls {
				st.Calls[k].access(s, out[i])
			}
		}
	}
	return out
}

// access adds what a call reads to m, and then what it writes.
func (c *Call) access(s *Spec, m []Access) {
	for _, o := range c.Operands {
		if !o.ofRows() {
			continue
		}
		if d := s.Values[o.ID].Derive; d != nil {
			for _, b := range d.Operands {
				if b.Kind == OtherValue {
					m[b.ID].Other = true
				}
			}
		}
		switch a := &m[o.ID]; {
		case o.Kind == OtherValue:
			a.Other = true
		case !o.Write && !a.OwnWrite:
			a.OwnRead = true
		}
	}
	for _, o := range c.Operands {
		if o.Kind == OwnValue && o.Write {
			m[o.ID].OwnWrite = true
		}
	}
}

// Lifetime is the first and the last phase that touches a value.
func Lifetime(acc [][]Access, id int) (from, to int) {
	from = len(acc)
	for i, a := range acc {
		if a[id] != (Access{}) {
			from, to = min(from, i), i
		}
	}
	return min(from, to), to
}

// Usage is what a program touches, worked out once for all its plans.
type Usage struct {
	Acc    [][]Access // by phase and value
	Life   [][2]int   // by value: its first and last phase
	Phases []phaseUse

	base           *Spec // whose parameters and inputs are shared
	Params, Inputs []int // by Global and value: which of base it is, -1: none
}

// Inherit finds by name what s shares with base.
func (u *Usage) Inherit(s, base *Spec) {
	if u.base == base {
		return
	}
	u.base, u.Params, u.Inputs = base, nil, nil
	for _, g := range s.Globals {
		u.Params = append(u.Params, slices.IndexFunc(base.Globals, func(o Global) bool { return o.Kind == Param && o.Name == g.Name }))
	}
	for _, v := range s.Values {
		u.Inputs = append(u.Inputs, slices.IndexFunc(base.Values, func(o Value) bool { return o.Kind == Input && o.Name == v.Name }))
	}
}

// phaseUse is what a phase touches.
type phaseUse struct {
	Values []touch
	Temps  []int // EdgeTemps, in the order of their use
	Dirs   [2]bool
}

// touch is a value that a phase touches.
type touch struct {
	ID int
	Access
}

// NewUsage works out what s touches.
func NewUsage(s *Spec) *Usage {
	u := &Usage{Acc: Accesses(s), Life: make([][2]int, len(s.Values)), Phases: make([]phaseUse, len(s.Phases))}
	for id := range s.Values {
		u.Life[id][0], u.Life[id][1] = Lifetime(u.Acc, id)
	}
	for q := range s.Phases {
		ph := &u.Phases[q]
		for id, a := range u.Acc[q] {
			if a != (Access{}) {
				ph.Values = append(ph.Values, touch{id, a})
			}
		}
		seen := make([]bool, len(s.EdgeTemps))
		for _, st := range s.Phases[q].Steps {
			if st.Kind != Stream {
				continue
			}
			ph.Dirs[st.Dir] = true
			for _, c := range st.Calls {
				for _, o := range c.Operands {
					if o.Kind == EdgeTemp && !seen[o.ID] {
						seen[o.ID] = true
						ph.Temps = append(ph.Temps, o.ID)
					}
				}
			}
		}
	}
	return u
}
