package sim

import "sagann/dataflow/plan"

// PhaseTimes is the time in ns that the kernels of each phase of s take on the first device of m, without
// kernels that derive values on arrival.
func PhaseTimes(s *plan.Spec, c *plan.Cells, m *Machine) []float64 {
	k := newClock(&plan.Plan{Spec: s, Cells: c}, m.Kind(0))
	out := make([]float64, len(s.Phases))
	for q := range s.Phases {
		for _, st := range s.Phases[q].Steps {
			for n := range st.Calls {
				t := plan.Task{Kind: plan.Run, Kernel: int32(st.Calls[n].Kernel), Dir: st.Dir, Other: -1}
				if st.Kind == plan.Globals {
					t.Rows = int32(st.Calls[n].Rows)
					out[q] += k.ns(&t)
					continue
				}
				for j := range c.P {
					t.Own, t.Rows = int32(j), int32(c.Rows(j))
					if st.Kind == plan.Rows {
						out[q] += k.ns(&t)
						continue
					}
					for i := range c.P {
						t.Other, t.Is.First, t.Is.Last = int32(i), i == 0, i == c.P-1
						out[q] += k.ns(&t)
					}
				}
			}
		}
	}
	return out
}

// Profile is what a search keeps of a plan and its timeline.
type Profile struct {
	Wall, Waits     int64     // ns of a step; Waits: those in which no kernel runs
	InOrder         int64     // ns of a step with loads in the plan's order (see EarliestDeadline)
	Tasks           int       // number of tasks
	Moves           bool      // Plan.Moves
	Derives         bool      // Plan.Derives
	Short           bool      // the plan needs more host memory than there is
	Sources         float64   // Plan.SourceReads
	Kernels, Copies []float64 // ns by phase, summed over devices: compute queues, and loads
	Kept, Streams   []string  // values and cells that stay for the whole run, and those that do not
}

// ProfileOf is the profile of p, whose timeline on a machine is line.
func ProfileOf(p *plan.Plan, line *Timeline) *Profile {
	out := &Profile{Wall: line.Wall, Waits: line.Exposed + line.Idle, Tasks: len(p.Tasks), Moves: p.Moves(), Derives: p.Derives(),
		Kernels: make([]float64, len(p.Spec.Phases)), Copies: make([]float64, len(p.Spec.Phases))}
	for i := range p.Tasks {
		k, ns := &p.Tasks[i], float64(line.End[i]-line.Start[i])
		switch k.Queue {
		case plan.Compute:
			out.Kernels[k.Phase] += ns
		case plan.H2D:
			out.Copies[k.Phase] += ns
		}
	}
	sort := func(key int, kept bool) {
		if kept {
			out.Kept = append(out.Kept, p.Spec.Name(key))
		} else {
			out.Streams = append(out.Streams, p.Spec.Name(key))
		}
	}
	for id, v := range p.Spec.Values {
		if v.Kind != plan.Temp && v.RowBytes > 64 {
			sort(id, p.Places.Resident[id])
		}
	}
	for d, b := range p.Cells.Bytes {
		if b != nil {
			sort(-1-d, p.Places.CellsIn[d])
		}
	}
	if out.Moves {
		out.Sources = p.SourceReads()
	}
	return out
}
