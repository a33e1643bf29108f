package devicetest

import (
	"testing"

	"sagann/device"
)

func (s *suite) roundTrip(t *testing.T) {
	r := s.rig(t)
	q := r.queue("q")
	for _, n := range []int{4, 64, 4096, 1 << 20, 3<<20 + 4} {
		m := r.mem(int64(n) + 8)
		src, dst := words(n, uint32(n)), make([]byte, n)
		r.ok(r.d.CopyH2D(q, m, 4, src))
		r.ok(r.d.CopyD2H(q, dst, m, 4))
		r.ok(r.d.Sync())
		r.same("round trip", dst, src)

		// Parts, unaligned, through slices; the rest stays as it was.
		part := m.Slice(4, int64(n))
		r.ok(r.d.CopyH2D(q, part, 1, []byte{9, 8}))
		r.ok(r.d.CopyD2H(q, dst, part, 0))
		r.ok(r.d.Sync())
		src[1], src[2] = 9, 8
		r.same("part", dst, src)
		r.ok(r.d.Free(m))
	}
	h, err := r.d.HostAlloc(2 << 20)
	r.ok(err)
	back, err := r.d.HostAlloc(2 << 20)
	r.ok(err)
	m := r.temp(2 << 20)
	copy(h.Bytes(), words(2<<20, 7))
	r.ok(r.d.CopyH2D(q, m, 0, h.Bytes()))
	r.ok(r.d.CopyD2H(q, back.Bytes(), m, 0))
	r.ok(r.d.Sync())
	r.same("through host memory", back.Bytes(), words(2<<20, 7))
	r.ok(r.d.HostFree(h))
	r.ok(r.d.HostFree(back))
}

func (s *suite) copyWithin(t *testing.T) {
	r := s.rig(t)
	q := r.queue("q")
	m := r.temp(3 << 12)
	dst := make([]byte, 3<<12)
	r.ok(r.d.CopyH2D(q, m, 0, words(3<<12, 1)))
	r.ok(r.d.CopyD2D(q, m, 2<<12, r.d, m, 0, 1<<12))
	r.ok(r.d.CopyD2H(q, dst, m, 0))
	r.ok(r.d.Sync())
	want := words(3<<12, 1)
	copy(want[2<<12:], want[:1<<12])
	r.same("copy within", dst, want)
}

func (s *suite) copyPeer(t *testing.T) {
	r, peer := s.rig(t), s.rig(t)
	q, theirs := r.queue("q"), peer.queue("q")
	e := peer.event()
	const n = 1 << 20
	from, to := peer.temp(n), r.temp(n)
	dst := make([]byte, n)
	for step := range 5 {
		src := words(n, uint32(step)*7919)
		r.ok(peer.d.CopyH2D(theirs, from, 0, src))
		r.ok(peer.d.Record(theirs, e))
		r.ok(r.d.Wait(q, e))
		r.ok(r.d.CopyD2D(q, to, 0, peer.d, from, 0, n))
		r.ok(r.d.CopyD2H(q, dst, to, 0))
		r.ok(r.d.Sync())
		r.same("from a peer", dst, src)
	}

	// The peer may be closed while a copy from it is under way.
	third := s.open(t)
	q3, err := third.NewQueue("q")
	r.ok(err)
	e3, err := third.NewEvent()
	r.ok(err)
	m3, err := third.Alloc(n)
	r.ok(err)
	src := words(n, 5)
	r.ok(third.CopyH2D(q3, m3, 0, src))
	r.ok(third.Record(q3, e3))
	r.ok(r.d.Wait(q, e3))
	r.ok(r.d.CopyD2D(q, to, 0, third, m3, 0, n))
	r.refused("close with a block held", third.Close(), nil)
	r.ok(r.d.CopyD2H(q, dst, to, 0))
	r.ok(r.d.Sync())
	r.same("from a peer that closes", dst, src)
}

func (s *suite) queueOrder(t *testing.T) {
	r := s.rig(t)
	q := r.queue("q")
	const n = 64 << 10
	m := r.temp(n)
	state := words(n, 3)
	var back [][]byte
	var want [][]byte
	host := append([]byte(nil), state...)
	r.ok(r.d.CopyH2D(q, m, 0, host))
	for i := range 300 {
		a, b := uint32(2*i+3), uint32(i*i)
		r.ok(r.d.Launch(q, r.k.Affine(m, a, b)))
		affine(state, a, b)
		if i%30 == 0 {
			dst := make([]byte, n)
			r.ok(r.d.CopyD2H(q, dst, m, 0))
			back = append(back, dst)
			want = append(want, append([]byte(nil), state...))
		}
	}
	r.ok(r.d.Sync())
	for i := range back {
		r.same("queue order", back[i], want[i])
	}
}

// affine is the reference of Kernels.Affine.
func affine(b []byte, mul, add uint32) {
	v := device.View[uint32](b)
	for i, x := range v {
		v[i] = mul*x + add
	}
}
