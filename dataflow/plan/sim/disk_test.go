package sim_test

import (
	"maps"
	"slices"
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

// A chunk that another host has in a file comes from that host's disk and over the adapters of both.
func TestSimulatedFarDisk(t *testing.T) {
	one := plantest.Toy(2, 0)
	one.NICs, one.Disk = "l", &sim.Number{Value: 0.5e9, Unit: "B/s", Source: "made up for a test"}
	m, err := one.OnHosts(2)
	if err != nil {
		t.Fatal(err)
	}
	s := plantest.NewScript()
	s.Spec.Values, s.Host.Disk, s.Devices = []plan.Value{{Name: "x"}}, []bool{true}, 2
	k := &s.Tasks[s.Task(plan.H2D, 1000)]
	k.Value, k.Device, k.Own = 0, 1, 0
	line := sim.Simulate(&s.Plan, m)
	got := map[string][2]int64{}
	for _, l := range line.Links {
		if l.Down+l.Up > 0 {
			got[l.Name] = [2]int64{l.Down, l.Up}
		}
	}
	want := map[string][2]int64{"host0/disk": {1000, 0}, "host0/nics": {0, 1000}, "host1/nics": {1000, 0}}
	if line.Wall != 2000 || !maps.Equal(got, want) {
		t.Errorf("1000 bytes of a file on the other host take %d ns over %v; want 2000 over %v", line.Wall, got, want)
	}
}

// Every host has a disk of its own.
func TestSimulatedDisks(t *testing.T) {
	one := plantest.Toy(2, 0)
	one.NICs = "l"
	m, err := one.OnHosts(2)
	if err != nil {
		t.Fatal(err)
	}
	s := plantest.NewScript()
	s.Spec.Values, s.Host.Disk, s.Devices = []plan.Value{{Name: "x"}}, []bool{true}, 2
	for d := range 2 {
		k := &s.Tasks[s.Task(plan.H2D, 1000)]
		k.Value, k.Device, k.Own = 0, uint16(d), int32(d)
	}
	line := sim.Simulate(&s.Plan, m)
	if line.Wall != 1000 {
		t.Errorf("two hosts read 1000 bytes each from disks of 1 GB/s in %d ns, want 1000", line.Wall)
	}
	for _, name := range []string{"host0/disk", "host1/disk"} {
		if !slices.ContainsFunc(line.Links, func(l sim.LinkUse) bool { return l.Name == name && l.Down == 1000 }) {
			t.Errorf("no 1000 bytes from %s: %v", name, line.Links)
		}
	}
}
