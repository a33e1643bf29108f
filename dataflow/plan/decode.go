package plan

import (
	"errors"
	"fmt"
	"slices"
)

// Rule is what the decoder goes by when it decides what stays on the device: priorities,
// which it turns into a plan that fits. Every rule leads to a valid plan.
type Rule struct {
	Ahead   int       // more buffers of a streamed cell, in eighths of the intervals: copies may run farther ahead of kernels
	Even    bool      // no larger groups in phases where memory is left
	Brief   bool      // copies saved are counted for each phase of a value's life
	Part    bool      // windows come before more slots, and after
	Lasting bool      // windows may stay from one step to the next
	First   []string  // values, or "cells csc", "cells csr", that come before all others
	Never   []string  // those that are not kept whole
	Price   []float64 // by phase: what a copy there counts; nil: as any
	Balance Balance   // memory is dealt out by an estimate of the step instead; zero: it is not
}

// Balance says how the estimate counts copies: they run ahead of the kernels by Ahead of the
// kernels' time, and a hidden one counts Hidden of what an exposed one does.
type Balance struct{ Ahead, Hidden float64 }

// Cut is s with its phases cut as the schedule asks for.
func Cut(s *Spec, schedule string) (*Spec, error) {
	o := Options{Schedule: schedule}
	return o.prepare(s)
}

// Decoder turns rules into plans. It keeps memory from one to the next: one at a time.
type Decoder struct {
	m     *Machine
	sized sized
}

// NewDecoder is one for plans on m.
func NewDecoder(m *Machine) *Decoder { return &Decoder{m: m} }

// Decoded is a plan before its tasks are emitted: what stays, and where it lies.
type Decoded struct {
	Need   int64 // bytes of the smallest choice when none fits, else 0
	Slots  int
	layout string
	fit    *fitting
	ch     choice
	edf    *Machine
}

// How says how a plan is made, beside its options.
type How struct {
	Rule    Rule
	Kernels []float64 // PhaseTimes, for Rule.Balance
	EDF     bool      // loads pass each other, earliest deadline first, where that makes the step shorter by simulation
}

// Decode decides what stays. s and o.Beside are cut for o.Schedule (Cut).
func (d *Decoder) Decode(s *Spec, c *Cells, o Options, h How) *Decoded {
	o.Devices = max(1, o.Devices)
	t := priority{Rule: h.Rule, first: s.keys(h.Rule.First), never: s.keys(h.Rule.Never)}
	if h.Rule.Balance != (Balance{}) && h.Kernels != nil && o.Devices == 1 {
		t.level = levelOf(h.Kernels, d.m, h.Rule.Balance)
	}
	f := newFitting(s, c, o, t)
	f.sized = &d.sized
	out := &Decoded{fit: f}
	if h.EDF {
		out.edf = d.m
	}
	if out.ch, out.Need = f.fit(); out.Need == 0 {
		out.layout, out.Slots = fmt.Sprint(f.layout(out.ch), h.EDF), out.ch.slots
	}
	f.sized = nil
	return out
}

// keys are the numbers of values, and -1-dir of cells, by their names; others are left out.
func (s *Spec) keys(names []string) (keys []int) {
	for _, n := range names {
		for d := range Dir(2) {
			if n == "cells "+d.String() {
				keys = append(keys, -1-int(d))
			}
		}
		if id := slices.IndexFunc(s.Values, func(v Value) bool { return v.Name == n && v.Kind != Temp }); id >= 0 {
			keys = append(keys, id)
		}
	}
	return keys
}

// levelOf is b with the times of the kernels by phase.
func levelOf(kernels []float64, m *Machine, b Balance) *level {
	all := 0.0
	for _, k := range kernels {
		all += k
	}
	l := &level{kernels: kernels, ahead: b.Ahead * all, hidden: b.Hidden}
	n, rates := newNetwork(m), make([]float64, 2)
	n.share([]*route{&n.hosts[0], &n.hostsUp[0]}, rates)
	l.down, l.up, l.both = n.hosts[0].alone, n.hostsUp[0].alone, rates[0]+rates[1]
	return l
}

// Layout says all that the tasks depend on, beside the options: equal layouts are equal plans.
func (d *Decoded) Layout() string { return d.layout }

// Build emits the tasks.
func (d *Decoded) Build() *Plan { return build(d.fit.spec, d.fit.c, d.ch, d.fit.o, d.edf) }

// PhaseTimes is the time in ns that the kernels of each phase take on m, without what is made on arrival.
func PhaseTimes(s *Spec, c *Cells, m *Machine) []float64 {
	k := newClock(&Plan{Spec: s, Cells: c}, m.Kind(0))
	out := make([]float64, len(s.Phases))
	for q := range s.Phases {
		for _, st := range s.Phases[q].Steps {
			for n := range st.Calls {
				t := Task{Kind: Run, Kernel: int32(st.Calls[n].Kernel), Dir: st.Dir, Other: -1}
				if st.Kind == Globals {
					t.Rows = int32(st.Calls[n].Rows)
					out[q] += k.ns(&t)
					continue
				}
				for j := range c.P {
					t.Own, t.Rows = int32(j), int32(c.Rows(j))
					if st.Kind == Rows {
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

// Profile is what a search reads of a plan and its timeline, when the plan is gone.
type Profile struct {
	Wall, Waits     int64 // ns; Waits: no kernel runs
	Tasks           int
	Moves           bool      // something is copied, beside results
	Derives         bool      // values are made on arrival: again where they do not stay
	Short           bool      // of host memory
	Sources         float64   // how often sources are read from the host
	Kernels, Copies []float64 // ns by phase: compute queues, and loads
	Kept            []string  // what stays for its whole life
	Streams         []string  // what does not
}

// ProfileOf reads p, which takes line on a machine.
func ProfileOf(p *Plan, line *Timeline) *Profile {
	out := &Profile{Wall: line.Wall, Waits: line.Exposed + line.Idle, Tasks: len(p.Tasks), Moves: p.moves(), Derives: p.derives(),
		Kernels: make([]float64, len(p.Spec.Phases)), Copies: make([]float64, len(p.Spec.Phases))}
	for i := range p.Tasks {
		k, ns := &p.Tasks[i], float64(line.End[i]-line.Start[i])
		switch k.Queue {
		case Compute:
			out.Kernels[k.Phase] += ns
		case H2D:
			out.Copies[k.Phase] += ns
		}
	}
	sort := func(name string, kept bool) {
		if kept {
			out.Kept = append(out.Kept, name)
		} else {
			out.Streams = append(out.Streams, name)
		}
	}
	for id, v := range p.Spec.Values {
		if v.Kind != Temp && v.RowBytes > 64 {
			sort(v.Name, p.Places.Resident[id])
		}
	}
	for d, b := range p.Cells.Bytes {
		if b != nil {
			sort("cells "+Dir(d).String(), p.Places.CellsIn[d])
		}
	}
	if out.Moves {
		out.Sources = p.SourceReads()
	}
	return out
}

// Auto as Options.Schedule leaves the schedule to a search.
const Auto = "auto"

// moves tells whether a step copies anything, but for its results.
func (p *Plan) moves() bool { return p.H2D+p.D2H+p.D2D > 0 || p.Devices > 1 }

// derives tells whether values are made on arrival: again where they do not stay.
func (p *Plan) derives() bool {
	return slices.ContainsFunc(p.Spec.Values, func(v Value) bool { return v.Derive != nil })
}

// ErrNoIntervals says that there is no number of intervals to try.
var ErrNoIntervals = errors.New("plan: no number of intervals to try")
