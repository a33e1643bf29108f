package exec

import (
	"fmt"
	"slices"
	"time"

	"sagann/dataflow/plan"
)

// Overlap says how well copies hid behind compute, over some traced steps.
type Overlap struct {
	Steps   int
	Busy    [plan.Queues]time.Duration // time in which the queue ran a task
	Exposed time.Duration              // time in which copies ran and compute did not
	Idle    time.Duration              // wall time in which no queue ran anything
	Wall    time.Duration              // from submission until the device was idle
}

// Compute is the time in which kernels ran.
func (o Overlap) Compute() time.Duration { return o.Busy[plan.Compute] }

// Copy is the time that copies took, both directions added.
func (o Overlap) Copy() time.Duration { return o.Busy[plan.H2D] + o.Busy[plan.D2H] }

// Ratio is wall / (copy + compute): 1 without overlap or gaps, at least 1/3. It is 0
// when nothing ran.
func (o Overlap) Ratio() float64 {
	if sum := o.Copy() + o.Compute(); sum > 0 {
		return float64(o.Wall) / float64(sum)
	}
	return 0
}

// String prints means a step.
func (o Overlap) String() string {
	n := time.Duration(max(o.Steps, 1))
	per := func(d time.Duration) time.Duration { return (d / n).Round(time.Microsecond) }
	return fmt.Sprintf("wall %v a step: compute %v, h2d %v, d2h %v, exposed transfer %v, idle %v; wall/(copy+compute) %.2f",
		per(o.Wall), per(o.Busy[plan.Compute]), per(o.Busy[plan.H2D]), per(o.Busy[plan.D2H]),
		per(o.Exposed), per(o.Idle), o.Ratio())
}

// OverlapOf sums up steps of p.
func OverlapOf(p *plan.Plan, steps []StepTrace) Overlap {
	o := Overlap{Steps: len(steps)}
	for _, s := range steps {
		o.add(p, &s)
	}
	return o
}

// interval is a stretch of time [from, to).
type interval struct{ from, to time.Duration }

func (o *Overlap) add(p *plan.Plan, s *StepTrace) {
	var compute, all []interval
	for i, t := range s.Tasks {
		if t.End <= t.Start {
			continue
		}
		q := p.Tasks[i].Queue
		o.Busy[q] += t.End - t.Start
		all = append(all, interval{t.Start, t.End})
		if q == plan.Compute {
			compute = append(compute, interval{t.Start, t.End})
		}
	}
	busy := length(all)
	o.Exposed += busy - length(compute)
	o.Wall += s.Wall
	o.Idle += max(0, s.Wall-busy)
}

// length is the length of the union of list, which it sorts.
func length(list []interval) time.Duration {
	slices.SortFunc(list, func(a, b interval) int { return int(a.from - b.from) })
	var sum, end time.Duration
	for _, v := range list {
		if from := max(v.from, end); v.to > from {
			sum += v.to - from
		}
		end = max(end, v.to)
	}
	return sum
}
