package devicetest

import (
	"errors"
	"math"
	"testing"

	"sagann/device"
)

func (s *suite) alloc(t *testing.T) {
	r := s.rig(t)
	var held []device.Mem
	for _, n := range []int64{1, 63, 64, 65, 0, 4096, 1000003} {
		m := r.mem(n)
		if m.Len() != n || m.Off()%device.Align != 0 || m.Off() < 0 || m.Off()+n > r.d.Info().Budget {
			t.Errorf("alloc %d: %d bytes at %d", n, m.Len(), m.Off())
		}
		for _, o := range held {
			if m.Off() < o.Off()+o.Len() && o.Off() < m.Off()+n {
				t.Errorf("blocks overlap: %d bytes at %d, %d at %d", m.Len(), m.Off(), o.Len(), o.Off())
			}
		}
		held = append(held, m)
	}
	for _, n := range []int64{-1, math.MinInt64} {
		_, err := r.d.Alloc(n)
		r.refused("negative size", err, nil)
	}
	want := int64(64 + 64 + 64 + 128 + 4096 + 1000064)
	if c := r.d.Counters(); c.Used != want || c.Peak != want {
		t.Errorf("used %d, peak %d, want %d", c.Used, c.Peak, want)
	}
	for _, m := range held {
		r.ok(r.d.Free(m))
	}
	if c := r.d.Counters(); c.Used != 0 || c.Peak != want {
		t.Errorf("after Free: used %d, peak %d, want 0, %d", c.Used, c.Peak, want)
	}
}

// usable is the budget in whole blocks.
func usable(d device.Device) int64 { return d.Info().Budget &^ (device.Align - 1) }

func (s *suite) budget(t *testing.T) {
	r := s.rig(t)
	all := r.d.Info().Budget
	over := func(asked, used int64) {
		t.Helper()
		_, err := r.d.Alloc(asked)
		var b *device.BudgetError
		if !errors.As(err, &b) {
			t.Errorf("alloc %d with %d used: error %v, want a BudgetError", asked, used, err)
		} else if b.Asked != asked || b.Used != used || b.Budget != all || b.Host {
			t.Errorf("alloc %d with %d used of %d: %+v", asked, used, all, b)
		}
	}
	if all < math.MaxInt64 {
		over(all+1, 0)
		over(math.MaxInt64, 0)
	}
	m := r.mem(usable(r.d)) // all of it in one block
	over(1, usable(r.d))
	r.ok(r.d.Free(m))

	a := r.mem(4096)
	over(usable(r.d)-4095, 4096)
	b := r.mem(usable(r.d) - 4096) // the rest to the byte
	over(1, usable(r.d))
	r.ok(r.d.Free(a))
	over(4097, usable(r.d)-4096)
	r.ok(r.d.Free(r.mem(4096)))
	r.ok(r.d.Free(b))
	if c := r.d.Counters(); c.Used != 0 || c.Peak != usable(r.d) {
		t.Errorf("used %d, peak %d, want 0, %d", c.Used, c.Peak, usable(r.d))
	}
}

func (s *suite) fragments(t *testing.T) {
	r := s.rig(t)
	part := usable(r.d) / 8 &^ (device.Align - 1)
	var held []device.Mem
	for range 7 {
		held = append(held, r.mem(part))
	}
	held = append(held, r.mem(usable(r.d)-7*part))
	for i := 0; i < 8; i += 2 {
		r.ok(r.d.Free(held[i]))
	}
	_, err := r.d.Alloc(2 * part)
	var b *device.BudgetError
	if !errors.As(err, &b) || b.Largest != part || b.Used+b.Asked > b.Budget {
		t.Errorf("in a fragmented arena: %v (%+v), want a largest block of %d", err, b, part)
	}
	for _, i := range []int{3, 1, 7, 5} { // joins with both sides, and with the end
		r.ok(r.d.Free(held[i]))
	}
	r.ok(r.d.Free(r.mem(usable(r.d))))
}

func (s *suite) free(t *testing.T) {
	r, other := s.rig(t), s.rig(t)
	q := r.queue("q")
	m := r.mem(1024)
	keep := r.temp(1024)
	r.refused("free of a slice", r.d.Free(m.Slice(0, 512)), nil)
	r.refused("free of a slice", r.d.Free(m.Slice(64, 960)), nil)
	r.refused("free of another device's block", other.d.Free(m), nil)
	r.refused("free of nothing", r.d.Free(device.Mem{}), nil)
	r.ok(r.d.Free(m))
	r.refused("second free", r.d.Free(m), nil)
	again := r.temp(1024) // takes the same place
	r.refused("free of the block before", r.d.Free(m), nil)
	r.refused("copy to a freed block", r.d.CopyH2D(q, m, 0, make([]byte, 8)), nil)
	r.ok(r.d.CopyH2D(q, again, 0, make([]byte, 1024)))
	r.ok(r.d.CopyH2D(q, keep.Slice(512, 512), 0, make([]byte, 512)))
	r.ok(r.d.Sync())
}

func (s *suite) host(t *testing.T) {
	r, other := s.rig(t), s.rig(t)
	var held []device.HostMem
	sizes := []int64{1, 100, 0, 1 << 20, 3<<20 + 5}
	var sum int64
	for _, n := range sizes {
		h, err := r.d.HostAlloc(n)
		r.ok(err)
		if int64(len(h.Bytes())) != n {
			t.Errorf("host alloc %d: %d bytes", n, len(h.Bytes()))
		}
		for i := range h.Bytes() {
			h.Bytes()[i] = byte(i)
		}
		held = append(held, h)
		sum += n
	}
	_, err := r.d.HostAlloc(-1)
	r.refused("negative size", err, nil)
	if c := r.d.Counters(); c.HostUsed != sum || c.HostPeak != sum || c.Used != 0 {
		t.Errorf("host used %d, peak %d, want %d; arena used %d, want 0", c.HostUsed, c.HostPeak, sum, c.Used)
	}
	r.refused("free of another device's host memory", other.d.HostFree(held[0]), nil)
	r.refused("free of nothing", r.d.HostFree(device.HostMem{}), nil)
	for _, h := range held {
		r.ok(r.d.HostFree(h))
	}
	if c := r.d.Counters(); c.HostUsed != 0 || c.HostPeak != sum {
		t.Errorf("after HostFree: used %d, peak %d, want 0, %d", c.HostUsed, c.HostPeak, sum)
	}
	r.refused("second free", r.d.HostFree(held[0]), nil)
}

func (s *suite) leak(t *testing.T) {
	d := s.open(t)
	for _, n := range []int64{100, 64} {
		if _, err := d.Alloc(n); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.HostAlloc(2 << 20); err != nil {
		t.Fatal(err)
	}
	err := d.Close()
	var l *device.LeakError
	if !errors.As(err, &l) {
		t.Fatalf("close: %v, want a LeakError", err)
	}
	if l.Blocks != 2 || l.Bytes != 192 || l.HostBlocks != 1 || l.HostBytes != 2<<20 {
		t.Errorf("%+v", l)
	}
}
