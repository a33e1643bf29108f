package sim

import (
	"math"

	"sagann/dataflow/plan"
)

// Recurrence is the dumb reference for a link whose directions do not disturb each
// other: then every task has a time of its own, and one pass in the global order
// gives the earliest starts.
func Recurrence(p *plan.Plan, m *Machine) []int64 {
	s := newSimulation(p, m)
	var last [plan.Queues]int64
	ends := make([]int64, len(p.Tasks))
	for i := range p.Tasks {
		k := &p.Tasks[i]
		start := last[k.Queue]
		for _, d := range p.Deps[k.Deps[0]:k.Deps[1]] {
			start = max(start, ends[d])
		}
		if r := s.routeOf(int32(i)); r != nil {
			slow := math.Inf(1)
			for _, u := range r.uses {
				slow = min(slow, s.net.capacity[u])
			}
			start += round(r.latency)
			ends[i] = start + round(float64(s.size(int32(i)))/slow)
		} else {
			ends[i] = start + round(s.clocks[0].ns(k))
		}
		last[k.Queue] = ends[i]
	}
	return ends
}

// Ticking is the dumb reference for shared directions: time in steps of one
// nanosecond, bytes handed out step by step. It knows one link only.
func Ticking(p *plan.Plan, both float64) []int64 {
	ends := make([]int64, len(p.Tasks))
	started := make([]bool, len(p.Tasks))
	left := make([]float64, len(p.Tasks))
	for i := range ends {
		ends[i] = -1
		left[i] = float64(p.Tasks[i].Bytes + int64(p.Tasks[i].Rows))
	}
	for now, open := int64(0), len(ends); open > 0; now++ {
		var used [plan.Queues]bool
		var run []int
		for i := range p.Tasks {
			k := &p.Tasks[i]
			if ends[i] >= 0 || used[k.Queue] {
				continue
			}
			used[k.Queue] = true
			ok := true
			for _, d := range p.Deps[k.Deps[0]:k.Deps[1]] {
				ok = ok && ends[d] >= 0
			}
			if started[i] = ok; ok {
				run = append(run, i)
			}
		}
		rate := 1.0
		if n := len(run); n > 0 {
			copies := 0
			for _, i := range run {
				if p.Tasks[i].Queue != plan.Compute {
					copies++
				}
			}
			if copies == 2 {
				rate = both / 2
			}
		}
		for _, i := range run {
			if p.Tasks[i].Queue == plan.Compute {
				left[i]--
			} else {
				left[i] -= rate
			}
			if left[i] <= 1e-9 {
				ends[i] = now + 1
				open--
			}
		}
	}
	return ends
}

// WorkTime is the time in ns of one kernel of a batch.
func (k *DeviceKind) WorkTime(w Work) float64 { return newPace(k).kernel(w) }
