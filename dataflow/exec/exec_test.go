package exec_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"sagann/chunk"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/device"
	"sagann/kernel"
)

// A session is a small program made by hand: y = w·Σ x over the in-edges, kept, and
// total += Σ y over vertices.
type session struct {
	plan     *plan.Plan
	grid     *chunk.Grid
	programs []*kernel.Program
	x        []float32
}

const vertices, cols = 7, 4

func newSession(t *testing.T, o plan.Options) *session {
	t.Helper()
	g := &chunk.Edges{V: vertices}
	for v := range vertices {
		g.Src = append(g.Src, uint32(v), uint32(v*3%vertices))
		g.Dst = append(g.Dst, uint32((v+1)%vertices), uint32(v/2))
	}
	return sessionOn(t, g, o)
}

func sessionOn(t *testing.T, g *chunk.Edges, o plan.Options) *session {
	t.Helper()
	s := &session{}
	var err error
	if s.grid, err = chunk.Build(g, nil, o.P, chunk.Want{CSC: true}); err != nil {
		t.Fatal(err)
	}
	scale := func(a *kernel.Args) {
		for i := range a.Out {
			a.Out[i] = a.In[0][i] * a.In[1][0]
		}
	}
	s.programs = []*kernel.Program{
		{Name: "gather", Edges: true, Widths: []int{cols}, Operands: 2,
			Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: cols, LD: cols}},
			Outs:   []kernel.Out{{Acc: kernel.Sum, Operand: 1, LD: cols, Aux: -1}}},
		{Name: "scale", Widths: []int{cols, 1, cols}, Operands: 4,
			Leaves: []kernel.Leaf{{From: kernel.Own, Operand: 0, Cols: cols, LD: cols}, {From: kernel.Global, Operand: 1, Cols: 1, LD: 1, Rows: 1, Reg: 1}},
			Instrs: []kernel.Instr{{Op: "scale", Fn: scale, Dst: 2, In: []int{0, 1}}},
			Outs: []kernel.Out{{Acc: kernel.Store, Reg: 2, Operand: 2, LD: cols, Aux: -1},
				{Acc: kernel.SumRows, Reg: 2, Operand: 3, LD: cols, Aux: -1}}},
	}
	spec := &plan.Spec{
		Values: []plan.Value{{Name: "x", Kind: plan.Input, Cols: cols, RowBytes: 4 * cols},
			{Name: "sum", Kind: plan.Temp, Cols: cols, RowBytes: 4 * cols},
			{Name: "y", Kind: plan.Stored, Cols: cols, RowBytes: 4 * cols, Output: true}},
		Globals: []plan.Global{{Name: "w", Kind: plan.Param, Rows: 1, Cols: 1}, {Name: "total", Kind: plan.Sum, Rows: 1, Cols: cols}},
		Updates: []plan.Move{{Param: 0, Grad: 1}}, Results: []int{1},
		Phases: []plan.Phase{{Steps: []plan.Step{
			{Kind: plan.Stream, Label: "gather", Calls: []plan.Call{{Kernel: 0, Operands: []plan.Operand{{Kind: plan.OtherValue}, {ID: 1, Write: true}}}}},
			{Kind: plan.Rows, Label: "scale", Calls: []plan.Call{{Kernel: 1, Operands: []plan.Operand{{ID: 1}, {Kind: plan.GlobalRef},
				{ID: 2, Write: true}, {Kind: plan.GlobalRef, ID: 1, Write: true}}}}},
		}}},
	}
	cells := plan.NewCells(g.V, o.P, s.grid.Width, 2)
	for _, c := range s.grid.CSC.Cells {
		cells.Bytes[plan.CSC], cells.NNZ[plan.CSC] = append(cells.Bytes[plan.CSC], c.Bytes), append(cells.NNZ[plan.CSC], c.NNZ)
	}
	if s.plan, err = planner.New(spec, func(int) (*plan.Cells, error) { return cells, nil }, o); err != nil {
		t.Fatal(err)
	}
	for i := range g.V * cols {
		s.x = append(s.x, float32(i))
	}
	return s
}

func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// run steps twice on devices and returns y and the total of the second step.
func (s *session) run(devices []device.Device, update func(global func(int) []float32) error) (y, total []float32, stats exec.Stats, err error) {
	fail := func(e error) { err = errors.Join(err, e) }
	arena, e := exec.NewArena(devices, s.plan.Peak)
	if e != nil {
		fail(e)
		return
	}
	defer func() { fail(arena.Close()) }()
	r, e := exec.NewRunner(arena, s.plan, s.programs, s.grid)
	if e != nil {
		fail(e)
		return
	}
	defer func() { fail(r.Close()) }()
	r.OnUpdate(update)
	if e := errors.Join(r.SetInput(0, bytesOf(s.x)), r.SetGlobal(0, []float32{2})); e != nil {
		fail(e)
		return
	}
	for range 2 {
		if e := r.Step(); e != nil {
			fail(e)
			return
		}
	}
	y = append(y, unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(r.Output(2)))), len(s.x))...)
	total, stats = append(total, r.Result(0)...), r.Stats()
	return
}

func openDevices(t *testing.T, n int, bytes int64) []device.Device {
	t.Helper()
	var out []device.Device
	for i := range n {
		d, err := device.NewCPU(i, bytes, device.Poison())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

func closeDevices(t *testing.T, devices []device.Device) {
	t.Helper()
	for _, d := range devices {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A plan gives the same values whatever moves, the update sees the Globals, and the
// runner counts the bytes that the plan says.
func TestSteps(t *testing.T) {
	var want []float32
	for _, o := range []plan.Options{{P: 1}, {P: 3}, {P: 3, Stream: true}, {P: 3, Stream: true, Serial: true},
		{P: 3, Stream: true, Devices: 2}, {P: 4, Stream: true, Devices: 2, Ring: true}, {P: 3, Devices: 3}, {P: 3, Stream: true, Schedule: plan.DestOrder}} {
		s := newSession(t, o)
		devices := openDevices(t, s.plan.Devices, s.plan.Peak)
		var updates atomic.Int64 // devices update side by side
		y, total, stats, err := s.run(devices, func(global func(int) []float32) error {
			updates.Add(1)
			global(0)[0]++ // the second step multiplies with three
			return nil
		})
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		closeDevices(t, devices)
		if want == nil {
			want = append(y, total...)
		}
		for i, v := range append(y, total...) {
			if v != want[i] { // small whole numbers: exact in any order
				t.Errorf("%+v: number %d is %v, want %v", o, i, v, want[i])
			}
		}
		if n := updates.Load(); n != int64(2*s.plan.Devices) {
			t.Errorf("%+v: %d updates in two steps", o, n)
		}
		if w := (exec.Stats{H2D: 2 * s.plan.H2D, D2H: 2 * s.plan.D2H, D2D: 2 * s.plan.D2D, Setup: s.plan.Once}); stats != w {
			t.Errorf("%+v: moved %+v, the plan says %+v", o, stats, w)
		}
	}
	// Edges 0-0, 6-0, 3-0, 0-1, ... : the rows of 0, 3 and 6 meet in vertex 0.
	if sum := float32(3 * (0*cols + 3*cols + 6*cols)); want[0] != sum {
		t.Errorf("y of vertex 0 is %v, by hand %v", want[0], sum)
	}
}

func TestRefused(t *testing.T) {
	s := newSession(t, plan.Options{P: 2, Stream: true})
	devices := openDevices(t, 1, 1<<16)
	defer closeDevices(t, devices)
	arena, err := exec.NewArena(devices, s.plan.Peak)
	if err != nil {
		t.Fatal(err)
	}
	defer arena.Close()
	r, err := exec.NewRunner(arena, s.plan, s.programs, s.grid)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	expect := func(what string, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	expect("a step without input", r.Step(), "input x was not set")
	expect("a short input", r.SetInput(0, make([]byte, 8)), "input x: 8 bytes, want 112")
	expect("a long global", r.SetGlobal(0, make([]float32, 2)), "w has 1×1 numbers, not 2")
	small, err := exec.NewArena(devices, s.plan.Peak-1)
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	_, err = exec.NewRunner(small, s.plan, s.programs, s.grid)
	expect("a small arena", err, fmt.Sprintf("needs %d bytes of device memory, the arena has %d", s.plan.Peak, s.plan.Peak-1))
	_, err = exec.NewArena(devices, 1<<20)
	expect("an arena over the budget", err, "budget")
	two := newSession(t, plan.Options{P: 2, Devices: 2})
	_, err = exec.NewRunner(arena, two.plan, two.programs, two.grid)
	expect("too few devices", err, "the plan is for 2 devices, the arena has 1")
}

// Whatever call of a device fails, at once or later, the run ends with an error that
// says what failed, and all memory is given back.
func TestEveryFault(t *testing.T) {
	s := newSession(t, plan.Options{P: 3, Stream: true})
	for _, op := range device.Ops() {
		for _, async := range []bool{false, true} {
			calls := int64(1 << 20)
			for n := int64(0); n <= calls; n++ {
				devices := openDevices(t, 1, s.plan.Peak)
				faulty := device.NewFault(devices[0], device.Fault{Op: op, N: n, Async: async})
				_, _, _, err := s.run([]device.Device{faulty}, nil)
				closed := faulty.Close()
				var leak *device.LeakError
				switch {
				case n == 0:
					if calls = faulty.Calls(); err != nil || closed != nil {
						t.Fatalf("without a fault: %v, %v", err, closed)
					}
					continue
				case !errors.Is(err, device.ErrInjected):
					t.Errorf("call %d of %s fails: %v", n, op, err)
				case errors.As(closed, &leak) && op != device.OpFree && op != device.OpHostFree:
					t.Errorf("call %d of %s fails: %v", n, op, closed)
				}
			}
		}
	}
}

// An update that fails ends the step with its error.
func TestFailingUpdate(t *testing.T) {
	s := newSession(t, plan.Options{P: 2})
	devices := openDevices(t, 1, s.plan.Peak)
	cause := errors.New("no gradient")
	_, _, _, err := s.run(devices, func(func(int) []float32) error { return cause })
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "update") {
		t.Errorf("%v, want the cause and the task", err)
	}
	devices[0].Close()
}
