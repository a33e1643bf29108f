package devicetest

import (
	"testing"

	"sagann/device"
)

// rows checks sorted-row copies: only the named rows change, from plain memory and
// from the device's own host memory, and only their bytes count.
func (s *suite) rows(t *testing.T) {
	r := s.rig(t)
	q := r.queue("q")
	const n = 5000
	for _, rowBytes := range []int{4, 12, 128, 512} {
		size := n * rowBytes
		h, err := r.d.HostAlloc(int64(size))
		r.ok(err)
		copy(h.Bytes(), words(size, 5))
		var some []uint32
		for i := uint32(0); i < n; i += 1 + i%7 {
			some = append(some, i)
		}
		for _, src := range [][]byte{words(size, 3), h.Bytes()} {
			for _, list := range [][]uint32{some, {0}, {n - 1}, {}} {
				r.copyRows(q, src, rowBytes, list)
			}
		}
		r.ok(r.d.HostFree(h))
	}
	m, src := r.temp(1024), make([]byte, 4096)
	r.refused("rows that descend", r.d.CopyRows(q, m, 0, src, 16, []uint32{3, 2}), nil)
	r.refused("a row outside the source", r.d.CopyRows(q, m, 0, src, 1024, []uint32{4}), nil)
	r.refused("a row outside the block", r.d.CopyRows(q, m, 0, src, 1024, []uint32{1}), nil)
	r.refused("rows to another's block", r.d.CopyRows(q, device.Mem{}, 0, src, 16, []uint32{0}), nil)
}

// copyRows copies the rows of list and compares all rows with a loop over them; src is
// host memory of any kind, n rows of rowBytes bytes.
func (r *rig) copyRows(q device.Queue, src []byte, rowBytes int, list []uint32) {
	r.t.Helper()
	m, want := r.mem(int64(len(src))+256), words(len(src), 9)
	r.ok(r.d.CopyH2D(q, m, 256, want))
	count := r.d.Counters().H2D
	r.ok(r.d.CopyRows(q, m, 256, src, int64(rowBytes), list))
	if got := r.d.Counters().H2D - count; got != int64(len(list)*rowBytes) {
		r.t.Errorf("%d rows of %d bytes counted as %d bytes", len(list), rowBytes, got)
	}
	dst := make([]byte, len(src))
	r.ok(r.d.CopyD2H(q, dst, m, 256))
	r.ok(r.d.Sync())
	for _, i := range list {
		copy(want[int(i)*rowBytes:][:rowBytes], src[int(i)*rowBytes:])
	}
	r.same("rows", dst, want)
	r.ok(r.d.Free(m))
}
