package devicetest

import (
	"math/rand/v2"
	"testing"

	"sagann/device"
)

// slow gives q work that takes a millisecond or more, on memory of its own.
func (r *rig) slow(q device.Queue, m device.Mem) {
	r.t.Helper()
	for range 8 {
		r.ok(r.d.Launch(q, r.k.Affine(m, 3, 1)))
	}
}

func (s *suite) eventOrder(t *testing.T) {
	r := s.rig(t)
	const n = 1 << 16
	load, compute, store := r.queue("load"), r.queue("compute"), r.queue("store")
	ready, done := r.event(), r.event()
	busy, m := r.temp(1<<20), r.temp(n)
	dst := make([]byte, n)
	r.slow(load, busy)
	r.ok(r.d.CopyH2D(load, m, 0, words(n, 1)))
	r.ok(r.d.Record(load, ready))
	r.ok(r.d.Wait(compute, ready))
	r.ok(r.d.Launch(compute, r.k.Affine(m, 5, 2)))
	r.ok(r.d.Record(compute, done))
	r.ok(r.d.Wait(store, done))
	r.ok(r.d.CopyD2H(store, dst, m, 0))
	r.ok(r.d.Sync())
	want := words(n, 1)
	affine(want, 5, 2)
	r.same("three queues", dst, want)
}

// eventAwaited waits on the host for what one queue has done, while another has work left.
func (s *suite) eventAwaited(t *testing.T) {
	r := s.rig(t)
	const n = 1 << 16
	busy, q := r.queue("busy"), r.queue("q")
	e, slow, m := r.event(), r.temp(1<<20), r.temp(n)
	for i := range uint32(3) {
		r.slow(busy, slow)
		dst, want := make([]byte, n), words(n, i)
		r.ok(r.d.CopyH2D(q, m, 0, words(n, i)))
		r.ok(r.d.Launch(q, r.k.Affine(m, 5, 2)))
		r.ok(r.d.CopyD2H(q, dst, m, 0))
		r.ok(r.d.Record(q, e))
		r.ok(device.Await(r.d, e))
		affine(want, 5, 2)
		r.same("what was awaited", dst, want)
	}
	r.ok(r.d.Sync())
}

// eventAgain streams chunks through two buffers, each with three events that
// are recorded anew for each chunk: the pattern of an epoch.
func (s *suite) eventAgain(t *testing.T) {
	r := s.rig(t)
	const n, steps = 4096, 1000
	load, compute, store := r.queue("load"), r.queue("compute"), r.queue("store")
	type slot struct {
		m                      device.Mem
		loaded, computed, free device.Event
	}
	var slots [2]slot
	for i := range slots {
		slots[i] = slot{r.temp(n), r.event(), r.event(), r.event()}
	}
	src, dst := make([][]byte, steps), make([][]byte, steps)
	for i := range steps {
		src[i], dst[i] = words(n, uint32(i)), make([]byte, n)
		b := &slots[i%2]
		if i >= 2 {
			r.ok(r.d.Wait(load, b.free))
		}
		r.ok(r.d.CopyH2D(load, b.m, 0, src[i]))
		r.ok(r.d.Record(load, b.loaded))
		r.ok(r.d.Wait(compute, b.loaded))
		r.ok(r.d.Launch(compute, r.k.Affine(b.m, uint32(i)|1, 7)))
		r.ok(r.d.Record(compute, b.computed))
		r.ok(r.d.Wait(store, b.computed))
		r.ok(r.d.CopyD2H(store, dst[i], b.m, 0))
		r.ok(r.d.Record(store, b.free))
	}
	r.ok(r.d.Sync())
	for i := range steps {
		affine(src[i], uint32(i)|1, 7)
		r.same("streamed chunk", dst[i], src[i])
	}
}

// eventElsewhere records one event in a busy queue, waits for it, and records
// it again in an idle queue, which ends first. The wait must still be for the first
// record.
func (s *suite) eventElsewhere(t *testing.T) {
	r := s.rig(t)
	const n = 4096
	busyQ, idleQ, waitQ, lateQ := r.queue("busy"), r.queue("idle"), r.queue("wait"), r.queue("late")
	busy, m, z := r.temp(1<<20), r.temp(n), r.temp(n)
	e := r.event()
	for step := range 4 {
		dst, late := make([]byte, n), make([]byte, n)
		src := words(n, uint32(100*step))
		r.slow(busyQ, busy)
		r.ok(r.d.CopyH2D(busyQ, m, 0, src))
		r.ok(r.d.Record(busyQ, e))
		r.ok(r.d.Wait(waitQ, e))
		r.ok(r.d.CopyH2D(idleQ, z, 0, src))
		r.ok(r.d.Record(idleQ, e))
		r.ok(r.d.CopyD2H(waitQ, dst, m, 0))
		r.ok(r.d.Wait(lateQ, e))
		r.ok(r.d.CopyD2H(lateQ, late, z, 0))
		r.ok(r.d.Sync())
		r.same("first record", dst, src)
		r.same("second record", late, src)
	}
}

// eventPeer orders the queues of two devices in both directions.
func (s *suite) eventPeer(t *testing.T) {
	a, b := s.rig(t), s.rig(t)
	const n, steps = 4096, 200
	qa, qb := a.queue("a"), b.queue("b")
	ea, eb := a.event(), b.event()
	ma, mb := a.temp(n), b.temp(n)
	state := words(n, 11)
	a.ok(a.d.CopyH2D(qa, ma, 0, append([]byte(nil), state...)))
	for i := range uint32(steps) {
		a.ok(a.d.Launch(qa, a.k.Affine(ma, 3, i)))
		a.ok(a.d.Record(qa, ea))
		b.ok(b.d.Wait(qb, ea))
		b.ok(b.d.CopyD2D(qb, mb, 0, a.d, ma, 0, n))
		b.ok(b.d.Launch(qb, b.k.Affine(mb, 5, i)))
		b.ok(b.d.Record(qb, eb))
		a.ok(a.d.Wait(qa, eb))
		a.ok(a.d.CopyD2D(qa, ma, 0, b.d, mb, 0, n))
		affine(state, 3, i)
		affine(state, 5, i)
	}
	dst := make([]byte, n)
	a.ok(a.d.CopyD2H(qa, dst, ma, 0))
	a.ok(a.d.Sync())
	b.ok(b.d.Sync())
	a.same("ping-pong", dst, state)
}

// random runs programs of copies and kernels over several queues and compares
// with the same program run in sequence. Each buffer has one event, recorded
// by whoever touched the buffer last.
func (s *suite) random(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		r := s.rig(t)
		const buffers, n, tasks = 5, 2048, 300
		var queues []device.Queue
		for range 2 + rng.IntN(3) {
			queues = append(queues, r.queue("q"))
		}
		var m [buffers]device.Mem
		var e [buffers]device.Event
		var last [buffers]device.Queue
		var want [buffers][]byte
		for i := range m {
			m[i], e[i] = r.temp(n), r.event()
			want[i] = words(n, uint32(i))
			last[i] = queues[0]
			r.ok(r.d.CopyH2D(queues[0], m[i], 0, words(n, uint32(i))))
			r.ok(r.d.Record(queues[0], e[i]))
		}
		var got, expect [][]byte
		for range tasks {
			q := queues[rng.IntN(len(queues))]
			i, j := rng.IntN(buffers), rng.IntN(buffers)
			for _, k := range []int{i, j} {
				if last[k] != q {
					r.ok(r.d.Wait(q, e[k]))
				}
			}
			x := rng.Uint32()
			switch op := rng.IntN(4); {
			case op == 0:
				r.ok(r.d.CopyH2D(q, m[i], 0, words(n, x)))
				want[i] = words(n, x)
			case op == 1:
				dst := make([]byte, n)
				r.ok(r.d.CopyD2H(q, dst, m[i], 0))
				got, expect = append(got, dst), append(expect, append([]byte(nil), want[i]...))
			case op == 2 && i != j:
				r.ok(r.d.CopyD2D(q, m[i], 0, r.d, m[j], 0, n))
				copy(want[i], want[j])
			default:
				r.ok(r.d.Launch(q, r.k.Affine(m[i], x|1, x>>7)))
				affine(want[i], x|1, x>>7)
			}
			for _, k := range []int{i, j} {
				r.ok(r.d.Record(q, e[k]))
				last[k] = q
			}
		}
		r.ok(r.d.Sync())
		for i := range got {
			r.same("random program", got[i], expect[i])
		}
	}
}
