//go:build cuda

package device_test

import (
	"errors"
	"testing"

	"sagann/device"
)

// A captured step over two queues, with a copy down, a kernel and a copy up, does at every
// replay what it did when it was submitted task by task, and counts as much.
func TestCUDACapture(t *testing.T) {
	const words = 1 << 20 // HostAlloc pins from a megabyte on
	d := openCUDA(t).(device.Capturer)
	k := &cudaKernels{}
	q1, err1 := d.NewQueue("compute")
	q2, err2 := d.NewQueue("h2d")
	loaded, err3 := d.NewEvent()
	m, err4 := d.Alloc(4 * words)
	in, err5 := d.HostAlloc(4 * words)
	out, err6 := d.HostAlloc(4 * words)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
	src, dst := device.View[uint32](in.Bytes()), device.View[uint32](out.Bytes())
	kernel := k.launch(t, 0, m, 3, 5)
	if _, err := kernel.(device.GPUKernel).Batch(d); err != nil { // compiles
		t.Fatal(err)
	}
	step := func() error {
		return errors.Join(d.CopyH2D(q2, m, 0, in.Bytes()), d.Record(q2, loaded), d.Wait(q1, loaded),
			d.Launch(q1, kernel), d.CopyD2H(q1, out.Bytes(), m, 0))
	}
	before := d.Counters()
	g, err := d.Capture([]device.Queue{q1, q2}, step)
	if err != nil {
		t.Fatal(err)
	}
	if c := d.Counters(); c.H2D != before.H2D || c.Launches != before.Launches || g.Tasks() != 3 {
		t.Errorf("a capture of %d tasks counted %+v", g.Tasks(), c)
	}
	for n := range uint32(3) {
		for i := range src {
			src[i] = uint32(i) * (n + 7)
		}
		if err := errors.Join(d.Replay(g), d.Sync()); err != nil {
			t.Fatal(err)
		}
		for i, x := range dst {
			if want := src[i]*3 + 5; x != want {
				t.Fatalf("replay %d: word %d is %d, want %d", n, i, x, want)
			}
		}
	}
	if c := d.Counters(); c.H2D != before.H2D+3*4*words || c.D2H != before.D2H+3*4*words || c.Launches != before.Launches+3 {
		t.Errorf("three replays: %+v after %+v", c, before)
	}
	// Memory that is not pinned cannot be kept; the device goes on.
	if _, err := d.Capture([]device.Queue{q1, q2}, func() error { return d.CopyH2D(q2, m, 0, make([]byte, 4096)) }); err == nil {
		t.Error("a copy from memory that is not pinned was captured")
	}
	// Nor can what lies in a file, whichever way it is copied, also where its buffer is there.
	if f, err := device.NewHostFile(t.TempDir(), 4096); err == nil {
		defer f.Close()
		for range 2 {
			for _, copies := range []func() error{
				func() error { return d.CopyH2D(q2, m, 0, f.Bytes()) },
				func() error { return d.CopyD2H(q2, f.Bytes(), m, 0) },
				func() error { return d.CopyRows(q2, m, 0, f.Bytes(), 64, []uint32{1, 5}) },
			} {
				if _, err := d.Capture([]device.Queue{q1, q2}, copies); err == nil {
					t.Error("a copy from or to a file was captured")
				}
				if err := errors.Join(copies(), d.Sync()); err != nil {
					t.Error(err)
				}
			}
		}
	}
	boom := errors.New("boom")
	if _, err := d.Capture([]device.Queue{q1, q2}, func() error { return errors.Join(d.Launch(q1, kernel), boom) }); !errors.Is(err, boom) {
		t.Errorf("error %v, want that of the captured function", err)
	}
	if err := errors.Join(step(), d.Sync(), d.Replay(g), d.Sync()); err != nil {
		t.Error(err)
	}
	if err := errors.Join(d.Free(m), d.HostFree(in), d.HostFree(out), d.Close()); err != nil {
		t.Error(err)
	}
}
