package plan

import "slices"

// access says how a phase touches a value.
type access struct{ ownRead, ownWrite, other bool }

// accesses lists, per phase, the values it touches. ownRead means that the value
// must be loaded: it is read as own before the phase itself writes it.
func accesses(s *Spec) []map[int]access {
	out := make([]map[int]access, len(s.Phases))
	for i, ph := range s.Phases {
		m := map[int]access{}
		for _, st := range ph.Steps {
			for _, c := range st.Calls {
				for _, o := range c.Operands {
					if o.Kind != OwnValue && o.Kind != OtherValue {
						continue
					}
					if d := s.Values[o.ID].Derive; d != nil {
						for _, b := range d.Operands {
							if b.Kind == OtherValue {
								x := m[b.ID]
								x.other = true
								m[b.ID] = x
							}
						}
					}
					a := m[o.ID]
					switch {
					case o.Kind == OtherValue:
						a.other = true
					case o.Write:
						a.ownWrite = true
					case !a.ownWrite:
						a.ownRead = true
					}
					m[o.ID] = a
				}
			}
		}
		out[i] = m
	}
	return out
}

// touch is a value that a phase touches.
type touch struct {
	id int
	access
}

// touches are accesses as lists, by value.
func touches(acc []map[int]access) [][]touch {
	out := make([][]touch, len(acc))
	for i, by := range acc {
		for id, a := range by {
			out[i] = append(out[i], touch{id, a})
		}
		slices.SortFunc(out[i], func(x, y touch) int { return x.id - y.id })
	}
	return out
}

// lifetime is the first and the last phase that touches a value.
func lifetime(acc []map[int]access, id int) (from, to int) {
	from = len(acc)
	for i, a := range acc {
		if _, ok := a[id]; ok {
			from, to = min(from, i), i
		}
	}
	return min(from, to), to
}
