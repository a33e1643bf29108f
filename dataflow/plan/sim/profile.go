package sim

import "sagann/dataflow/plan"

// Profile is what a search reads of a plan and its timeline, when the plan is gone.
type Profile struct {
	Wall, Waits     int64 // ns; Waits: no kernel runs
	InOrder         int64 // ns, before loads pass each other
	Tasks           int
	Moves           bool      // something is copied, beside results
	Derives         bool      // values are made on arrival: again where they do not stay
	Short           bool      // of host memory
	Kernels, Copies []float64 // ns by phase: compute queues, and loads
}

// ProfileOf reads p, which takes line on a machine.
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
