package sim

import "sagann/dataflow/plan"

// Profile is what a search keeps of a plan and its timeline.
type Profile struct {
	Wall, Waits     int64     // ns of a step; Waits: those in which no kernel runs
	InOrder         int64     // ns of a step with loads in the plan's order (see EarliestDeadline)
	Tasks           int       // number of tasks
	Moves           bool      // Plan.Moves
	Derives         bool      // Plan.Derives
	Short           bool      // the plan needs more host memory than there is
	Kernels, Copies []float64 // ns by phase, summed over devices: compute queues, and loads
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
	return out
}
