package plan

import "slices"

// Access says how a phase touches a value; the zero value: not at all. OwnRead and OwnWrite are at
// the visited interval, Other is a read at the streamed interval. OwnRead means that the phase
// must load the value: it reads the value before it writes it itself.
type Access struct{ OwnRead, OwnWrite, Other bool }

// Accesses lists by phase and value how the phase touches the value.
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

// access adds to m, by value, what a call reads, and then what it writes.
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

// Far tells whether step st reads rows of value id at the far end, or makes from them what it reads there.
func (s *Spec) Far(st Step, id int) bool {
	return slices.ContainsFunc(st.Calls, func(c Call) bool {
		return slices.ContainsFunc(c.Operands, func(o Operand) bool {
			if o.Kind != OtherValue {
				return false
			}
			d := s.Values[o.ID].Derive
			return o.ID == id || d != nil && slices.ContainsFunc(d.Operands, func(b Operand) bool { return b.Kind == OtherValue && b.ID == id })
		})
	})
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

// Usage says what a program touches. It is worked out once for all plans of the program.
type Usage struct {
	Acc    [][]Access // by phase and value
	Life   [][2]int   // by value: the first and the last phase that touches it
	Phases []phaseUse
	Next   []int // by value: one that may take its place chunk by chunk (successors); -1: none
	Before []int // by value: the one whose Next it is; -1: none
	Depth  []int // by value: how many are before it

	base           *Spec // the program whose parameters and inputs this one shares
	Params, Inputs []int // by Global and by value: the index in base of the shared one; -1: none
}

// Inherit finds by name, and inputs also by the type of their vertices, what s shares with base.
func (u *Usage) Inherit(s, base *Spec) {
	if u.base == base {
		return
	}
	u.base, u.Params, u.Inputs = base, nil, nil
	type input struct {
		name string
		of   uint16
	}
	params, inputs := map[string]int{}, map[input]int{}
	for i, o := range slices.Backward(base.Globals) { // the first of several stays
		if o.Kind == Param {
			params[o.Name] = i
		}
	}
	for i, o := range slices.Backward(base.Values) {
		if o.Kind == Input {
			inputs[input{o.Name, o.Type}] = i
		}
	}
	for _, g := range s.Globals {
		u.Params = append(u.Params, indexOf(params, g.Name))
	}
	for _, v := range s.Values {
		u.Inputs = append(u.Inputs, indexOf(inputs, input{v.Name, v.Type}))
	}
}

// indexOf is the index of k; -1: there is none.
func indexOf[K comparable](at map[K]int, k K) int {
	if i, ok := at[k]; ok {
		return i
	}
	return -1
}

// phaseUse is what a phase touches.
type phaseUse struct {
	Values []touch
	Temps  []int // EdgeTemps, in the order of their use
	Dirs   []Dir // those that it streams, ascending
}

// Uses tells whether phase q touches a value, or streams the cells of a direction (Window.Key).
func (u *Usage) Uses(q, key int) bool {
	if key < 0 {
		return slices.Contains(u.Phases[q].Dirs, Dir(-1-key))
	}
	return u.Acc[q][key] != Access{}
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
	u.Next = successors(s, u)
	u.Before, u.Depth = slices.Repeat([]int{-1}, len(s.Values)), make([]int, len(s.Values))
	for a, b := range u.Next {
		if b >= 0 {
			u.Before[b] = a
		}
	}
	for id := range s.Values {
		for b := u.Before[id]; b >= 0; b = u.Before[b] {
			u.Depth[id]++
		}
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
			if !slices.Contains(ph.Dirs, st.Dir) {
				ph.Dirs = append(ph.Dirs, st.Dir)
			}
			for _, c := range st.Calls {
				for _, o := range c.Operands {
					if o.Kind == EdgeTemp && !seen[o.ID] {
						seen[o.ID] = true
						ph.Temps = append(ph.Temps, o.ID)
					}
				}
			}
		}
		slices.Sort(ph.Dirs)
	}
	return u
}

// successors pairs stored values. A value that a phase reads last, and only at visited intervals, makes room for one that the phase writes first, if
// rows are of the same type and size: chunk j of the new value may lie where chunk j-1 of the old one was.
func successors(s *Spec, u *Usage) []int {
	next := slices.Repeat([]int{-1}, len(s.Values))
	for q := range s.Phases {
		taken := map[int]bool{}
		for a := range s.Values {
			if u.Acc[q][a] != (Access{OwnRead: true}) || s.Values[a].Kind != Stored || u.Life[a][1] != q {
				continue
			}
			for b := range s.Values {
				if y := &s.Values[b]; u.Acc[q][b] == (Access{OwnWrite: true}) && y.Kind == Stored && !taken[b] && u.Life[b][0] == q && u.Life[b][1] > q &&
					y.Type == s.Values[a].Type && y.RowBytes == s.Values[a].RowBytes {
					next[a], taken[b] = b, true
					break
				}
			}
		}
	}
	return next
}
