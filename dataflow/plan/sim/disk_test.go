package sim_test

import (
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
)

// Copies of what lies in a file take the disk's time as well, both directions together.
func TestSimulatedDisk(t *testing.T) {
	s := plantest.NewScript()
	s.Spec.Values = []plan.Value{{Name: "x"}, {Name: "y"}}
	in := s.Task(plan.H2D, 1000)
	out := s.Task(plan.D2H, 1000)
	s.Tasks[in].Value, s.Tasks[out].Value = 0, 1
	m := plantest.Toy(2, 0)
	for _, c := range []struct {
		disk []bool
		rate float64
		want int64
	}{
		{nil, 0, 1000},
		{[]bool{false, false}, 0, 1000},
		{[]bool{true, false}, 0, 1000}, // 1 GB/s, as the link
		{[]bool{true, true}, 0, 2000},
		{[]bool{true, false}, 0.5e9, 2000},
		{[]bool{true, true}, 4e9, 1000},
	} {
		if m.Disk = nil; c.rate > 0 {
			m.Disk = &sim.Number{c.rate, "B/s", "made up for a test"}
		}
		s.Host.Disk = c.disk
		if got := sim.Simulate(&s.Plan, m).Wall; got != c.want {
			t.Errorf("files %v, %g B/s: %d ns, want %d", c.disk, c.rate, got, c.want)
		}
	}
	m.Disk = &sim.Number{1, "B", "made up for a test"}
	if err := m.Validate(); err == nil {
		t.Error("a disk of 1 B is accepted")
	}
}
