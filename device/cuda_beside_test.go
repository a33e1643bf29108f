//go:build cuda

package device_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sagann/device"
)

// Kernels that take about as long as they are told, in microseconds, then write: out[i]
// = a·x[i] + b, or the sum of two.
const besideSource = `
__device__ void spin(long long us) {
	unsigned long long from, to;
	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(from));
	do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(to)); while (to - from < us * 1000ull);
}
__device__ void line(unsigned *out, const unsigned *x, long long n, long long a, long long b, long long us) {
	spin(us);
	for (long long i = threadIdx.x; i < n; i += blockDim.x) out[i] = x[i] * (unsigned)a + (unsigned)b;
}
extern "C" __global__ void line_(unsigned *out, const unsigned *x, long long n, long long a, long long b, long long us) {
	line(out, x, n, a, b, us);
}
extern "C" __global__ void line_beside(unsigned *out, const unsigned *x, long long n, long long a, long long b, long long us) {
	line(out, x, n, a, b, us);
}
extern "C" __global__ void sum_(unsigned *out, const unsigned *x, const unsigned *y, long long n) {
	for (long long i = threadIdx.x; i < n; i += blockDim.x) out[i] = x[i] + y[i];
}
`

const besideN = 1024

// besideBench is a GPU with the kernels and four rows of numbers.
type besideBench struct {
	dev   device.GPU
	queue device.Queue
	mem   device.Mem
	row   [4]uint64 // addresses
	funcs []device.Function
}

func newBesideBench(t *testing.T) *besideBench {
	t.Helper()
	b := &besideBench{dev: openCUDA(t).(device.GPU)}
	t.Cleanup(func() {
		if err := errors.Join(b.dev.Free(b.mem), b.dev.Close()); err != nil {
			t.Error(err)
		}
	})
	var err error
	if b.queue, err = b.dev.NewQueue("compute"); err != nil {
		t.Fatal(err)
	}
	if b.mem, err = b.dev.Alloc(4 * 4 * besideN); err != nil {
		t.Fatal(err)
	}
	at, err := b.dev.Address(b.mem)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.row {
		b.row[i] = at + uint64(4*besideN*i)
	}
	if b.funcs, err = b.dev.Compile(besideSource, []string{"line_", "line_beside", "sum_"}); err != nil {
		t.Fatal(err)
	}
	return b
}

// line is out = a·x + b after so many microseconds, beside the next command or not.
func (b *besideBench) line(beside bool, out, x int, a, c, us uint64) device.Command {
	f := b.funcs[0]
	if beside {
		f = b.funcs[1]
	}
	return device.Command{Call: &device.Call{Func: f, Grid: [3]uint32{1, 1, 1}, Block: 256, Args: []uint64{b.row[out], b.row[x], besideN, a, c, us}, Beside: beside}}
}

func (b *besideBench) sum(out, x, y int) device.Command {
	return device.Command{Call: &device.Call{Func: b.funcs[2], Grid: [3]uint32{1, 1, 1}, Block: 256, Args: []uint64{b.row[out], b.row[x], b.row[y], besideN}}}
}

// prepare makes a kernel of a list of commands.
func (b *besideBench) prepare(t *testing.T, list ...device.Command) device.Kernel {
	t.Helper()
	batch, err := b.dev.Prepare(list)
	if err != nil {
		t.Fatal(err)
	}
	return device.GPUFunc("batch", func(device.GPU) (device.Batch, error) { return batch, nil })
}

// run starts from x[0][i] = i, with the other rows ones of bits, launches and reads.
func (b *besideBench) run(t *testing.T, kernels ...device.Kernel) (rows [4][]uint32) {
	t.Helper()
	bytes := make([]byte, 16*besideN)
	all := device.View[uint32](bytes)
	for i := range all {
		if all[i] = ^uint32(0); i < besideN {
			all[i] = uint32(i)
		}
	}
	err := b.dev.CopyH2D(b.queue, b.mem, 0, bytes)
	for _, k := range kernels {
		err = errors.Join(err, b.dev.Launch(b.queue, k))
	}
	if err = errors.Join(err, b.dev.CopyD2H(b.queue, bytes, b.mem, 0), b.dev.Sync()); err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		rows[i] = all[besideN*i : besideN*(i+1)]
	}
	return rows
}

// spans collects what a device tells, of launches or of commands.
type spans struct {
	mu   sync.Mutex
	list []device.Span
}

func (s *spans) add(x device.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, x)
}

// take gives what came so far.
func (s *spans) take() []device.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list
	s.list = nil
	return list
}

// Detail tells the span of every command, in their order, and together they are the launch but for the gaps between them. Of three
// launches one has small gaps: other processes on the GPU may take turns with this one.
func TestCUDADetail(t *testing.T) {
	b := newBesideBench(t)
	const us = 400
	names := []string{"clear", "line_", "line_beside", "line_", "sum_", "sgemm 4×4×4"}
	k := b.prepare(t, device.Command{Clear: &device.Clear{Addr: b.row[3], Bytes: 4 * besideN}},
		b.line(false, 1, 0, 2, 1, us), b.line(true, 2, 1, 3, 0, us), b.line(false, 3, 1, 5, 0, us), b.sum(1, 2, 3),
		device.Command{Gemm: &device.Gemm{A: b.row[3], B: b.row[3], C: b.row[2], M: 4, N: 4, K: 4, LDA: 4, LDB: 4, LDC: 4}})
	b.run(t, k) // the first product makes its handle
	var commands, launches spans
	b.dev.SetTrace(launches.add)
	b.dev.Detail(commands.add)
	b.queue.SetTag(7)
	dense := 0
	for range 3 {
		begun := time.Now()
		b.run(t, k)
		took := time.Since(begun)
		var launch device.Span
		for _, s := range launches.take() {
			if s.Op == device.OpLaunch {
				launch = s
			}
		}
		list := commands.take()
		var got []string
		sum := time.Duration(0)
		for i, s := range list {
			got = append(got, s.Kernel)
			sum += s.End - s.Start
			if s.Tag != 7 || s.Queue != "compute" || s.Op != device.OpLaunch || s.End < s.Start {
				t.Errorf("command %d: %+v", i, s)
			}
			if i > 0 && s.Start < list[i-1].End-2*time.Microsecond { // the resolution of events
				t.Errorf("command %d starts at %v, before the end of the one before at %v", i, s.Start, list[i-1].End)
			}
			if strings.HasPrefix(s.Kernel, "line_") && s.End-s.Start < us*9/10*time.Microsecond {
				t.Errorf("%s takes %v, of at least %d µs", s.Kernel, s.End-s.Start, us)
			}
		}
		if !slices.Equal(got, names) {
			t.Fatalf("commands %q, want %q", got, names)
		}
		whole := launch.End - launch.Start
		t.Logf("launch %v, its commands %v", whole, sum)
		if sum > whole+5*time.Microsecond || whole > took {
			t.Errorf("the commands take %v, the launch %v, all of it %v", sum, whole, took)
		}
		if sum >= whole*3/4 {
			dense++
		}
	}
	if dense == 0 {
		t.Error("the commands of no launch take three quarters of it")
	}
	b.dev.Detail(nil)
	b.run(t, k)
	if n := len(commands.take()); n != 0 {
		t.Errorf("%d spans of commands after Detail was turned off", n)
	}
	if n := len(launches.take()); n != 3 {
		t.Errorf("%d spans, want those of two copies and a launch", n)
	}
}

// Two commands of which the first may run beside the second: both see what came before
// them, what comes after sees both, whichever takes longer, in the batch and in the next;
// they run at the same time, unless Detail is on.
func TestCUDABeside(t *testing.T) {
	b := newBesideBench(t)
	check := func(name string, rows [4][]uint32) {
		t.Helper()
		for i := range besideN {
			x := uint32(i)
			first := 2*x + 1
			want := [4]uint32{x, 3*first + 5*first, 3 * first, 5 * first}
			for r := range rows {
				if rows[r][i] != want[r] {
					t.Fatalf("%s: row %d, number %d is %d, want %d", name, r, i, rows[r][i], want[r])
				}
			}
		}
	}
	for _, detail := range []bool{false, true} {
		var commands spans
		if detail {
			b.dev.Detail(commands.add)
		}
		for _, us := range [][3]uint64{{300, 300, 0}, {300, 0, 300}, {0, 300, 0}, {0, 0, 0}, {50, 300, 300}} {
			before := b.line(false, 1, 0, 2, 1, us[0])
			beside, next := b.line(true, 2, 1, 3, 0, us[1]), b.line(false, 3, 1, 5, 0, us[2])
			after := b.sum(1, 2, 3)
			one := b.prepare(t, before, beside, next, after)
			apart := b.prepare(t, before, beside, next) // the next batch waits for both
			last := b.prepare(t, before, next, beside)  // nothing to run beside
			rest := b.prepare(t, after)
			for range 20 {
				check("one batch", b.run(t, one))
				check("two batches", b.run(t, apart, rest))
				check("at the end", b.run(t, last, rest))
			}
		}
		b.dev.Detail(nil)
	}
	// Two of half a millisecond each take less than two one after the other.
	const us = 500
	pair := b.prepare(t, b.line(true, 2, 0, 1, 0, us), b.line(false, 3, 0, 1, 0, us), b.sum(1, 2, 3))
	var launches spans
	b.dev.SetTrace(launches.add)
	best := time.Hour
	for range 10 {
		b.run(t, pair)
		for _, s := range launches.take() {
			if s.Op == device.OpLaunch {
				best = min(best, s.End-s.Start)
			}
		}
	}
	t.Logf("two kernels of %d µs beside each other: %v", us, best)
	if best > us*17/10*time.Microsecond {
		t.Errorf("two kernels of %d µs take %v: one after the other", us, best)
	}
}
