package device_test

import (
	"errors"
	"testing"

	"sagann/device"
	"sagann/device/devicetest"
)

func TestNull(t *testing.T) {
	for name, budget := range map[string]int64{"budget": 16<<20 + 5, "no budget": 0} {
		t.Run(name, func(t *testing.T) {
			devicetest.RunCounts(t, func(t *testing.T) device.Device {
				d, err := device.NewNull(0, budget)
				if err != nil {
					t.Fatal(err)
				}
				return d
			})
		})
	}
	if _, err := device.NewNull(0, -1); err == nil {
		t.Error("negative budget: no error")
	}
}

// The null device runs kernels of every kind, and touches nothing.
func TestNullComputesNothing(t *testing.T) {
	d, err := device.NewNull(3, 0)
	if err != nil {
		t.Fatal(err)
	}
	q, _ := d.NewQueue("q")
	m, err := d.Alloc(1 << 50) // no memory is behind it
	if err != nil {
		t.Fatal(err)
	}
	dst := []byte{1, 2, 3}
	for _, err := range []error{d.Launch(q, alienKernel{}), d.CopyD2H(q, dst, m, 1<<49), d.Sync(), d.Free(m), d.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	if dst[0] != 1 || d.Counters().Peak != 1<<50 || d.Info().String() != "null:3" {
		t.Errorf("%v, %+v", dst, d.Counters())
	}
}

// Rows that come to the null device are counted, and must fit.
func TestNullRows(t *testing.T) {
	d, err := device.NewNull(0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	q, _ := d.NewQueue("q")
	m, err := d.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	src := make([]byte, 100)
	if err := d.CopyRows(q, m, 0, src, 10, []uint32{1, 4, 9}); err != nil {
		t.Error(err)
	}
	if err := d.CopyRows(q, m, 20, src, 10, []uint32{1, 9}); err == nil {
		t.Error("a row behind the end of the memory is no error")
	}
	if n := d.Counters().H2D; n != 30 {
		t.Errorf("%d bytes of three rows", n)
	}
	if err := errors.Join(d.Sync(), d.Free(m), d.Close()); err != nil {
		t.Error(err)
	}
}
