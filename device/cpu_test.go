package device_test

import (
	"errors"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sagann/device"
	"sagann/device/devicetest"
)

// TestMain fails when a device leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openCPU(t *testing.T) device.Device {
	d, err := device.NewCPU(0, devicetest.MinBudget, device.Poison())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCPU(t *testing.T) { devicetest.Run(t, openCPU) }

// An arena as large as a GPU's takes no memory until it is touched.
func TestCPULargeBudget(t *testing.T) {
	if runtime.GOOS != "linux" || strconv.IntSize < 64 {
		t.Skip("the arena is mapped on 64-bit Linux only")
	}
	d, err := device.NewCPU(0, 64<<30)
	if err != nil {
		t.Skipf("this machine limits address space: %v", err)
	}
	m, err := d.Alloc(64 << 30)
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Bytes(m)
	if err != nil || int64(len(b)) != 64<<30 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	b[len(b)-1] = 1
	if err := errors.Join(d.Free(m), d.Close()); err != nil {
		t.Error(err)
	}
}

func TestCPUBudgetRefused(t *testing.T) {
	for _, n := range []int64{0, -1, math.MinInt64, math.MaxInt64} {
		if d, err := device.NewCPU(0, n); err == nil {
			d.Close()
			t.Errorf("budget %d: no error", n)
		}
	}
}

func TestPoison(t *testing.T) {
	d := openCPU(t).(*device.CPU)
	defer d.Close()
	m, err := d.Alloc(400)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free(m)
	b, err := d.Bytes(m)
	if err != nil {
		t.Fatal(err)
	}
	h, err := d.HostAlloc(2 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer d.HostFree(h)
	for _, v := range [][]float32{device.View[float32](b), device.View[float32](h.Bytes())} {
		for i, x := range v {
			if x == x {
				t.Fatalf("value %d is %v, want NaN", i, x)
			}
		}
	}
}

func TestHostBudget(t *testing.T) {
	d, err := device.NewCPU(0, 1<<20, device.HostBudget(1000))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	h, err := d.HostAlloc(900)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.HostAlloc(101)
	var b *device.BudgetError
	if !errors.As(err, &b) || !b.Host || b.Asked != 101 || b.Used != 900 || b.Budget != 1000 {
		t.Errorf("error %v, want one over the host budget", err)
	}
	if err := d.HostFree(h); err != nil {
		t.Error(err)
	}
}

// A kernel that panics, or ends its goroutine, is an error at Sync and not the
// end of the process; the queue goes on, so that events still pass.
func TestKernelPanic(t *testing.T) {
	for name, run := range map[string]func([]byte) error{
		"panic":  func([]byte) error { panic("out of cheese") },
		"index":  func(a []byte) error { return errors.New(string(a[:cap(a)+1])) },
		"goexit": func([]byte) error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			d := openCPU(t)
			q, _ := d.NewQueue("q")
			q2, _ := d.NewQueue("q2")
			e, _ := d.NewEvent()
			err := errors.Join(
				d.Launch(q, device.HostFunc("fine", func([]byte) error { return nil })),
				d.Launch(q, device.HostFunc("careless", run)),
				d.Record(q, e), d.Wait(q2, e))
			if err != nil {
				t.Fatal(err)
			}
			err = d.Sync()
			if err == nil || !strings.Contains(err.Error(), "launch careless on queue q") {
				t.Errorf("sync: %v", err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A kernel type of another device is refused at once.
type alienKernel struct{}

func (alienKernel) Name() string { return "alien" }

func TestAlienKernel(t *testing.T) {
	d := openCPU(t)
	defer d.Close()
	q, _ := d.NewQueue("q")
	err := d.Launch(q, alienKernel{})
	if err == nil || !strings.Contains(err.Error(), "launch alien on queue q") {
		t.Errorf("launch: %v", err)
	}
}

// Close with work under way runs it all.
func TestCloseDrains(t *testing.T) {
	d := openCPU(t)
	q, _ := d.NewQueue("q")
	n := 0
	for range 10_000 {
		if err := d.Launch(q, device.HostFunc("count", func([]byte) error { n++; return nil })); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil || n != 10_000 {
		t.Errorf("close: %v after %d of 10000 tasks", err, n)
	}
}
