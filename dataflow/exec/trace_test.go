package exec

import (
	"errors"
	"testing"

	"sagann/dataflow/plan"
	"sagann/device"
)

// small is a plan of three tasks in a row, on two queues: clear two matrices, update
// them, bring both back.
func small() *plan.Plan {
	none := plan.Task{Value: -1, Own: -1, Other: -1}
	zero, update, results := none, none, none
	zero.Kind, zero.Bytes = plan.Zero, 512
	update.Kind, update.Is.Event = plan.Update, true
	results.Kind, results.Queue, results.Deps = plan.Results, plan.D2H, [2]int32{0, 1}
	return &plan.Plan{
		Spec:  &plan.Spec{Globals: []plan.Global{{Name: "a", Rows: 2, Cols: 3}, {Name: "b", Rows: 1, Cols: 1}}, Results: []int{0, 1}},
		Cells: plan.NewCells(1, 1, 1, 2), Tasks: []plan.Task{zero, update, results},
		Deps: []int32{1}, Globals: []int64{0, 256}, Peak: 512,
	}
}

func newSmall(t testing.TB) *Runner {
	t.Helper()
	dev, err := device.NewCPU(0, 512)
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewArena([]device.Device{dev}, 512)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRunner(a, small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.Close(), a.Close(), dev.Close()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestTraceKeepsTheLastSteps(t *testing.T) {
	r := newSmall(t)
	step := func() {
		t.Helper()
		if err := r.Step(); err != nil {
			t.Fatal(err)
		}
	}
	step()
	if s := r.Traced(); s != nil {
		t.Fatalf("%d steps without Trace", len(s))
	}
	r.Trace(3)
	for n := 1; n <= 5; n++ {
		step()
		if got := len(r.Traced()); got != min(n, 3) {
			t.Errorf("%d steps kept of %d", got, n)
		}
	}
	last := TaskSpan{}
	for _, s := range r.Traced() {
		for i, v := range s.Tasks {
			// The tasks depend on each other in a row, and steps end before the next begins.
			if v.Start < last.End || v.End < v.Start || v.End == 0 {
				t.Errorf("task %d ran %v after %v", i, v, last)
			}
			last = v
		}
		if first := s.Tasks[0]; s.Wall < last.End-first.Start {
			t.Errorf("wall %v, the tasks took %v", s.Wall, last.End-first.Start)
		}
		if s.Tasks[0].Bytes != 0 || s.Tasks[2].Bytes != 7*4 {
			t.Errorf("copied %d and %d bytes, want 0 and 28", s.Tasks[0].Bytes, s.Tasks[2].Bytes)
		}
	}
	if err := r.SetGlobal(0, make([]float32, 6)); err != nil { // not a task of a step
		t.Fatal(err)
	}
	if v := r.Traced()[2].Tasks[2]; v != last {
		t.Errorf("a copy between steps was taken for a task: %v, before %v", v, last)
	}
	r.Trace(0)
	step()
	if r.Traced() != nil {
		t.Error("steps are kept after Trace(0)")
	}
}

func TestTraceDropsFailedSteps(t *testing.T) {
	r := newSmall(t)
	r.Trace(4)
	if err := r.Step(); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	r.OnUpdate(func(func(int) []float32) error { return boom })
	if err := r.Step(); !errors.Is(err, boom) {
		t.Fatalf("error %v", err)
	}
	if got := len(r.Traced()); got != 1 {
		t.Errorf("%d steps, want the one that ended", got)
	}
	if err := r.Step(); !errors.Is(err, device.ErrFailed) {
		t.Errorf("on a failed device: %v", err)
	}
	if got := len(r.Traced()); got != 1 {
		t.Errorf("%d steps, want the one that ended", got)
	}
}

// A step with tracing allocates no more than one without, once the places are there.
func TestTraceAllocations(t *testing.T) {
	r := newSmall(t)
	allocs := func() float64 {
		return testing.AllocsPerRun(50, func() {
			if err := r.Step(); err != nil {
				t.Error(err)
			}
		})
	}
	off := allocs()
	r.Trace(2)
	// The closure that the device calls, its holder, and the names of two launches.
	if on := allocs(); on > off+12 {
		t.Errorf("%v allocations a traced step, %v without", on, off)
	}
}

// BenchmarkTrace is a step of three tasks that do next to nothing, two of them launches:
// what tracing adds to it is what it costs, a third of that a task.
func BenchmarkTrace(b *testing.B) {
	for _, steps := range []int{0, 2} {
		b.Run(map[int]string{0: "off", 2: "on"}[steps], func(b *testing.B) {
			r := newSmall(b)
			r.Trace(steps)
			for b.Loop() {
				if err := r.Step(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
