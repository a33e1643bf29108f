package devicetest

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"sagann/device"
)

var errCause = errors.New("as the test asked")

func (s *suite) asyncError(t *testing.T) {
	r := s.rig(t)
	const n = 4096
	q, other := r.queue("compute"), r.queue("other")
	m, e := r.mem(n), r.event()
	before, after := make([]byte, n), words(n, 77)
	r.ok(r.d.CopyH2D(q, m, 0, words(n, 1)))
	r.ok(r.d.CopyD2H(q, before, m, 0))
	q.SetTag(41)
	r.ok(r.d.Launch(q, r.k.Fail(errCause)))
	// Accepted and skipped; the event passes, so that nobody hangs.
	r.ok(r.d.Record(q, e))
	r.ok(r.d.Wait(other, e))
	r.ok(r.d.CopyD2H(other, after, m, 0))
	r.ok(r.d.Launch(q, r.k.Fail(errors.New("a second failure"))))
	err := r.d.Sync()
	r.refused("first Sync", err, errCause)
	var op *device.OpError
	if !errors.As(err, &op) || op.Op != device.OpLaunch || op.Tag != 41 || op.Queue != "compute" ||
		!strings.Contains(err.Error(), r.d.Info().String()) {
		t.Errorf("error %q (%+v), want one that names the launch", err, op)
	}
	r.same("copied before the failure", before, words(n, 1))
	r.same("skipped after it", after, words(n, 77))

	err = r.d.Sync()
	r.refused("second Sync", err, device.ErrFailed)
	r.refused("h2d", r.d.CopyH2D(q, m, 0, before), device.ErrFailed)
	r.refused("d2h", r.d.CopyD2H(q, before, m, 0), device.ErrFailed)
	r.refused("d2d", r.d.CopyD2D(q, m, 0, r.d, m, 64, 64), device.ErrFailed)
	r.refused("launch", r.d.Launch(q, r.nop(m)), device.ErrFailed)
	r.refused("record", r.d.Record(q, e), device.ErrFailed)
	r.refused("wait", r.d.Wait(q, e), device.ErrFailed)
	_, err = r.d.Alloc(1)
	r.refused("alloc", err, device.ErrFailed)
	r.ok(r.d.Free(m))
}

func (s *suite) asyncErrorAtClose(t *testing.T) {
	d := s.open(t)
	r := &rig{t, d, s.kernels}
	q := r.queue("q")
	r.ok(d.Launch(q, r.k.Fail(errCause)))
	r.refused("Close without Sync", d.Close(), errCause)
}

// concurrent has goroutines share a device, each with a queue and memory of its
// own, and all with one event.
func (s *suite) concurrent(t *testing.T) {
	r := s.rig(t)
	shared := r.event()
	first := r.queue("first")
	r.ok(r.d.Record(first, shared))
	var wg sync.WaitGroup
	for g := range uint32(6) {
		wg.Go(func() {
			q, err := r.d.NewQueue("worker")
			if err != nil {
				t.Error(err)
				return
			}
			for i := range uint32(60) {
				n := int(1+(g+i)%7) * 1000
				m, err := r.d.Alloc(int64(n))
				if err != nil {
					t.Error(err)
					return
				}
				src, dst := words(n, g*i), make([]byte, n)
				err = errors.Join(
					r.d.CopyH2D(q, m, 0, src),
					r.d.Record(q, shared),
					r.d.Launch(q, r.k.Affine(m, 2*g+1, i)),
					r.d.Wait(q, shared),
					r.d.CopyD2H(q, dst, m, 0),
					r.d.Sync(),
					r.d.Free(m))
				r.d.Counters()
				affine(src, 2*g+1, i)
				if err != nil || string(src) != string(dst) {
					t.Errorf("worker %d step %d: wrong bytes, or %v", g, i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	c := r.d.Counters()
	if c.Copies != 6*60*2 || c.Launches != 6*60 || c.Used != 0 || c.H2D != c.D2H {
		t.Errorf("counters %+v", c)
	}
}
