package plan

import "fmt"

// The two schedules that the paper compares its own with (section 3.1) run the SAG
// phases of all intervals before any ApplyVertex. That is the same program with its
// phases cut at every step: what used to live inside one visit of an interval is
// stored, and swapped like any other value.

// staged cuts every phase of s into phases of one step. With swap, all state of
// accumulators can be swapped between cells, also what only its own step reads.
func staged(s *Spec, swap bool) *Spec {
	out := *s
	out.Values = append([]Value{}, s.Values...)
	out.Phases = nil
	for _, ph := range s.Phases {
		for _, st := range ph.Steps {
			out.Phases = append(out.Phases, Phase{Label: ph.Label, Steps: []Step{st}})
		}
	}
	acc := Accesses(&out)
	for id := range out.Values {
		from, to := Lifetime(acc, id)
		if v := &out.Values[id]; v.Kind == Temp && v.Derive == nil && (from != to || swap && out.Phases[from].Steps[0].Kind == Stream) {
			out.Values[id].Kind = Stored
		}
	}
	return &out
}

// Prepare fills in what o leaves out and cuts s, and what is planned beside it, by the schedule.
func (o *Options) Prepare(s *Spec) (*Spec, error) {
	o.Devices = max(1, o.Devices)
	switch o.Schedule {
	case "":
		o.Schedule = Sag
	case Sag:
	case Stage, DestOrder:
		s = staged(s, o.Schedule == DestOrder)
		if o.Beside != nil {
			o.Beside = staged(o.Beside, o.Schedule == DestOrder)
		}
	default:
		return nil, fmt.Errorf("plan: unknown schedule %q; there are %s, %s, %s", o.Schedule, Sag, Stage, DestOrder)
	}
	return s, nil
}
