package sim

import (
	"fmt"
	"sort"
	"time"

	"sagann/dataflow/plan"
)

// Timeline is what the simulator predicts for one step (an epoch) of a plan. Times are
// nanoseconds, Start and End from the start of the step. Wall = Compute + Exposed + Idle.
type Timeline struct {
	Machine  string
	Start    []int64            // by task of the global order
	End      []int64            // by task of the global order
	Wall     int64              // the end of the last task
	Busy     [plan.Queues]int64 // by queue: how long it runs tasks, summed over devices
	Compute  int64              // how long a kernel runs on some device; on one device, Busy[Compute]
	Transfer int64              // how long at least one copy runs
	Exposed  int64              // how long a copy runs and no kernel does
	Idle     int64              // how long nothing runs
	Setup    int64              // loading what stays resident: once, before the first step
	Links    []LinkUse          // in the machine's order
	Path     []Share            // what the critical path consists of, largest first
}

// LinkUse is the traffic of one link in one step.
type LinkUse struct {
	Name     string
	Down, Up int64   // bytes; those of a row gather times plan.GatherOverhead
	Load     float64 // utilisation, 0..1: the time that the bytes need at the link's rates, over Wall
}

// Share is the part of the critical path that one queue of a device runs.
type Share struct {
	Name string // device and queue: "gpu0 h2d"
	Time int64  // ns
}

// Seconds is the predicted time of an epoch.
func (t *Timeline) Seconds() float64 { return float64(t.Wall) / 1e9 }

// ComputeSeconds is the time in which a kernel runs.
func (t *Timeline) ComputeSeconds() float64 { return float64(t.Compute) / 1e9 }

// ExposedSeconds is the transfer time that no kernel hides.
func (t *Timeline) ExposedSeconds() float64 { return float64(t.Exposed) / 1e9 }

// Critical names the device and queue with the largest part of the critical path: what
// to speed up first. It is "" if nothing takes time.
func (t *Timeline) Critical() string {
	if len(t.Path) == 0 {
		return ""
	}
	return t.Path[0].Name
}

// String is one line: the epoch and what it consists of.
func (t *Timeline) String() string {
	ms := func(ns int64) time.Duration { return time.Duration(ns).Round(10 * time.Microsecond) }
	return fmt.Sprintf("%v an epoch on %s: compute %v, exposed transfer %v, idle %v; critical: %s",
		ms(t.Wall), t.Machine, ms(t.Compute), ms(t.Exposed), ms(t.Idle), t.Critical())
}

// critical finds the critical path: it walks back from the task that ends last, always to the
// task whose end let this one start. The times of the path add up to Wall.
func (s *simulation) critical() {
	if len(s.t.End) == 0 {
		return
	}
	last := 0
	for i, end := range s.t.End {
		if end > s.t.End[last] {
			last = i
		}
	}
	times := make([]int64, len(s.lanes))
	for i := int32(last); i >= 0; {
		q := s.p.Tasks[i].Lane()
		times[q] += s.t.End[i] - s.t.Start[i]
		next := s.before[i]
		k := &s.p.Tasks[i]
		for _, d := range s.p.Deps[k.Deps[0]:k.Deps[1]] {
			if next < 0 || s.t.End[d] > s.t.End[next] {
				next = d
			}
		}
		i = next
	}
	for q, ns := range times {
		if ns > 0 {
			s.t.Path = append(s.t.Path, Share{fmt.Sprintf("%s %v", s.m.Devices[q/int(plan.Queues)].Name, plan.Queue(q%int(plan.Queues))), ns})
		}
	}
	sort.SliceStable(s.t.Path, func(i, j int) bool { return s.t.Path[i].Time > s.t.Path[j].Time })
}

// links fills in Timeline.Links.
func (s *simulation) links() {
	n := s.net
	traffic := make([]int64, len(n.capacity))
	for i := range s.p.Tasks {
		if r := s.routeOf(int32(i)); r != nil {
			for _, u := range r.uses {
				traffic[u] += s.size(int32(i))
			}
		}
	}
	for l, name := range n.names {
		u := LinkUse{Name: name, Down: traffic[3*l+down], Up: traffic[3*l+up]}
		if s.t.Wall > 0 {
			ns := max(float64(u.Down)/n.capacity[3*l+down], float64(u.Up)/n.capacity[3*l+up],
				float64(u.Down+u.Up)/n.capacity[3*l+both])
			u.Load = ns / float64(s.t.Wall)
		}
		s.t.Links = append(s.t.Links, u)
	}
}
