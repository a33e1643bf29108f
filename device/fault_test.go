package device_test

import (
	"errors"
	"strings"
	"testing"

	"sagann/device"
	"sagann/device/devicetest"
)

// A fault that never strikes changes nothing.
func TestFaultNone(t *testing.T) {
	if testing.Short() { // under the race detector TestCPU does the same
		t.Skip("short: the same as TestCPU")
	}
	devicetest.Run(t, func(t *testing.T) device.Device {
		return device.NewFault(openCPU(t), device.Fault{})
	})
}

// stream is a small program with every call of a device. It stops at the first
// error and frees what it holds, as an executor does.
func stream(d device.Device) (err error) {
	h, err := d.HostAlloc(1 << 10)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, retry(func() error { return d.HostFree(h) })) }()
	m, err := d.Alloc(2 << 10)
	if err != nil {
		return err
	}
	// Pending tasks use m, so they are drained before it goes.
	defer func() {
		err = errors.Join(err, retry(d.Sync), retry(func() error { return d.Free(m) }))
	}()
	q1, err := d.NewQueue("load")
	if err != nil {
		return err
	}
	q2, err := d.NewQueue("compute")
	if err != nil {
		return err
	}
	e, err := d.NewEvent()
	if err != nil {
		return err
	}
	k := devicetest.Host().Affine(m, 3, 1)
	for range 4 {
		for _, f := range []func() error{
			func() error { return d.CopyH2D(q1, m, 0, h.Bytes()) },
			func() error { return d.Record(q1, e) },
			func() error { return d.Wait(q2, e) },
			func() error { return d.Launch(q2, k) },
			func() error { return d.CopyD2D(q2, m, 1<<10, d, m, 0, 1<<10) },
			func() error { return d.CopyD2H(q2, h.Bytes(), m, 0) },
			d.Sync,
		} {
			if err := f(); err != nil {
				return err
			}
		}
	}
	return nil
}

// retry calls f again when it failed by the injected fault, which strikes once.
func retry(f func() error) error {
	err := f()
	if errors.Is(err, device.ErrInjected) {
		return errors.Join(err, f())
	}
	if errors.Is(err, device.ErrFailed) {
		return nil // reported before
	}
	return err
}

// Every call fails in turn, at once or later, alone or on a null device: the
// program gets an error that names the call, nothing hangs and nothing leaks.
func TestFaultSweep(t *testing.T) {
	inner := map[string]func() device.Device{
		"cpu":  func() device.Device { return openCPU(t) },
		"null": func() device.Device { d, _ := device.NewNull(0, 1<<20); return d },
	}
	for kind, open := range inner {
		for _, op := range append(device.Ops(), device.OpAny) {
			for _, async := range []bool{false, true} {
				count := device.NewFault(open(), device.Fault{Op: op})
				if err := errors.Join(stream(count), count.Close()); err != nil {
					t.Fatalf("%s without a fault: %v", kind, err)
				}
				if count.Calls() == 0 {
					t.Errorf("the program never calls %v", op)
				}
				for n := int64(1); n <= count.Calls(); n++ {
					d := device.NewFault(open(), device.Fault{Op: op, N: n, Async: async})
					err := stream(d)
					var oe *device.OpError
					if !errors.Is(err, device.ErrInjected) || !errors.As(err, &oe) || !strings.Contains(err.Error(), oe.Op.String()) ||
						op != device.OpAny && oe.Op != op {
						t.Errorf("%s, %v %d, async %v: %v", kind, op, n, async, err)
					}
					if err := d.Close(); err != nil {
						t.Errorf("%s, %v %d, async %v: close: %v", kind, op, n, async, err)
					}
				}
			}
		}
	}
}

// An asynchronous fault keeps to the same rules as a failing kernel.
func TestFaultAsync(t *testing.T) {
	cause := errors.New("ECC error")
	d := device.NewFault(openCPU(t), device.Fault{Op: device.OpH2D, N: 2, Async: true, Err: cause})
	q, _ := d.NewQueue("load")
	m, _ := d.Alloc(8)
	dst := make([]byte, 8)
	err := errors.Join(
		d.CopyH2D(q, m, 0, []byte("11111111")),
		d.CopyD2H(q, dst, m, 0),
		d.CopyH2D(q, m, 0, []byte("22222222")), // fails
		d.CopyH2D(q, m, 0, []byte("33333333")), // skipped
		d.Launch(q, devicetest.Host().Affine(m, 2, 2)),
		d.CopyD2H(q, dst, m, 0))
	if err != nil {
		t.Fatal(err)
	}
	err = d.Sync()
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "cpu:0: copy h2d on queue load") {
		t.Errorf("first Sync: %v", err)
	}
	b, err := d.Unwrap().(*device.CPU).Bytes(m)
	if err != nil || string(b) != "11111111" {
		t.Errorf("memory holds %q, %v", b, err)
	}
	if string(dst) != "11111111" {
		t.Errorf("read %q", dst)
	}
	if err := d.Sync(); !errors.Is(err, device.ErrFailed) {
		t.Errorf("second Sync: %v", err)
	}
	if err := d.Launch(q, devicetest.Host().Affine(m, 1, 1)); !errors.Is(err, device.ErrFailed) {
		t.Errorf("launch: %v", err)
	}
	if err := errors.Join(d.Free(m), d.Close()); err != nil {
		t.Error(err)
	}
}

// nullGPU compiles nothing.
type nullGPU struct{ *device.Null }

type nullFunc string

func (f nullFunc) Name() string { return string(f) }

func (d nullGPU) Compile(string, []string) ([]device.Function, error) {
	return []device.Function{nullFunc("f")}, nil
}
func (d nullGPU) Address(device.Mem) (uint64, error)             { return 512, nil }
func (nullGPU) HostAddress([]byte) uint64                        { return 1 << 30 }
func (d nullGPU) Prepare([]device.Command) (device.Batch, error) { return nil, nil }
func (d nullGPU) Release(device.Batch)                           {}
func (d nullGPU) Detail(func(device.Span))                       {}

// A wrapped GPU is a GPU, whose compiling can fail, too.
func TestFaultGPU(t *testing.T) {
	inner, err := device.NewNull(0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var d device.GPU = device.NewFaultGPU(nullGPU{inner}, device.Fault{Op: device.OpCompile, N: 2})
	for n := 1; n <= 3; n++ {
		f, err := d.Compile("", []string{"f"})
		if failed := errors.Is(err, device.ErrInjected) && strings.Contains(err.Error(), "compile"); failed != (n == 2) || len(f) == 0 != failed {
			t.Errorf("call %d: %v, %v", n, f, err)
		}
	}
	if at, err := d.Address(device.Mem{}); at != 512 || err != nil {
		t.Errorf("%d, %v", at, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
