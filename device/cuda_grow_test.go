//go:build cuda

package device_test

import (
	"bytes"
	"errors"
	"testing"

	"sagann/device"
)

// TestCUDAAsUsed: two GPUs that take memory as they use it have larger budgets than the card together; blocks hold what is
// written, also those that come where others were; what the card does not have is an error that says what it has, and the
// device goes on.
func TestCUDAAsUsed(t *testing.T) {
	system, err := device.CUDASystem()
	if err != nil {
		t.Skip(err)
	}
	card, err := system.Card(0)
	if err != nil {
		t.Fatal(err)
	}
	var both [2]device.Device
	for i := range both {
		if both[i], err = device.OpenCUDA(0, card.Total*3/2, device.AsUsed()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := both[i].Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	for i, d := range both {
		q, err := d.NewQueue("test")
		if err != nil {
			t.Fatal(err)
		}
		for round := range 3 {
			var held []device.Mem
			for _, n := range []int64{100, 3<<20 + 1, 64 << 20} {
				m, err := d.Alloc(n << round)
				if err != nil {
					t.Fatal(err)
				}
				held = append(held, m)
				in := bytes.Repeat([]byte{byte(n) + byte(i) + 1}, int(m.Len()))
				out := make([]byte, len(in))
				if err := errors.Join(d.CopyH2D(q, m, 0, in), d.CopyD2H(q, out, m, 0), d.Sync()); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(in, out) {
					t.Errorf("%d bytes are not what was written", n)
				}
			}
			for _, m := range held {
				if err := d.Free(m); err != nil {
					t.Fatal(err)
				}
			}
		}
		var none *device.MemoryError
		if _, err := d.Alloc(card.Total + card.Total/4); !errors.As(err, &none) {
			t.Errorf("more than the card has: %v", err)
		}
		if m, err := d.Alloc(1 << 20); err != nil {
			t.Error(err)
		} else if err := d.Free(m); err != nil {
			t.Error(err)
		}
	}
	if after, err := system.Card(0); err == nil && card.Free-after.Free > 2<<30 {
		t.Errorf("%d bytes of the card are taken for blocks of 268 MiB", card.Free-after.Free)
	}
}
