package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// toy is a machine of round numbers: one operation, one byte of device memory and
// one byte over the link take a nanosecond each; both directions of the link together
// move both bytes a nanosecond; a copy starts after setup ns.
func toy(both, setup float64) *Machine {
	n := func(v float64, unit string) Number { return Number{v, unit, "made up for a test"} }
	rate := func(v float64) Number { return n(v*1e9, "B/s") }
	return &Machine{Name: "toy",
		DeviceKinds: map[string]DeviceKind{"d": {
			Memory: n(1e9, "B"), Reserve: n(0, "B"), FP32: n(1e9, "FLOP/s"), Elementwise: n(1e9, "op/s"),
			Bandwidth: rate(1), GatherHit: rate(4), GatherMiss: rate(1), Cache: n(1000, "B"), Slice: n(0, "B"),
			Launch: n(0, "s"), CopySetup: n(setup/1e9, "s")}},
		LinkKinds: map[string]LinkKind{"l": {Down: rate(1), Up: rate(1), Both: rate(both), Latency: n(0, "s")}},
		Links:     []Link{{Name: "link", Kind: "l"}},
		Devices:   []Device{{Name: "dev", Kind: "d", Link: "link"}},
	}
}

// script builds a plan by hand. Kernel 0 takes a nanosecond a row on the toy.
type script struct{ Plan }

func newScript() *script {
	s := &script{Plan{Cells: &Cells{V: 1, P: 1, Width: 1}}}
	s.Spec = &Spec{Phases: []Phase{{Steps: []Step{{Calls: []Call{{Cost: Cost{RowElem: 1}}}}}}}}
	return s
}

// task appends n bytes of copy, or n ns of kernel, after earlier tasks of other queues.
func (s *script) task(q Queue, n int64, deps ...int32) int32 {
	t := Task{Kind: [...]TaskKind{Run, Load, Save, Copy}[q], Queue: q, Value: -1, Own: 0, Other: -1}
	if q == Compute {
		t.Rows = int32(n)
	} else {
		t.Bytes = n
	}
	t.Deps[0] = int32(len(s.Deps))
	for _, d := range deps {
		if s.Tasks[d].Queue != q {
			s.Deps = append(s.Deps, d)
		}
	}
	t.Deps[1] = int32(len(s.Deps))
	s.Tasks = append(s.Tasks, t)
	return int32(len(s.Tasks) - 1)
}

// chain loads, computes and saves, once.
func chain() *Plan {
	s := newScript()
	l := s.task(H2D, 100)
	r := s.task(Compute, 50, l)
	s.task(D2H, 30, r)
	return &s.Plan
}

func check(t *testing.T, got *Timeline, wall, compute, exposed int64, ends ...int64) {
	t.Helper()
	if !reflect.DeepEqual(got.End, ends) || got.Wall != wall || got.Compute != compute || got.Exposed != exposed ||
		got.Idle != wall-compute-exposed {
		t.Errorf("ends %v, wall %d, compute %d, exposed %d, idle %d; want %v, %d, %d, %d",
			got.End, got.Wall, got.Compute, got.Exposed, got.Idle, ends, wall, compute, exposed)
	}
}

func TestSimulateByHand(t *testing.T) {
	full, half := toy(2, 0), toy(1.5, 0)

	got := Simulate(chain(), full)
	check(t, got, 180, 50, 130, 100, 150, 180)
	if got.Critical() != "dev h2d" || got.Path[0].Time != 100 || got.Path[1].Time != 50 || got.Path[2].Time != 30 {
		t.Errorf("path %v", got.Path)
	}
	if u := got.Links[0]; u.Down != 100 || u.Up != 30 || !near(u.Load, 100.0/180, 1e-9) {
		t.Errorf("link %+v", u)
	}
	// Ten nanoseconds of set-up a copy keep the queue, not the link.
	check(t, Simulate(chain(), toy(2, 10)), 200, 50, 150, 110, 160, 200)

	// A pipeline: the second load hides behind the first kernel, but for 20 ns.
	s := newScript()
	l0 := s.task(H2D, 100)
	s.task(Compute, 80, l0)
	l1 := s.task(H2D, 100)
	s.task(Compute, 80, l1)
	check(t, Simulate(&s.Plan, full), 280, 160, 120, 100, 180, 200, 280)

	// Both directions at once on a link that moves 1.5 together: 0.75 each until the
	// short copy ends at 40/0.75 = 53, then 60 bytes alone.
	s = newScript()
	s.task(H2D, 100)
	s.task(D2H, 40)
	check(t, Simulate(&s.Plan, half), 113, 0, 113, 113, 53)
	check(t, Simulate(&s.Plan, full), 100, 0, 100, 100, 40)

	// A copy joins when a kernel lets it: from 30 on the load has half the link.
	s = newScript()
	k := s.task(Compute, 30)
	s.task(H2D, 100)
	s.task(D2H, 10, k)
	one := toy(1, 0)
	check(t, Simulate(&s.Plan, one), 110, 30, 80, 30, 110, 50)

	// A wait that crosses queues leaves everything idle only when set-up is nothing to
	// do: here the queue is busy setting up, so no moment is idle.
	s = newScript()
	s.task(H2D, 0)
	s.task(Compute, 0)
	check(t, Simulate(&s.Plan, toy(2, 7)), 7, 0, 7, 7, 0)

	if got := Simulate(&newScript().Plan, full); got.Wall != 0 || got.Critical() != "" {
		t.Errorf("an empty plan: %v", got)
	}
}

func TestKernelTime(t *testing.T) {
	k := newPace(toy(2, 0).Kind(0))
	for _, c := range []struct {
		name                string
		cost                Cost
		rows, edges, others float64
		want                float64
	}{
		{"a product beside memory", Cost{RowDense: 5, RowBytes: 4, FixedBytes: 9}, 10, 0, 0, 99},
		{"arithmetic", Cost{RowElem: 5, RowBytes: 4, FixedBytes: 9}, 10, 0, 0, 50},
		{"memory", Cost{RowElem: 3, RowBytes: 4, FixedBytes: 9}, 10, 0, 0, 49},
		{"edges", Cost{EdgeElem: 2, EdgeDense: 1, EdgeBytes: 1}, 10, 100, 0, 300},
		{"accumulators", Cost{AccBytes: 8, EdgeBytes: 4}, 10, 5, 0, 100},
		{"hits", Cost{GatherBytes: 8, OtherBytes: 100}, 0, 50, 10, 100},       // 1000 B: all in the cache
		{"half hits", Cost{GatherBytes: 8, OtherBytes: 100}, 0, 50, 20, 250},  // 2000 B: half
		{"fifth hits", Cost{GatherBytes: 8, OtherBytes: 100}, 0, 50, 50, 340}, // 5000 B: a fifth
	} {
		if got := k.call(&c.cost, c.rows, c.edges, c.others); !near(got, c.want, 1e-12) {
			t.Errorf("%s: %g ns, want %g", c.name, got, c.want)
		}
	}
	k.slice = 10 // ten bytes of every row at a time: 50 rows fit
	if got := k.call(&Cost{GatherBytes: 8, OtherBytes: 100}, 0, 50, 50); got != 100 {
		t.Errorf("sliced: %g ns, want 100", got)
	}
	k.serial, k.launch = true, 3
	if got := k.call(&Cost{RowDense: 5, RowBytes: 4}, 10, 0, 0); got != 93 {
		t.Errorf("serial: %g ns, want 93", got)
	}
}

// synthetic is a program of the shape that three layers with their gradients have:
// gathers over CSC forward, over CSR backward, a product after each.
func synthetic(layers int, width int) *Spec {
	s := &Spec{}
	value := func(name string, k ValueKind) int {
		s.Values = append(s.Values, Value{Name: name, Kind: k, Cols: width, RowBytes: int64(width) * 4})
		return len(s.Values) - 1
	}
	kernel := 0
	call := func(c Cost, ops ...Operand) []Call {
		kernel++
		return []Call{{Kernel: kernel - 1, Operands: ops, Cost: c}}
	}
	w := float64(width)
	gather := Cost{EdgeElem: w, GatherBytes: int64(width) * 4, OtherBytes: int64(width) * 4, EdgeBytes: 4, AccBytes: int64(width) * 8}
	dense := Cost{RowDense: 2 * w * w, RowElem: w, RowBytes: int64(width) * 12, FixedBytes: int64(width*width) * 4}
	phase := func(d Dir, from, to int, more ...Operand) {
		acc := value(fmt.Sprint("acc", len(s.Phases)), Temp)
		s.Phases = append(s.Phases, Phase{Steps: []Step{
			{Kind: Stream, Dir: d, Calls: call(gather, Operand{OtherValue, from, false}, Operand{OwnValue, acc, true})},
			{Kind: Rows, Calls: call(dense, append(more, Operand{OwnValue, acc, false}, Operand{OwnValue, to, true})...)},
		}})
	}
	h := []int{value("x", Input)}
	for l := range layers {
		h = append(h, value(fmt.Sprint("h", l), Stored))
		s.Globals = append(s.Globals, Global{Name: fmt.Sprint("w", l), Kind: Param, Rows: width, Cols: width},
			Global{Name: fmt.Sprint("dw", l), Kind: Sum, Rows: width, Cols: width})
		s.Updates = append(s.Updates, Move{2 * l, 2*l + 1})
		phase(CSC, h[l], h[l+1], Operand{GlobalRef, 2 * l, false})
	}
	g := h[layers]
	for l := layers - 1; l >= 0; l-- {
		d := value(fmt.Sprint("g", l), Stored)
		phase(CSR, g, d, Operand{OwnValue, h[l], false}, Operand{GlobalRef, 2*l + 1, true})
		g = d
	}
	s.Results = []int{1}
	return s
}

func syntheticCells(v int, edges float64) func(p int) (*Cells, error) {
	return func(p int) (*Cells, error) {
		c := &Cells{V: v, P: p, Width: (v + p - 1) / p}
		for d := range 2 {
			for i := range p * p {
				n := int64(edges / float64(p*p) * (0.5 + float64(i*7919%p)/float64(p)))
				c.NNZ[d] = append(c.NNZ[d], n)
				c.Bytes[d] = append(c.Bytes[d], 4*n+64)
			}
		}
		return c, nil
	}
}

func streamed(t testing.TB, layers, p int, o Options) *Plan {
	t.Helper()
	o.P, o.Stream = p, true
	plan, err := New(synthetic(layers, 64), syntheticCells(10000, 3e5), o)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// recurrence is the dumb reference for a link whose directions do not disturb each
// other: then every task has a time of its own, and one pass in the global order
// gives the earliest starts.
func recurrence(p *Plan, m *Machine) []int64 {
	s := newSimulation(p, m)
	var last [Queues]int64
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

func fullDuplex(m *Machine) *Machine {
	for name, k := range m.LinkKinds {
		k.Both.Value = k.Down.Value + k.Up.Value
		m.LinkKinds[name] = k
	}
	return m
}

func TestSimulateAgainstRecurrence(t *testing.T) {
	for _, name := range Machines() {
		m := fullDuplex(machine(t, name))
		for _, p := range []int{1, 2, 5, 8} {
			for _, serial := range []bool{false, true} {
				plan := streamed(t, 2, p, Options{Serial: serial})
				got, want := Simulate(plan, m), recurrence(plan, m)
				if !reflect.DeepEqual(got.End, want) {
					t.Fatalf("%s, P=%d, serial %v: ends differ from the recurrence", name, p, serial)
				}
			}
		}
	}
}

// ticking is the dumb reference for shared directions: time in steps of one
// nanosecond, bytes handed out step by step. It knows one link only.
func ticking(p *Plan, both float64) []int64 {
	ends := make([]int64, len(p.Tasks))
	started := make([]bool, len(p.Tasks))
	left := make([]float64, len(p.Tasks))
	for i := range ends {
		ends[i] = -1
		left[i] = float64(p.Tasks[i].Bytes + int64(p.Tasks[i].Rows))
	}
	for now, open := int64(0), len(ends); open > 0; now++ {
		var used [Queues]bool
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
				if p.Tasks[i].Queue != Compute {
					copies++
				}
			}
			if copies == 2 {
				rate = both / 2
			}
		}
		for _, i := range run {
			if p.Tasks[i].Queue == Compute {
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

func TestSimulateAgainstTicking(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newScript()
		for i := range int32(40) {
			var deps []int32
			if i > 0 && r.IntN(3) > 0 {
				deps = append(deps, r.Int32N(i))
			}
			s.task(Queue(r.IntN(3)), 1000+r.Int64N(9000), deps...)
		}
		got, want := Simulate(&s.Plan, toy(1.4, 0)), ticking(&s.Plan, 1.4)
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
	plan := streamed(t, 2, 6, Options{})
	last := int64(math.MaxInt64)
	for _, x := range []float64{0.25, 0.5, 1, 2, 8, 1e3} {
		m := toy(2, 0)
		k := m.LinkKinds["l"]
		k.Down.Value, k.Up.Value, k.Both.Value = k.Down.Value*x, k.Up.Value*x, k.Both.Value*x
		m.LinkKinds["l"] = k
		wall := Simulate(plan, m).Wall
		if wall > last {
			t.Errorf("link ×%g: %d ns, slower link %d", x, wall, last)
		}
		last = wall
	}
	last = math.MaxInt64
	for _, x := range []float64{0.5, 1, 4, 100} {
		m := toy(2, 0)
		k := m.DeviceKinds["d"]
		k.FP32.Value, k.Elementwise.Value, k.Bandwidth.Value = k.FP32.Value*x, k.Elementwise.Value*x, k.Bandwidth.Value*x
		k.GatherHit.Value, k.GatherMiss.Value = k.GatherHit.Value*x, k.GatherMiss.Value*x
		m.DeviceKinds["d"] = k
		wall := Simulate(plan, m).Wall
		if wall > last {
			t.Errorf("device ×%g: %d ns, slower device %d", x, wall, last)
		}
		last = wall
	}
}

func BenchmarkSimulate(b *testing.B) {
	plan := streamed(b, 3, 64, Options{})
	for _, name := range []string{"h200", "p100x8"} {
		m := machine(b, name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Simulate(plan, m)
			}
			b.ReportMetric(float64(len(plan.Tasks)), "tasks")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(plan.Tasks)), "ns/task")
		})
	}
}
