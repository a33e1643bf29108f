package sim_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
)

func check(t *testing.T, got *sim.Timeline, wall, compute, exposed int64, ends ...int64) {
	t.Helper()
	if !reflect.DeepEqual(got.End, ends) || got.Wall != wall || got.Compute != compute || got.Exposed != exposed ||
		got.Idle != wall-compute-exposed {
		t.Errorf("ends %v, wall %d, compute %d, exposed %d, idle %d; want %v, %d, %d, %d",
			got.End, got.Wall, got.Compute, got.Exposed, got.Idle, ends, wall, compute, exposed)
	}
}

func TestSimulateByHand(t *testing.T) {
	full, half := plantest.Toy(2, 0), plantest.Toy(1.5, 0)

	got := sim.Simulate(plantest.Chain(), full)
	check(t, got, 180, 50, 130, 100, 150, 180)
	if got.Critical() != "dev h2d" || got.Path[0].Time != 100 || got.Path[1].Time != 50 || got.Path[2].Time != 30 {
		t.Errorf("path %v", got.Path)
	}
	if u := got.Links[0]; u.Down != 100 || u.Up != 30 || !sim.Near(u.Load, 100.0/180, 1e-9) {
		t.Errorf("link %+v", u)
	}
	// Ten nanoseconds of set-up a copy keep the queue, not the link.
	check(t, sim.Simulate(plantest.Chain(), plantest.Toy(2, 10)), 200, 50, 150, 110, 160, 200)

	// A pipeline: the second load hides behind the first kernel, but for 20 ns.
	s := plantest.NewScript()
	l0 := s.Task(plan.H2D, 100)
	s.Task(plan.Compute, 80, l0)
	l1 := s.Task(plan.H2D, 100)
	s.Task(plan.Compute, 80, l1)
	check(t, sim.Simulate(&s.Plan, full), 280, 160, 120, 100, 180, 200, 280)

	// Both directions at once on a link that moves 1.5 together: 0.75 each until the
	// short copy ends at 40/0.75 = 53, then 60 bytes alone.
	s = plantest.NewScript()
	s.Task(plan.H2D, 100)
	s.Task(plan.D2H, 40)
	check(t, sim.Simulate(&s.Plan, half), 113, 0, 113, 113, 53)
	check(t, sim.Simulate(&s.Plan, full), 100, 0, 100, 100, 40)

	// A copy joins when a kernel lets it: from 30 on the load has half the link.
	s = plantest.NewScript()
	k := s.Task(plan.Compute, 30)
	s.Task(plan.H2D, 100)
	s.Task(plan.D2H, 10, k)
	one := plantest.Toy(1, 0)
	check(t, sim.Simulate(&s.Plan, one), 110, 30, 80, 30, 110, 50)

	// A wait that crosses queues leaves everything idle only when set-up is nothing to
	// do: here the queue is busy setting up, so no moment is idle.
	s = plantest.NewScript()
	s.Task(plan.H2D, 0)
	s.Task(plan.Compute, 0)
	check(t, sim.Simulate(&s.Plan, plantest.Toy(2, 7)), 7, 0, 7, 7, 0)

	if got := sim.Simulate(&plantest.NewScript().Plan, full); got.Wall != 0 || got.Critical() != "" {
		t.Errorf("an empty plan: %v", got)
	}
}

func fullDuplex(m *sim.Machine) *sim.Machine {
	for name, k := range m.LinkKinds {
		k.Both.Value = k.Down.Value + k.Up.Value
		m.LinkKinds[name] = k
	}
	return m
}

func TestSimulateAgainstRecurrence(t *testing.T) {
	for _, name := range sim.Machines() {
		m := fullDuplex(sim.BuiltIn(t, name))
		for _, p := range []int{1, 2, 5, 8} {
			for _, serial := range []bool{false, true} {
				pl := plantest.Streamed(t, 2, p, plan.Options{Serial: serial})
				got, want := sim.Simulate(pl, m), sim.Recurrence(pl, m)
				if !reflect.DeepEqual(got.End, want) {
					t.Fatalf("%s, P=%d, serial %v: ends differ from the recurrence", name, p, serial)
				}
			}
		}
	}
}

func TestSimulateAgainstTicking(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := plantest.NewScript()
		for i := range int32(40) {
			var deps []int32
			if i > 0 && r.IntN(3) > 0 {
				deps = append(deps, r.Int32N(i))
			}
			s.Task(plan.Queue(r.IntN(3)), 1000+r.Int64N(9000), deps...)
		}
		got, want := sim.Simulate(&s.Plan, plantest.Toy(1.4, 0)), sim.Ticking(&s.Plan, 1.4)
		for i := range want {
			// Each task may be rounded up by one step in the reference.
			if d := want[i] - got.End[i]; d < -50 || d > 50 {
				t.Fatalf("seed %d: task %d ends at %d, want %d", seed, i, got.End[i], want[i])
			}
		}
	}
}

// On a link whose directions do not share, a shorter task never delays another.
func TestFasterIsNeverSlower(t *testing.T) {
	pl := plantest.Streamed(t, 2, 6, plan.Options{})
	last := int64(math.MaxInt64)
	for _, x := range []float64{0.25, 0.5, 1, 2, 8, 1e3} {
		m := plantest.Toy(2, 0)
		k := m.LinkKinds["l"]
		k.Down.Value, k.Up.Value, k.Both.Value = k.Down.Value*x, k.Up.Value*x, k.Both.Value*x
		m.LinkKinds["l"] = k
		wall := sim.Simulate(pl, m).Wall
		if wall > last {
			t.Errorf("link ×%g: %d ns, slower link %d", x, wall, last)
		}
		last = wall
	}
	last = math.MaxInt64
	for _, x := range []float64{0.5, 1, 4, 100} {
		m := plantest.Toy(2, 0)
		k := m.DeviceKinds["d"]
		k.FP32.Value, k.Elementwise.Value, k.Bandwidth.Value = k.FP32.Value*x, k.Elementwise.Value*x, k.Bandwidth.Value*x
		k.GatherHit.Value, k.GatherMiss.Value = k.GatherHit.Value*x, k.GatherMiss.Value*x
		m.DeviceKinds["d"] = k
		wall := sim.Simulate(pl, m).Wall
		if wall > last {
			t.Errorf("device ×%g: %d ns, slower device %d", x, wall, last)
		}
		last = wall
	}
}

func BenchmarkSimulate(b *testing.B) {
	pl := plantest.Streamed(b, 3, 64, plan.Options{})
	for _, name := range []string{"h200", "p100x8"} {
		m := sim.BuiltIn(b, name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sim.Simulate(pl, m)
			}
			b.ReportMetric(float64(len(pl.Tasks)), "tasks")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(pl.Tasks)), "ns/task")
		})
	}
}
