package devicetest

import (
	"math"
	"sync"
	"testing"

	"sagann/device"
)

// nop is a kernel for the suite's accounting part.
func (r *rig) nop(m device.Mem) device.Kernel {
	if r.k.Affine == nil {
		return device.HostFunc("nop", func([]byte) error { return nil })
	}
	return r.k.Affine(m, 1, 0)
}

func (s *suite) arguments(t *testing.T) {
	r, other := s.rig(t), s.rig(t)
	q, foreign := r.queue("q"), other.queue("foreign")
	e, foreignEvent := r.event(), other.event()
	m, theirs := r.temp(1000), other.temp(1000)
	d := r.d
	for _, off := range []int64{-1, 993, 1001, math.MaxInt64, math.MinInt64} {
		r.refused("H2D outside", d.CopyH2D(q, m, off, make([]byte, 8)), nil)
		r.refused("D2H outside", d.CopyD2H(q, make([]byte, 8), m, off), nil)
		r.refused("D2D to outside", d.CopyD2D(q, m, off, d, m, 0, 8), nil)
		r.refused("D2D from outside", d.CopyD2D(q, m, 0, d, m, off, 8), nil)
	}
	r.refused("D2D of too much", d.CopyD2D(q, m, 0, d, m, 0, 1001), nil)
	r.refused("D2D of less than nothing", d.CopyD2D(q, m, 0, d, m, 0, -1), nil)
	r.refused("D2D of another's as own", d.CopyD2D(q, m, 0, d, theirs, 0, 8), nil)
	r.refused("D2D of own as another's", d.CopyD2D(q, m, 0, other.d, m, 0, 8), nil)
	r.refused("D2D from no device", d.CopyD2D(q, m, 0, nil, m, 0, 8), nil)
	r.refused("H2D to another's block", d.CopyH2D(q, theirs, 0, make([]byte, 8)), nil)
	r.refused("D2H from another's block", d.CopyD2H(q, make([]byte, 8), theirs, 0), nil)
	r.refused("H2D to nothing", d.CopyH2D(q, device.Mem{}, 0, nil), nil)
	for _, bad := range []device.Queue{foreign, nil} {
		r.refused("H2D on a wrong queue", d.CopyH2D(bad, m, 0, make([]byte, 8)), nil)
		r.refused("D2H on a wrong queue", d.CopyD2H(bad, make([]byte, 8), m, 0), nil)
		r.refused("D2D on a wrong queue", d.CopyD2D(bad, m, 0, d, m, 500, 8), nil)
		r.refused("launch on a wrong queue", d.Launch(bad, r.nop(m)), nil)
		r.refused("record on a wrong queue", d.Record(bad, e), nil)
		r.refused("wait on a wrong queue", d.Wait(bad, e), nil)
	}
	r.refused("launch of nothing", d.Launch(q, nil), nil)
	r.refused("record of another's event", d.Record(q, foreignEvent), nil)
	r.refused("record of nothing", d.Record(q, nil), nil)
	r.refused("wait for nothing", d.Wait(q, nil), nil)
	r.ok(d.Sync()) // a refused call leaves no trace
	if c := d.Counters(); c.Copies != 0 || c.Launches != 0 || c.H2D+c.D2H+c.D2D != 0 {
		t.Errorf("refused calls were counted: %+v", c)
	}
}

func (s *suite) waitBeforeRecord(t *testing.T) {
	r, other := s.rig(t), s.rig(t)
	q, e := r.queue("q"), r.event()
	r.refused("wait before record", r.d.Wait(q, e), device.ErrNotRecorded)
	r.refused("wait for a peer's event before record", r.d.Wait(q, other.event()), device.ErrNotRecorded)
	if n := e.Recorded(); n != 0 {
		t.Errorf("recorded %d times, want 0", n)
	}
	r.ok(r.d.Record(q, e))
	r.ok(r.d.Wait(q, e))
	r.ok(r.d.Record(q, e))
	if n := e.Recorded(); n != 2 {
		t.Errorf("recorded %d times, want 2", n)
	}
	r.ok(r.d.Sync())
}

func (s *suite) counters(t *testing.T) {
	r, other := s.rig(t), s.rig(t)
	q, theirs := r.queue("q"), other.queue("q")
	m, peer := r.temp(1<<16), other.temp(1<<16)
	host := make([]byte, 1<<16)
	r.ok(other.d.CopyH2D(theirs, peer, 0, host))
	r.ok(other.d.Sync())
	var want device.Counters
	for i := range 50 {
		n := int64(i * 97)
		r.ok(r.d.CopyH2D(q, m, n, host[:n]))
		r.ok(r.d.CopyH2D(q, m, 0, host[:100]))
		r.ok(r.d.CopyD2H(q, host[:2*n], m, 5))
		r.ok(r.d.CopyD2D(q, m, 1<<15, r.d, m, 0, 3*n))
		r.ok(r.d.CopyD2D(q, m, 0, other.d, peer, 1, 11))
		r.ok(r.d.Launch(q, r.nop(m)))
		want.H2D += n + 100
		want.D2H += 2 * n
		want.D2D += 3*n + 11
		want.Copies += 5
		want.Launches++
	}
	r.ok(r.d.Sync())
	got := r.d.Counters()
	want.Used, want.Peak = 1<<16, 1<<16
	if got != want {
		t.Errorf("counters %+v, want %+v", got, want)
	}
	if c := other.d.Counters(); c.D2D != 0 || c.Copies != 1 {
		t.Errorf("the peer counted the copies of this device: %+v", c)
	}
}

func (s *suite) trace(t *testing.T) {
	r := s.rig(t)
	q := r.queue("traced")
	m := r.temp(4096)
	var mu sync.Mutex
	var spans []device.Span
	r.d.SetTrace(func(s device.Span) {
		mu.Lock()
		defer mu.Unlock()
		spans = append(spans, s)
	})
	host := make([]byte, 4096)
	for i := range 10 {
		q.SetTag(int64(i))
		if q.Tag() != int64(i) {
			t.Errorf("tag %d, want %d", q.Tag(), i)
		}
		r.ok(r.d.CopyH2D(q, m, 0, host[:i*10]))
		r.ok(r.d.Launch(q, r.nop(m)))
	}
	r.ok(r.d.Sync())
	r.d.SetTrace(nil)
	r.ok(r.d.CopyH2D(q, m, 0, host))
	r.ok(r.d.Sync())
	mu.Lock()
	defer mu.Unlock()
	if len(spans) != 20 {
		t.Fatalf("%d spans, want 20", len(spans))
	}
	for i, s := range spans {
		op, bytes := device.OpH2D, int64(i/2*10)
		if i%2 == 1 {
			op, bytes = device.OpLaunch, 0
		}
		if s.Op != op || s.Bytes != bytes || s.Tag != int64(i/2) || s.Queue != "traced" || s.Device != r.d.Info() ||
			s.End < s.Start || i > 0 && s.Start < spans[i-1].End {
			t.Errorf("span %d: %+v", i, s)
		}
	}
}

func (s *suite) closed(t *testing.T) {
	r, open := s.rig(t), s.rig(t)
	d := r.d
	q, e, m, h := r.queue("q"), r.event(), r.mem(0), device.HostMem{}
	theirs, peer := open.queue("q"), open.temp(8)
	r.ok(d.Free(m))
	m = r.mem(64)
	r.ok(d.Record(q, e))
	r.ok(d.Free(m))
	r.ok(d.Close())
	r.ok(d.Close())
	_, err := d.Alloc(1)
	r.refused("alloc", err, device.ErrClosed)
	_, err = d.HostAlloc(1)
	r.refused("host alloc", err, device.ErrClosed)
	_, err = d.NewQueue("q")
	r.refused("new queue", err, device.ErrClosed)
	_, err = d.NewEvent()
	r.refused("new event", err, device.ErrClosed)
	r.refused("free", d.Free(m), device.ErrClosed)
	r.refused("host free", d.HostFree(h), device.ErrClosed)
	r.refused("h2d", d.CopyH2D(q, m, 0, nil), device.ErrClosed)
	r.refused("d2h", d.CopyD2H(q, nil, m, 0), device.ErrClosed)
	r.refused("d2d", d.CopyD2D(q, m, 0, d, m, 0, 0), device.ErrClosed)
	r.refused("launch", d.Launch(q, r.nop(m)), device.ErrClosed)
	r.refused("record", d.Record(q, e), device.ErrClosed)
	r.refused("wait", d.Wait(q, e), device.ErrClosed)
	r.refused("sync", d.Sync(), device.ErrClosed)
	r.refused("d2d from a closed device", open.d.CopyD2D(theirs, peer, 0, d, m, 0, 8), nil)
	d.Counters()
	r.ok(open.d.Sync())
}
