package sim_test

import (
	"reflect"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
)

func TestTimelineAddsUp(t *testing.T) {
	for _, name := range sim.Machines() {
		m := sim.BuiltIn(t, name)
		for _, p := range []int{1, 3, 8} {
			pl := plantest.Streamed(t, 3, p, plan.Options{})
			a := sim.Simulate(pl, m)
			if b := sim.Simulate(pl, m); !reflect.DeepEqual(a, b) {
				t.Fatalf("%s: two runs differ", name)
			}
			var path int64
			for _, s := range a.Path {
				path += s.Time
			}
			var busy [plan.Queues]int64
			for i := range pl.Tasks {
				if a.End[i] < a.Start[i] || a.Start[i] < 0 {
					t.Fatalf("%s: task %d runs from %d to %d", name, i, a.Start[i], a.End[i])
				}
				busy[pl.Tasks[i].Queue] += a.End[i] - a.Start[i]
			}
			switch {
			case a.Compute+a.Exposed+a.Idle != a.Wall:
				t.Errorf("%s: %d + %d + %d is not %d", name, a.Compute, a.Exposed, a.Idle, a.Wall)
			case path != a.Wall:
				t.Errorf("%s: the critical path takes %d of %d", name, path, a.Wall)
			case busy != a.Busy || a.Compute != busy[plan.Compute]:
				t.Errorf("%s: busy %v, want %v", name, a.Busy, busy)
			case a.Transfer > busy[plan.H2D]+busy[plan.D2H] || a.Transfer < max(busy[plan.H2D], busy[plan.D2H]) || a.Exposed > a.Transfer:
				t.Errorf("%s: transfer %d, exposed %d, queues %v", name, a.Transfer, a.Exposed, busy)
			}
			results := pl.Spec.Globals[pl.Spec.Results[0]].Bytes()
			for _, l := range a.Links {
				if l.Down != 0 && (l.Down != pl.H2D || l.Up != pl.D2H+results) {
					t.Errorf("%s: %s moved %d and %d bytes, the plan %d and %d", name, l.Name, l.Down, l.Up, pl.H2D, pl.D2H+results)
				}
				if l.Load < 0 || l.Load > 1+1e-6 {
					t.Errorf("%s: %s carries %g times what it can", name, l.Name, l.Load)
				}
			}
			if s := sim.Simulate(plantest.Streamed(t, 3, p, plan.Options{Serial: true}), m); s.Wall < a.Wall || s.Exposed+s.Compute != s.Wall {
				t.Errorf("%s, P=%d: without overlap %v, with it %v", name, p, s, a)
			}
		}
	}
}

func TestResidentPlanMovesNothing(t *testing.T) {
	pl, err := planner.New(plantest.Synthetic(2, 64), plantest.SyntheticCells(10000, 3e5), plan.Options{P: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := sim.Simulate(pl, sim.BuiltIn(t, "h200"))
	if l := got.Links[0]; l.Down != 0 || got.Setup <= 0 {
		t.Errorf("a resident plan loads %d bytes a step; set-up takes %d ns", l.Down, got.Setup)
	}
	want := float64(pl.Once)/55 + 2500*float64(len(pl.Setup))
	if !sim.Near(float64(got.Setup), want, 1e-4) {
		t.Errorf("set-up %d ns, want %g", got.Setup, want)
	}
}

// pair is two toy devices behind one uplink, with a port to each other.
func pair(port bool) *sim.Machine {
	m := plantest.Toy(2, 0)
	m.Links = []sim.Link{{Name: "up", Kind: "l"}, {Name: "a", Kind: "l", Parent: "up"}, {Name: "b", Kind: "l", Parent: "up"}}
	m.Devices = []sim.Device{{Name: "a", Kind: "d", Link: "a"}, {Name: "b", Kind: "d", Link: "b"}}
	if port {
		m.Peers = []sim.PeerGroup{{Devices: []string{"a", "b"}, Port: "l"}}
	}
	return m
}

func TestSimulateTwoDevices(t *testing.T) {
	two := func() *plantest.Script {
		s := plantest.NewScript()
		s.Devices = 2
		return s
	}
	// Both load at once: half the uplink each until the shorter is done.
	s := two()
	s.Task(plan.H2D, 100)
	b := s.Task(plan.H2D, 40)
	s.Tasks[b].Device = 1
	check(t, sim.Simulate(&s.Plan, pair(true)), 140, 0, 140, 140, 80)

	// One loads and hands on over its port while it loads the next, and computes.
	s = two()
	a := s.Task(plan.H2D, 100)
	s.Task(plan.Compute, 90, a)
	c := s.Task(plan.D2D, 100, a)
	s.Task(plan.H2D, 100)
	d := s.Task(plan.Compute, 50, c)
	s.Tasks[c].Device, s.Tasks[d].Device = 1, 1
	got := sim.Simulate(&s.Plan, pair(true))
	check(t, got, 250, 140, 110, 100, 190, 200, 200, 250)
	if got.Busy[plan.Compute] != 140 || got.Critical() != "a h2d" || got.Path[1].Name != "b d2d" {
		t.Errorf("busy %v, path %v", got.Busy, got.Path)
	}
	if u := got.Links; u[0].Down != 200 || u[1].Down != 200 || u[2].Down != 0 || u[3].Name != "a port" || u[3].Up != 100 || u[4].Down != 100 {
		t.Errorf("links %+v", u)
	}
	// Without a port the copy goes through host memory and shares the uplink with the
	// second load, and at 200 + 100 nothing is left of either.
	got = sim.Simulate(&s.Plan, pair(false))
	check(t, got, 350, 140, 210, 100, 190, 300, 300, 350)
}

func TestSimulateRing(t *testing.T) {
	m := sim.BuiltIn(t, "h200x4")
	for _, ring := range []bool{false, true} {
		pl := plantest.Streamed(t, 3, 8, plan.Options{Devices: 4, Ring: ring})
		got := sim.Simulate(pl, m)
		var down, up, ports, path int64
		for _, l := range got.Links {
			switch {
			case l.Name == "root":
				down, up = l.Down, l.Up
			case l.Name[0] == 'g': // a port
				ports += l.Down
			}
			if l.Load > 1+1e-6 {
				t.Errorf("ring %v: %s carries %g times what it can", ring, l.Name, l.Load)
			}
		}
		for _, s := range got.Path {
			path += s.Time
		}
		var loads, saves, copies int64
		for i := range pl.Tasks {
			switch k := &pl.Tasks[i]; k.Kind {
			case plan.Load:
				loads += k.Bytes
			case plan.Save:
				saves += k.Bytes
			case plan.Copy:
				copies += k.Bytes
			case plan.Results:
				saves += pl.Spec.Globals[pl.Spec.Results[0]].Bytes()
			}
		}
		if down != loads || up != saves || ports != copies || path != got.Wall || got.Compute+got.Exposed+got.Idle != got.Wall {
			t.Errorf("ring %v: links %d, %d, %d bytes, tasks %d, %d, %d; path %d of %d", ring, down, up, ports, loads, saves, copies, path, got.Wall)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("four devices on a machine with one: no panic")
		}
	}()
	sim.Simulate(plantest.Streamed(t, 1, 4, plan.Options{Devices: 4}), sim.BuiltIn(t, "h200"))
}
