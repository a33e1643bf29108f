package traceout

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Overlap says how well copies overlapped with compute. All times are sums over steps. Those of
// kinds, and Exposed, are also summed over devices; Idle and Wall are not.
type Overlap struct {
	Steps         int
	Compute       time.Duration // time of kernels
	H2D, D2H, D2D time.Duration // time of copies
	Exposed       time.Duration // time in which a device ran copies and no kernels
	Idle          time.Duration // wall time in which nothing ran
	Wall          time.Duration // from submission until the device was idle
}

// Copy is the time that copies took, all directions added.
func (o Overlap) Copy() time.Duration { return o.H2D + o.D2H + o.D2D }

// Ratio is wall / (copy + compute): 1 when one device does one thing at a time
// without gaps, less with overlap. It is 0 when nothing ran.
func (o Overlap) Ratio() float64 {
	if sum := o.Copy() + o.Compute; sum > 0 {
		return float64(o.Wall) / float64(sum)
	}
	return 0
}

// String prints means per step.
func (o Overlap) String() string {
	n := time.Duration(max(o.Steps, 1))
	per := func(d time.Duration) time.Duration { return (d / n).Round(time.Microsecond) }
	s := fmt.Sprintf("wall %v a step: compute %v, h2d %v, d2h %v", per(o.Wall), per(o.Compute), per(o.H2D), per(o.D2H))
	if o.D2D > 0 {
		s += fmt.Sprintf(", d2d %v", per(o.D2D))
	}
	return s + fmt.Sprintf(", exposed transfer %v, idle %v; wall/(copy+compute) %.2f", per(o.Exposed), per(o.Idle), o.Ratio())
}

// interval is the time from one moment to a later one.
type interval struct{ from, to time.Duration }

// Overlap computes the Overlap of the steps of t. It takes O(n log n) time for n spans.
func (t *Trace) Overlap() Overlap {
	o := Overlap{Steps: len(t.Steps)}
	for i := range t.Steps {
		t.addStep(&o, &t.Steps[i])
	}
	return o
}

func (t *Trace) addStep(o *Overlap, s *Step) {
	var all []interval
	compute, device := map[string][]interval{}, map[string][]interval{}
	for i, v := range s.Spans {
		if v.End <= v.Start {
			continue
		}
		k := &t.Tasks[i]
		*[...]*time.Duration{Compute: &o.Compute, H2D: &o.H2D, D2H: &o.D2H, D2D: &o.D2D}[k.Kind] += v.End - v.Start
		d, x := t.Tracks[k.Track].Device, interval{v.Start, v.End}
		all = append(all, x)
		device[d] = append(device[d], x)
		if k.Kind == Compute {
			compute[d] = append(compute[d], x)
		}
	}
	for d, list := range device {
		o.Exposed += length(list) - length(compute[d])
	}
	wall := s.wall()
	o.Wall += wall
	o.Idle += max(0, wall-length(all))
}

// length is the length of the union of list, which it sorts.
func length(list []interval) time.Duration {
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	var sum, end time.Duration
	for _, v := range list {
		if from := max(v.from, end); v.to > from {
			sum += v.to - from
		}
		end = max(end, v.to)
	}
	return sum
}
