package plan

import "errors"

// Auto as Options.Schedule lets Search choose the schedule.
const Auto = "auto"

// Search plans s for every candidate number of intervals and, where o leaves it open,
// every schedule and every number of slots, simulates each plan on m, and returns the
// fastest with its timeline. Planning and simulating are cheap enough to need no second
// model of cost.
//
// Candidates are tried in ascending order until three in a row are half as slow again as
// the best.
func Search(s *Spec, cells func(p int) (*Cells, error), o Options, m *Machine) (*Plan, *Timeline, error) {
	schedules := []string{o.Schedule}
	if o.Schedule == Auto {
		schedules = []string{Sag, Stage, DestOrder}
	}
	slots := []int{o.Slots}
	if o.Slots == 0 {
		slots = []int{2, 3, 4}
	}
	try := candidates
	if o.P > 0 {
		try = []int{o.P}
	}
	var best *Plan
	var line *Timeline
	var small *BudgetError
	worse := 0
	for _, p := range try {
		if p < o.MinP || p < o.Devices {
			continue
		}
		fastest := int64(-1)
		for _, sch := range schedules {
			for _, k := range slots {
				one := o
				one.P, one.Schedule, one.Slots, one.More = p, sch, k, o.Slots == 0
				pl, err := New(s, cells, one)
				var e *BudgetError
				if errors.As(err, &e) {
					if small == nil || e.Smallest < small.Smallest {
						small = e
					}
					continue
				}
				if err != nil {
					return nil, nil, err
				}
				t := Simulate(pl, m)
				if fastest < 0 || t.Wall < fastest {
					fastest = t.Wall
				}
				if best == nil || t.Wall < line.Wall {
					best, line = pl, t
				}
				if len(pl.Tasks) > 0 && pl.H2D+pl.D2H+pl.D2D == 0 && pl.Devices == 1 {
					break // nothing streams: slots and schedules make no difference
				}
			}
		}
		switch {
		case fastest < 0:
		case 2*fastest > 3*line.Wall:
			worse++
		default:
			worse = 0
		}
		if worse == 3 {
			break
		}
	}
	if best == nil {
		if small == nil {
			return nil, nil, errors.New("plan: no number of intervals to try")
		}
		return nil, nil, small
	}
	return best, line, nil
}
