package devicetest

import (
	"errors"
	"testing"

	"sagann/device"
)

// files checks copies from and to host memory in a file: whole and in parts, of more
// bytes than a staging buffer holds, rows near and far from each other, and in the order
// of their queue.
func (s *suite) files(t *testing.T) {
	f, err := device.NewHostFile(t.TempDir(), 5<<20)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	r := s.rig(t)
	r.ok(err)
	r.ok(f.Close())
	q := r.queue("q")
	for _, n := range []int{4, 4096, 1 << 20, 5<<20 + 4} {
		in, out := r.file(n), r.file(n+8)
		src := words(n, uint32(n))
		_, err := in.WriteAt(src, 0)
		r.ok(err)
		m, plain := r.temp(int64(n)+8), make([]byte, n)
		before := r.d.Counters()
		r.ok(r.d.CopyH2D(q, m, 4, in.Bytes()))
		r.ok(r.d.CopyD2H(q, out.Bytes()[4:n+4], m, 4))
		r.ok(r.d.CopyD2H(q, plain, m, 4))
		r.ok(r.d.Sync())
		if c := r.d.Counters(); c.H2D-before.H2D != int64(n) || c.D2H-before.D2H != 2*int64(n) {
			t.Errorf("copies of %d bytes counted as %d in, %d out", n, c.H2D-before.H2D, c.D2H-before.D2H)
		}
		r.same("from a file", plain, src)
		r.same("to a file", out.Bytes()[4:n+4], src)
		r.same("around it", append(out.Bytes()[:4:4], out.Bytes()[n+4:]...), make([]byte, 8))

		// What one copy writes the next on the queue reads.
		next := words(n, uint32(n)+7)
		r.ok(r.d.CopyH2D(q, m, 4, next))
		r.ok(r.d.CopyD2H(q, in.Bytes(), m, 4))
		r.ok(r.d.CopyH2D(q, m, 4, make([]byte, n)))
		r.ok(r.d.CopyH2D(q, m, 4, in.Bytes()))
		r.ok(r.d.CopyD2H(q, plain, m, 4))
		r.ok(r.d.Sync())
		r.same("through a file", plain, next)
		device.Drop(in.Bytes())
		r.same("after drop", in.Bytes(), next)
	}
}

// fileBig copies more than fits one staging buffer, again and again over the same block.
func (s *suite) fileBig(t *testing.T) {
	r := s.rig(t)
	n := int(r.d.Info().Budget) &^ 4095
	f, err := device.NewHostFile(t.TempDir(), 5*int64(n))
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	r.ok(err)
	t.Cleanup(func() { r.ok(errors.Join(r.d.Sync(), f.Close())) })
	in, out := r.queue("in"), r.queue("out")
	m, e, back := r.temp(int64(n)), r.event(), r.event()
	for k := range 4 {
		_, err := f.WriteAt(words(n, uint32(k)*977), int64(k)*int64(n))
		r.ok(err)
	}
	last := f.Bytes()[4*n:]
	for k := range 4 {
		r.ok(r.d.CopyH2D(in, m, 0, f.Bytes()[k*n:(k+1)*n]))
		r.ok(r.d.Record(in, e))
		r.ok(r.d.Wait(out, e))
		r.ok(r.d.CopyD2H(out, last, m, 0))
		r.ok(r.d.Record(out, back))
		r.ok(r.d.Wait(in, back))
		if k == 1 {
			r.ok(r.d.Sync())
			r.same("second", last, words(n, 977))
		}
	}
	r.ok(r.d.Sync())
	r.same("last", last, words(n, 3*977))
}

// fileRows checks sorted-row copies from a file.
func (s *suite) fileRows(t *testing.T) {
	r := s.rig(t)
	q := r.queue("q")
	const n = 9000
	for _, rowBytes := range []int{4, 12, 128, 800} {
		size := n * rowBytes
		f, err := device.NewHostFile(t.TempDir(), int64(size)+64)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip(err)
		}
		r.ok(err)
		_, err = f.WriteAt(words(size, 5), 64)
		r.ok(err)
		var some, few, run []uint32
		for i := uint32(0); i < n; i += 1 + i%7 {
			some = append(some, i)
		}
		for i := uint32(3); i < n; i += 1500 {
			few = append(few, i)
		}
		for i := uint32(100); i < n-100; i++ {
			run = append(run, i)
		}
		// Lists in the device's own host memory, of which large ones are pinned.
		h, err := r.d.HostAlloc(2 << 20)
		r.ok(err)
		pinned := device.View[uint32](h.Bytes())[:len(some)]
		copy(pinned, some)
		for _, list := range [][]uint32{some, few, run, pinned, {0}, {n - 1}, {}} {
			r.copyRows(q, f.Bytes()[64:], rowBytes, list)
		}
		r.ok(errors.Join(r.d.HostFree(h), f.Close()))
	}
}

// file is host memory in a file until the end of the test.
func (r *rig) file(n int) *device.HostFile {
	r.t.Helper()
	f, err := device.NewHostFile(r.t.TempDir(), int64(n))
	r.ok(err)
	r.t.Cleanup(func() { r.ok(errors.Join(r.d.Sync(), f.Close())) })
	return f
}
