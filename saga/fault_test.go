package saga_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/internal/draw"
	"sagann/layers"
	"sagann/saga"
)

// sweep is a program that is run again and again, each time with another fault.
type sweep struct {
	name    string
	program *saga.Program
	spec    string  // of its devices
	faulty  int     // the device that fails
	stride  int64   // every so many-th call fails; 0: every call
	steps   int     // 0: one
	all     bool    // every call fails, on GPUs too
	graphs  bool    // the device keeps steps
	loss    float64 // of the first step, without a fault
	grad    []float32
	opened  int64 // calls of the device before the step
	stepped int64 // and until its end
	total   int64
}

// outcome is what one run left behind.
type outcome struct {
	opened, stepped, closed error
	leak                    *device.LeakError
	loss                    float64
	grad                    []float32
	calls                   [3]int64
}

// failing is a device that counts its calls and fails one.
type failing interface {
	device.Device
	Calls() int64
}

func newFailing(d device.Device, f device.Fault) failing {
	switch g := d.(type) {
	case device.Capturer:
		return device.NewFaultCapturer(g, f)
	case device.GPU:
		return device.NewFaultGPU(g, f)
	}
	return device.NewFault(d, f)
}

// nullGPU is a GPU that computes nothing: the executor does with it all that it does
// with a GPU.
type nullGPU struct{ *device.Null }

// nullCapturer keeps nothing, and submits it again.
type nullCapturer struct{ nullGPU }

type nullGraph struct{}

func (nullGraph) Tasks() int64 { return 0 }

func (d nullCapturer) Capture(_ []device.Queue, f func() error) (device.Graph, error) {
	return nullGraph{}, f()
}
func (d nullCapturer) Update(_ device.Graph, f func() error) error { return f() }
func (d nullCapturer) Replay(device.Graph) error                   { return nil }

type nullFunc string

func (f nullFunc) Name() string { return string(f) }

func (d nullGPU) Unwrap() device.Device { return d.Null }

// Info names a kind of GPU: kernels are rendered for it.
func (d nullGPU) Info() device.Info {
	i := d.Null.Info()
	i.Kind = d.kind()
	return i
}

func (nullGPU) kind() string { return "cuda" }
func (d nullGPU) Compile(_ string, names []string) (list []device.Function, err error) {
	for _, name := range names {
		list = append(list, nullFunc(name))
	}
	return list, nil
}
func (d nullGPU) Address(device.Mem) (uint64, error)             { return 1 << 20, nil }
func (d nullGPU) HostAddress([]byte) uint64                      { return 1 << 30 }
func (d nullGPU) Prepare([]device.Command) (device.Batch, error) { return nil, nil }
func (d nullGPU) Release(device.Batch)                           {}
func (d nullGPU) Detail(func(device.Span))                       {}

// patience is how long a step with a fault may take: it must not hang.
const patience = 10 * time.Second

// run opens the program, steps and closes it, on devices of which one fails.
func (s *sweep) run(t *testing.T, f device.Fault) (o outcome) {
	t.Helper()
	devices, err := device.Open(s.spec, s.program.DeviceBytes(), device.Poison())
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range devices {
		if null, ok := d.(*device.Null); ok {
			devices[i] = nullGPU{null}
			if s.graphs {
				devices[i] = nullCapturer{nullGPU{null}}
			}
		}
	}
	bad := newFailing(devices[s.faulty], f)
	devices[s.faulty] = bad
	done := make(chan outcome, 1)
	go func() { done <- s.end(devices, bad) }()
	select {
	case o = <-done:
	case <-time.After(patience):
		stacks := make([]byte, 1<<20)
		panic(fmt.Sprintf("%s: %+v: no end after %v\n%s", s.name, f, patience, stacks[:runtime.Stack(stacks, true)]))
	}
	errors.As(errors.Join(o.opened, o.closed), &o.leak)
	return o
}

func (s *sweep) end(devices []device.Device, bad failing) (o outcome) {
	s.program.Rewind()
	o.opened = s.program.OpenOn(devices)
	o.calls[0] = bad.Calls()
	if o.opened == nil {
		for range max(1, s.steps) {
			if o.loss, o.stepped = s.program.Step(); o.stepped != nil {
				break
			}
		}
		o.calls[1] = bad.Calls()
		if o.stepped == nil {
			q := s.program.Params()[0]
			o.grad, o.stepped = s.program.Grad(q.Name)
		}
	}
	o.closed = s.program.Close()
	o.calls[2] = bad.Calls()
	return o
}

// An error of a task names the task with its chunk, one of another copy what was copied;
// one of a draw is in no task and names the batch; every error names device and call.
var (
	namesBatch = regexp.MustCompile(`(?s)epoch \d+, batch \d+: .* on queue sample`)
	namesTask  = regexp.MustCompile(`task \d+ \(.*(chunk|cell|zero|update|results|globals|sum of|a sum|add).*\)|setup \(.*(chunk|cell)|set \S+: `)
	namesCall  = regexp.MustCompile(`(cpu|cuda|null):\d+: \w`)
)

// check runs with one fault and says what is wrong with the end of it.
func (s *sweep) check(t *testing.T, n int64, async bool) {
	t.Helper()
	o := s.run(t, device.Fault{Op: device.OpAny, N: n, Async: async})
	err := errors.Join(o.opened, o.stepped, o.closed)
	where := fmt.Sprintf("%s: call %d of %d fails (async %v)", s.name, n, s.total, async)
	if !errors.Is(err, device.ErrInjected) {
		t.Errorf("%s: %v", where, err)
		return
	}
	text := err.Error()
	if want := s.device() + ": "; !strings.Contains(text, want) || !namesCall.MatchString(text) {
		t.Errorf("%s: device or call is not named: %v", where, err)
	}
	var call *device.OpError
	if !errors.As(err, &call) {
		t.Errorf("%s: no *device.OpError: %v", where, err)
		return
	}
	free := call.Op == device.OpFree || call.Op == device.OpHostFree
	inTask := n > s.opened && n <= s.stepped && call.Queue != ""
	switch {
	case !inTask:
	case call.Queue == "sample":
		if !namesBatch.MatchString(text) {
			t.Errorf("%s: the batch that is drawn is not named: %v", where, err)
		}
	case !namesTask.MatchString(text):
		t.Errorf("%s: task and chunk are not named: %v", where, err)
	}
	if o.leak != nil && !free {
		t.Errorf("%s: %v", where, o.leak)
	}
	if o.opened == nil && o.stepped == nil && (o.loss != s.loss || !sameBits(o.grad, s.grad)) {
		t.Errorf("%s: the step ends without an error and with loss %v, want %v", where, o.loss, s.loss)
	}
}

// checkKinds fails a call of each kind, in the middle of the run.
func (s *sweep) checkKinds(t *testing.T) {
	t.Helper()
	for _, op := range append(device.Ops(), device.OpCompile) {
		calls := s.run(t, device.Fault{Op: op}).calls[2]
		if calls == 0 {
			continue
		}
		for _, async := range []bool{false, true} {
			o := s.run(t, device.Fault{Op: op, N: calls/2 + 1, Async: async})
			err := errors.Join(o.opened, o.stepped, o.closed)
			if !errors.Is(err, device.ErrInjected) || !strings.Contains(err.Error(), s.device()+": "+op.String()) {
				t.Errorf("%s: call %d of %d of %v fails (async %v): %v", s.name, calls/2+1, calls, op, async, err)
			}
			if o.leak != nil && op != device.OpFree && op != device.OpHostFree {
				t.Errorf("%s: call %d of %d of %v fails (async %v): %v", s.name, calls/2+1, calls, op, async, o.leak)
			}
		}
	}
}

// device is the one that fails, as errors name it.
func (s *sweep) device() string {
	kind, index, err := device.Parse(s.spec)
	if err != nil {
		panic(err)
	}
	if kind == "null" {
		kind = nullGPU{}.kind()
	}
	return fmt.Sprint(kind, ":", index[s.faulty])
}

func sameBits(x, y []float32) bool {
	for i := range x {
		if len(x) != len(y) || math.Float32bits(x[i]) != math.Float32bits(y[i]) {
			return false
		}
	}
	return true
}

// faultDevices are what SAGANN_DEVICE names: one device, and the first two where there
// are as many; by default of the CPU.
func faultDevices(t *testing.T) (one, two string, gpu bool) {
	spec := os.Getenv("SAGANN_DEVICE")
	if spec == "" {
		return "cpu:1", "cpu:2", false
	}
	kind, index, err := device.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	if kind != "cuda" {
		t.Fatalf("SAGANN_DEVICE=%s: want cuda, cuda:I or cuda:I,J", spec)
	}
	if len(index) > 1 {
		two = fmt.Sprintf("cuda:%d,%d", index[0], index[1])
	}
	return fmt.Sprint("cuda:", index[0]), two, true
}

// TestEveryFault: whatever call of a device fails, at once or later, over a whole
// training step of every model, the step ends within seconds and with an error that
// names call, chunk and device; all memory is given back, no goroutine stays, and no
// wrong number comes out. Calls fail at once and later in turn; in make soak each does both. On GPUs, which SAGANN_DEVICE names, some models and 40 calls
// of each, on two of them also one of every kind, are enough for a minute.
func TestEveryFault(t *testing.T) {
	d := mustSynthetic(t, "vertices=40,edges=200,features=5,classes=3,seed=4")
	one, two, gpu := faultDevices(t)
	if gpu { // contexts stay: making one takes longer than a step
		keep, err := device.Open(cmp.Or(two, one), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			for _, d := range keep {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	var sweeps []*sweep
	add := func(name, model string, c saga.Config, faulty int) {
		m, err := layers.New(model, layers.Options{Features: 5, Hidden: 4, Classes: 3, Layers: 2, Heads: 2})
		if err != nil {
			t.Fatal(err)
		}
		c.Optimizer.Kind = "sgd"
		p, err := saga.Compile(m, d, c)
		if err != nil {
			t.Fatal(err)
		}
		sweeps = append(sweeps, &sweep{name: name, program: p, spec: c.Device, faulty: faulty})
	}
	names := layers.Names()
	if gpu {
		names = []string{"gcn", "mpgcn"}
	}
	for _, name := range names {
		c := saga.Config{Chunks: 3, Mem: 1, Device: one}
		m, err := layers.New(name, layers.Options{Features: 5, Hidden: 4, Classes: 3, Layers: 2, Heads: 2})
		if err != nil {
			t.Fatal(err)
		}
		c.Optimizer.Kind = "sgd"
		var small *plan.BudgetError
		if _, err := saga.Compile(m, d, c); !errors.As(err, &small) {
			t.Fatalf("%s: a budget of one byte gives %v", name, err)
		}
		c.Mem, c.Stream = small.Smallest+small.Smallest/10, true
		add(name, name, c, 0)
	}
	if two == "" {
		t.Logf("SAGANN_DEVICE names one device: nothing is tried on two")
	} else {
		for faulty := range 2 {
			add(fmt.Sprint("ggcn on two devices, number ", faulty), "ggcn", saga.Config{Chunks: 4, Stream: true, Device: two}, faulty)
		}
	}
	if runtime.GOOS == "linux" && !gpu { // a GPU's buffers are larger than all that this graph could put in files
		for _, devices := range []string{one, two} {
			c := saga.Config{Chunks: 4, Stream: true, Device: devices, Scratch: t.TempDir()}
			m, err := layers.New("ggcn", layers.Options{Features: 5, Hidden: 4, Classes: 3, Layers: 2, Heads: 2})
			if err != nil {
				t.Fatal(err)
			}
			c.HostMem = leastHost(t, m, d, c)
			add("ggcn, host memory in files, "+devices, "ggcn", c, 0)
			sweeps[len(sweeps)-1].stride = 13 // making files takes a run long
		}
	}
	for faulty := range 2 { // what runs on GPUs, without one
		add(fmt.Sprint("ggcn on two GPUs that compute nothing, number ", faulty), "ggcn",
			saga.Config{Chunks: 4, Stream: true, Device: "cuda:0,1", Without: []string{"invariant"}}, faulty)
		sweeps[len(sweeps)-1].spec = "null:2"
	}
	batches := func(name, on string, c saga.Config) {
		sweeps = append(sweeps, &sweep{name: name, spec: on, program: batchesToFail(t, c)})
	}
	batches("sage in batches", one, saga.Config{Device: one})
	if two != "" {
		for faulty := range 2 {
			batches(fmt.Sprint("sage in batches on two devices, number ", faulty), two, saga.Config{Device: two})
			sweeps[len(sweeps)-1].faulty = faulty
		}
	}
	batches("sage in batches on a GPU that computes nothing", "null:1", saga.Config{Device: "cuda", Without: []string{"invariant"}})
	far := func(name, on string, cache float64, c saga.Config) {
		sweeps = append(sweeps, &sweep{name: name, spec: on, program: farToFail(t, cache, c), steps: 3, all: gpu})
	}
	batches("sage in batches whose steps are graphs, on a GPU that computes nothing", "null:1", saga.Config{Device: "cuda", Without: []string{"invariant", "draw"}})
	last := sweeps[len(sweeps)-1]
	last.steps, last.graphs, last.all = 3, true, true
	far("sage in batches whose rows come over the link, on a GPU that computes nothing", "null:1", -1, saga.Config{Device: "cuda"})
	if gpu {
		far("sage in batches that the GPU draws", one, 0, saga.Config{Device: one})
		far("sage in batches that the GPU draws, whose rows come over the link", one, 0.1, saga.Config{Device: one})
	}
	add("ggcn, dest-order", "ggcn", saga.Config{Chunks: 3, Stream: true, Schedule: plan.DestOrder, Device: one}, 0)
	for _, s := range sweeps {
		t.Run(s.name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			o := s.run(t, device.Fault{Op: device.OpAny})
			if err := errors.Join(o.opened, o.stepped, o.closed); err != nil {
				t.Fatalf("without a fault: %v", err)
			}
			s.loss, s.grad, s.opened, s.stepped, s.total = o.loss, o.grad, o.calls[0], o.calls[1], o.calls[2]
			if h2d, _ := s.program.Moves(); h2d == 0 {
				t.Error("nothing moves")
			}
			stride := max(1, s.stride)
			few := !strings.HasPrefix(s.spec, "cpu")
			if testing.Short() || few && !s.all {
				stride = max(stride, s.total/40+1)
			}
			for n, async := int64(1), false; n <= s.total && !t.Failed(); n, async = n+stride, !async { // one tells enough
				if few || !draw.Soak() { // at once and later, in turn
					s.check(t, n, async)
					continue
				}
				s.check(t, n, false)
				s.check(t, n, true)
			}
			if few && strings.Contains(s.spec, ",") || strings.HasPrefix(s.spec, "null") {
				s.checkKinds(t)
			}
			t.Logf("%d calls, %d of them in the step", s.total, s.stepped-s.opened)
		})
	}
}
