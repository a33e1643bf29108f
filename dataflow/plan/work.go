package plan

// Scratch memory of kernels. Launches of a device run one after the other, so those of a phase share the memory of the one that takes most.

// Scratch is the scratch memory in bytes that a kernel takes over at most so many own rows or, over cells, edges and rows of far ends.
type Scratch func(kernel, rows, edges, far int) int64

// MarshalJSON is null: Cost.More.Scratch and Cost.Laid tell programs with different functions apart.
func (Scratch) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// WorkOf is, by phase, the bytes of scratch memory that kernels of s take on grid c; nil: plans have no memory for it.
func WorkOf(s *Spec, c *Cells) []int64 {
	if s.Scratch == nil {
		return nil
	}
	w := work{s, c, map[Dir]int{}}
	out := make([]int64, len(s.Phases))
	for q := range s.Phases {
		for k := range s.Phases[q].Steps {
			out[q] = max(out[q], w.step(&s.Phases[q].Steps[k]))
		}
		out[q] = Align(out[q])
	}
	return out
}

// work is a program on a grid.
type work struct {
	s    *Spec
	c    *Cells
	most map[Dir]int // by direction: edges of the largest cell
}

// step is the most that a call of st takes, or one that computes on arrival what such a call reads.
func (w *work) step(st *Step) (most int64) {
	for i := range st.Calls {
		c := &st.Calls[i]
		most = max(most, w.call(st, c))
		for _, o := range c.Operands {
			if o.Kind != OtherValue {
				continue
			}
			if v := &w.s.Values[o.ID]; v.Derive != nil && v.Derive.Cost.More.Scratch > 0 {
				most = max(most, w.s.Scratch(v.Derive.Kernel, w.c.Span(v.Type).Width, 0, 0))
			}
		}
	}
	return most
}

// call is what call c of st takes.
func (w *work) call(st *Step, c *Call) int64 {
	switch {
	case c.Cost.More.Scratch == 0 && c.Cost.Laid.Row == 0:
		return 0
	case st.Kind == Globals:
		return w.s.Scratch(c.Kernel, c.Rows, 0, 0)
	case st.Kind != Stream:
		return w.s.Scratch(c.Kernel, w.c.Span(st.Type).Width, 0, 0)
	}
	own, far := w.c.Side(st.Dir)
	return w.s.Scratch(c.Kernel, own.Width, w.edges(st.Dir), min(max(1, w.c.Wide), far.N)*far.Width)
}

// edges is the edges of the largest cell of d.
func (w *work) edges(d Dir) int {
	n, ok := w.most[d]
	if !ok {
		for _, e := range w.c.NNZ[d] {
			n = max(n, int(e))
		}
		w.most[d] = n
	}
	return n
}
