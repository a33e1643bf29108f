package saga

import "testing"

// TestScheduleNone: None is 0 where 0 stands for a default: a factor, and a patience.
func TestScheduleNone(t *testing.T) {
	o := Optimizer{LR: 1, Schedule: Schedule{Kind: ScheduleReduce, Factor: None, Patience: None, Least: 0.25}}
	o.defaults(10)
	if err := o.validate(); err != nil {
		t.Fatal(err)
	}
	var p plateau
	for i, loss := range []float64{3, 2, 2, 1} {
		p.see(&o.Schedule, loss)
		if want := max(0, min(1, i-1)); p.Cuts != want {
			t.Errorf("%d cuts after evaluation %d, want %d", p.Cuts, i, want)
		}
	}
	if got := o.rate(3, p.Cuts); got != 0.25 {
		t.Errorf("the rate is %v after a cut by 0, want the least, 0.25", got)
	}
	o.Schedule.Factor, o.Schedule.Patience = 0, 0
	if o.defaults(10); o.Schedule.Factor != 0.1 || o.Schedule.Patience != 10 {
		t.Errorf("zeros stand for %v and %d, want 0.1 and 10", o.Schedule.Factor, o.Schedule.Patience)
	}
	for _, s := range []Schedule{{Kind: ScheduleReduce, Factor: -0.5}, {Kind: ScheduleReduce, Patience: -2}} {
		o.Schedule = s
		if o.validate() == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}
