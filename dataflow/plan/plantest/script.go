package plantest

import (
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
)

// Toy is a machine of round numbers: one operation, one byte of device memory and
// one byte over the link take a nanosecond each; both directions of the link together
// move both bytes a nanosecond; a copy starts after setup ns.
func Toy(both, setup float64) *sim.Machine {
	n := func(v float64, unit string) sim.Number {
		return sim.Number{Value: v, Unit: unit, Source: "made up for a test"}
	}
	rate := func(v float64) sim.Number { return n(v*1e9, "B/s") }
	return &sim.Machine{Name: "toy",
		DeviceKinds: map[string]sim.DeviceKind{"d": {
			Memory: n(1e9, "B"), Reserve: n(0, "B"), FP32: n(1e9, "FLOP/s"), Elementwise: n(1e9, "op/s"),
			Bandwidth: rate(1), GatherHit: rate(4), GatherMiss: rate(1), Cache: n(1000, "B"), Slice: n(0, "B"),
			Launch: n(0, "s"), CopySetup: n(setup/1e9, "s")}},
		LinkKinds: map[string]sim.LinkKind{"l": {Down: rate(1), Up: rate(1), Both: rate(both), Latency: n(0, "s")}},
		Links:     []sim.Link{{Name: "link", Kind: "l"}},
		Devices:   []sim.Device{{Name: "dev", Kind: "d", Link: "link"}},
	}
}

// Script builds a plan by hand. Kernel 0 takes a nanosecond a row on the toy.
type Script struct{ plan.Plan }

// NewScript is an empty plan.
func NewScript() *Script {
	s := &Script{plan.Plan{Cells: plan.NewCells(1, 1, 1, 2)}}
	s.Spec = &plan.Spec{Phases: []plan.Phase{{Steps: []plan.Step{{Calls: []plan.Call{{Cost: plan.Cost{RowElem: 1}}}}}}}}
	return s
}

// Task appends n bytes of copy, or n ns of kernel, after earlier tasks of other queues.
func (s *Script) Task(q plan.Queue, n int64, deps ...int32) int32 {
	t := plan.Task{Kind: [...]plan.TaskKind{plan.Run, plan.Load, plan.Save, plan.Copy}[q], Queue: q, Value: -1, Own: 0, Other: -1}
	if q == plan.Compute {
		t.Rows = int32(n)
	} else {
		t.Bytes = n
	}
	t.Deps[0] = int32(len(s.Deps))
	for _, d := range deps {
		if s.Tasks[d].Queue != q {
			s.Deps = append(s.Deps, d)
		}
	}
	t.Deps[1] = int32(len(s.Deps))
	s.Tasks = append(s.Tasks, t)
	return int32(len(s.Tasks) - 1)
}

// Chain loads, computes and saves, once.
func Chain() *plan.Plan {
	s := NewScript()
	l := s.Task(plan.H2D, 100)
	r := s.Task(plan.Compute, 50, l)
	s.Task(plan.D2H, 30, r)
	return &s.Plan
}
