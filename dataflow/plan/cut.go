package plan

import (
	"cmp"
	"fmt"
)

// The two schedules that the paper compares its own with (section 3.1) run the gathers of
// all intervals before any ApplyVertex. That is the same program with every step a phase of
// its own: temporaries of a visit are then stored, and swapped like any other value.

// staged is s with every step as a phase of its own. Temporaries that several of these phases touch
// become stored values. With swap, so do the accumulators that only their own step touches, so
// that they can be swapped between cells.
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

// Prepare sets defaults in o and returns s with its phases split as o.Schedule and types of vertices need. It splits
// o.Beside, too. The error names the schedules if o.Schedule is none of them.
func (o *Options) Prepare(s *Spec) (*Spec, error) {
	o.Devices = max(1, o.Devices)
	o.Schedule = cmp.Or(o.Schedule, Sag)
	switch o.Schedule {
	case Sag:
		s = byType(s)
		if o.Beside != nil {
			o.Beside = byType(o.Beside)
		}
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
