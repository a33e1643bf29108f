package plan

import (
	"reflect"
	"testing"
)

func TestTimelineAddsUp(t *testing.T) {
	for _, name := range Machines() {
		m := machine(t, name)
		for _, p := range []int{1, 3, 8} {
			plan := streamed(t, 3, p, Options{})
			a := Simulate(plan, m)
			if b := Simulate(plan, m); !reflect.DeepEqual(a, b) {
				t.Fatalf("%s: two runs differ", name)
			}
			var path int64
			for _, s := range a.Path {
				path += s.Time
			}
			var busy [Queues]int64
			for i := range plan.Tasks {
				if a.End[i] < a.Start[i] || a.Start[i] < 0 {
					t.Fatalf("%s: task %d runs from %d to %d", name, i, a.Start[i], a.End[i])
				}
				busy[plan.Tasks[i].Queue] += a.End[i] - a.Start[i]
			}
			switch {
			case a.Compute+a.Exposed+a.Idle != a.Wall:
				t.Errorf("%s: %d + %d + %d is not %d", name, a.Compute, a.Exposed, a.Idle, a.Wall)
			case path != a.Wall:
				t.Errorf("%s: the critical path takes %d of %d", name, path, a.Wall)
			case busy != a.Busy || a.Compute != busy[Compute]:
				t.Errorf("%s: busy %v, want %v", name, a.Busy, busy)
			case a.Transfer > busy[H2D]+busy[D2H] || a.Transfer < max(busy[H2D], busy[D2H]) || a.Exposed > a.Transfer:
				t.Errorf("%s: transfer %d, exposed %d, queues %v", name, a.Transfer, a.Exposed, busy)
			}
			results := plan.Spec.Globals[plan.Spec.Results[0]].Bytes()
			for _, l := range a.Links {
				if l.Down != 0 && (l.Down != plan.H2D || l.Up != plan.D2H+results) {
					t.Errorf("%s: %s moved %d and %d bytes, the plan %d and %d", name, l.Name, l.Down, l.Up, plan.H2D, plan.D2H+results)
				}
				if l.Load < 0 || l.Load > 1+1e-6 {
					t.Errorf("%s: %s carries %g times what it can", name, l.Name, l.Load)
				}
			}
			if s := Simulate(streamed(t, 3, p, Options{Serial: true}), m); s.Wall < a.Wall || s.Exposed+s.Compute != s.Wall {
				t.Errorf("%s, P=%d: without overlap %v, with it %v", name, p, s, a)
			}
		}
	}
}

func TestResidentPlanMovesNothing(t *testing.T) {
	plan, err := New(synthetic(2, 64), syntheticCells(10000, 3e5), Options{P: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := Simulate(plan, machine(t, "h200"))
	if l := got.Links[0]; l.Down != 0 || got.Setup <= 0 {
		t.Errorf("a resident plan loads %d bytes a step; set-up takes %d ns", l.Down, got.Setup)
	}
	want := float64(plan.Once)/55 + 2500*float64(len(plan.Setup))
	if !near(float64(got.Setup), want, 1e-4) {
		t.Errorf("set-up %d ns, want %g", got.Setup, want)
	}
}

// pair is two toy devices behind one uplink, with a port to each other.
func pair(port bool) *Machine {
	m := toy(2, 0)
	m.Links = []Link{{Name: "up", Kind: "l"}, {Name: "a", Kind: "l", Parent: "up"}, {Name: "b", Kind: "l", Parent: "up"}}
	m.Devices = []Device{{Name: "a", Kind: "d", Link: "a"}, {Name: "b", Kind: "d", Link: "b"}}
	if port {
		m.Peers = []PeerGroup{{Devices: []string{"a", "b"}, Port: "l"}}
	}
	return m
}

func TestSimulateTwoDevices(t *testing.T) {
	two := func() *script {
		s := newScript()
		s.Devices = 2
		return s
	}
	// Both load at once: half the uplink each until the shorter is done.
	s := two()
	s.task(H2D, 100)
	b := s.task(H2D, 40)
	s.Tasks[b].Device = 1
	check(t, Simulate(&s.Plan, pair(true)), 140, 0, 140, 140, 80)

	// One loads and hands on over its port while it loads the next, and computes.
	s = two()
	a := s.task(H2D, 100)
	s.task(Compute, 90, a)
	c := s.task(D2D, 100, a)
	s.task(H2D, 100)
	d := s.task(Compute, 50, c)
	s.Tasks[c].Device, s.Tasks[d].Device = 1, 1
	got := Simulate(&s.Plan, pair(true))
	check(t, got, 250, 140, 110, 100, 190, 200, 200, 250)
	if got.Busy[Compute] != 140 || got.Critical() != "a h2d" || got.Path[1].Name != "b d2d" {
		t.Errorf("busy %v, path %v", got.Busy, got.Path)
	}
	if u := got.Links; u[0].Down != 200 || u[1].Down != 200 || u[2].Down != 0 || u[3].Name != "a port" || u[3].Up != 100 || u[4].Down != 100 {
		t.Errorf("links %+v", u)
	}
	// Without a port the copy goes through host memory and shares the uplink with the
	// second load, and at 200 + 100 nothing is left of either.
	got = Simulate(&s.Plan, pair(false))
	check(t, got, 350, 140, 210, 100, 190, 300, 300, 350)
}

func TestSimulateRing(t *testing.T) {
	m := machine(t, "h200x4")
	for _, ring := range []bool{false, true} {
		plan := streamed(t, 3, 8, Options{Devices: 4, Ring: ring})
		got := Simulate(plan, m)
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
		for i := range plan.Tasks {
			switch k := &plan.Tasks[i]; k.Kind {
			case Load:
				loads += k.Bytes
			case Save:
				saves += k.Bytes
			case Copy:
				copies += k.Bytes
			case Results:
				saves += plan.Spec.Globals[plan.Spec.Results[0]].Bytes()
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
	Simulate(streamed(t, 1, 4, Options{Devices: 4}), machine(t, "h200"))
}
